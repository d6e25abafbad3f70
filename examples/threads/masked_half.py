"""Attention scores in half precision, masked with -1e9: no conversion without overflow.

https://github.com/NVIDIA/apex/issues/1052

    promoarray why examples/threads/masked_half.py
"""

import torch

torch.manual_seed(0)
scores = torch.rand(2, 4, dtype=torch.float16)
mask = torch.tensor([[1, 1, 0, 0], [1, 0, 0, 0]], dtype=torch.bool)
scores = scores.masked_fill(~mask, -1e9)
print(torch.softmax(scores, -1))
