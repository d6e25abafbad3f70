"""github.com/NVlabs/OmniDrive/issues/103:
parameters that train are cast to float32, images are half."""

import torch
from torch import nn


def cast_trainable(model):
    for param in filter(lambda p: p.requires_grad, model.parameters()):
        param.data = param.data.to(torch.float32)


backbone = nn.Linear(6, 6).half().requires_grad_(False)
head = nn.Linear(6, 2).half()
model = nn.Sequential(backbone, head)
cast_trainable(model)
images = torch.randn(2, 6, dtype=torch.half)
scores = model(images)
print(scores.shape)
