"""github.com/pytorch/torchchat/issues/596:
a cache in bfloat16, keys from a layer that gives float32."""

import torch
from torch import nn


class KVCache(nn.Module):
    def __init__(self, length, heads, dim, dtype=torch.bfloat16):
        super().__init__()
        self.register_buffer("k_cache", torch.zeros(1, heads, length, dim, dtype=dtype))

    def update(self, input_pos, k_val):
        k_out = self.k_cache
        k_out[:, :, input_pos] = k_val
        return k_out


class QuantizedLinear(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.scale = weight.abs().amax(1, keepdim=True) / 127
        self.weight = (weight / self.scale).round().to(torch.int8)

    def forward(self, x):
        return nn.functional.linear(x.float(), self.weight.float() * self.scale.float())


wk = QuantizedLinear(torch.randn(8, 8, dtype=torch.bfloat16))
cache = KVCache(16, 2, 4)
x = torch.randn(1, 3, 8, dtype=torch.bfloat16)
k = wk(x).view(1, 3, 2, 4).transpose(1, 2)
keys = cache.update(torch.arange(3), k)
print(keys.shape)
