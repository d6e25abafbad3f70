"""github.com/pyg-team/pytorch-frame/pull/135: columns in float64, a layer norm in float32."""

import numpy as np
import torch
from torch import nn

columns = {"age": np.array([23, 35, 51]), "income": np.array([1.5, 2.5, 8.0])}


def materialize(columns):
    return torch.stack([torch.from_numpy(values) for values in columns.values()], dim=1)


class Encoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, channels))
        self.norm = nn.LayerNorm(channels)

    def forward(self, feat):
        return self.norm(feat.unsqueeze(-1) * self.weight)


x = materialize(columns)
print(Encoder(8)(x).shape)
