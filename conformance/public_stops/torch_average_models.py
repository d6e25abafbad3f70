"""github.com/AI-secure/DBA/issues/1: updates in float32 added to the counter of a batch norm."""

import torch
from torch import nn

target_model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
local_model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
local_model(torch.randn(8, 4))

weight_accumulator = {}
for name, data in local_model.state_dict().items():
    weight_accumulator[name] = data - target_model.state_dict()[name]

for name, data in target_model.state_dict().items():
    update_per_layer = weight_accumulator[name] * (0.1 / 2)
    data.add_(update_per_layer)
