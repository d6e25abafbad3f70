"""github.com/NVIDIA/apex/issues/455: what a layer gives under autocast, added into float32."""

import torch
from torch import nn

edges = torch.tensor([0, 0, 1, 2])
messages = nn.Linear(4, 4)
nodes = torch.randn(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    sent = messages(nodes)
    out = torch.zeros(3, 4)
    out = out.index_add(0, edges, sent)
print(out.sum())
