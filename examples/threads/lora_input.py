"""A float32 mask in front of a bfloat16 layer: mat1 and mat2 must have the same dtype.

https://github.com/hpcaitech/ColossalAI/issues/6169

    promoarray why examples/threads/lora_input.py
"""

import torch
from torch import nn

torch.manual_seed(0)
base = nn.Linear(8, 8).to(torch.bfloat16)
down, up = nn.Linear(8, 2, bias=False), nn.Linear(2, 8, bias=False)
tokens = torch.rand(3, 8, dtype=torch.bfloat16)
mask = torch.tensor([1.0, 0.0, 1.0])
x = tokens * mask[:, None]
y = base(x) + up(down(x)) * 0.5
print(y.dtype)
