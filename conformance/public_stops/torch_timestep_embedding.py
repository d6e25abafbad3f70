"""github.com/Lakonik/ComfyUI-piFlow/issues/18:
timesteps embedded in float32 for a bfloat16 model."""

import math

import torch
from torch import nn


def timestep_embedding(t, dim, max_period=10000):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half) / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class TimeMLP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.in_layer = nn.Linear(dim, dim)
        self.out_layer = nn.Linear(dim, dim)

    def forward(self, t):
        return self.out_layer(nn.functional.silu(self.in_layer(t)))


time_in = TimeMLP(16).to(torch.bfloat16)
timesteps = torch.tensor([0.25, 0.75], dtype=torch.bfloat16)
emb = timestep_embedding(timesteps, 16)
vec = time_in(emb)
print(vec.dtype)
