"""github.com/nari-labs/dia/issues/158: queries in float32, a cache of keys and values in half."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F


@dataclass
class State:
    k: torch.Tensor
    v: torch.Tensor


class CrossAttention(torch.nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q_proj = torch.nn.Linear(dim, dim, bias=False)

    def forward(self, x, state):
        b, t, d = x.shape
        q = self.q_proj(x).view(b, t, self.heads, d // self.heads).transpose(1, 2)
        return F.scaled_dot_product_attention(q, state.k, state.v, scale=1.0)


compute_dtype = torch.float16
state = State(*torch.randn(2, 1, 2, 5, 4).to(compute_dtype))
layer = CrossAttention(8, heads=2)
out = layer(torch.randn(1, 3, 8), state)
print(out.shape)
