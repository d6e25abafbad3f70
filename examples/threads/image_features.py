"""Image features stored among bfloat16 embeddings: index put requires matching dtypes.

https://github.com/zai-org/VisionReward/issues/7

    promoarray why examples/threads/image_features.py
"""

import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Embedding(10, 8, dtype=torch.bfloat16)
vision = nn.Linear(6, 8, dtype=torch.bfloat16)
norm = nn.LayerNorm(8)

tokens = torch.tensor([[1, 7, 7, 2]])
image = torch.rand(2, 6, dtype=torch.bfloat16)
with torch.no_grad():
    hidden = embed(tokens)
    features = norm(vision(image).float())
    hidden[tokens == 7] = features
print(hidden.dtype)
