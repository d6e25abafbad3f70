"""github.com/weiyifan1023/Neeko/issues/6: a LoRA adapter beside weights in half precision."""

import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.lora_A = nn.Linear(base.in_features, rank, bias=False)
        self.lora_B = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + 0.5 * self.lora_B(self.lora_A(x))


model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).half()
model[2] = LoraLinear(model[2], rank=2)
tokens = torch.randn(3, 8).half()
print(model(tokens).shape)
