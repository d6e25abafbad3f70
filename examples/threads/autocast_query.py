"""A query normalized in float32 meets a key that autocast made bfloat16.

https://github.com/bghira/SimpleTuner/pull/3002

    promoarray why examples/threads/autocast_query.py
"""

import torch
from torch import nn

torch.manual_seed(0)
to_query, to_key = nn.Linear(8, 8), nn.Linear(8, 8)
norm = nn.LayerNorm(8)
x = torch.rand(4, 8)
with torch.autocast("cpu", dtype=torch.bfloat16):
    query = norm(to_query(x).float()) * 0.5
    key = to_key(x)
scores = query @ key.T
print(scores.dtype)
