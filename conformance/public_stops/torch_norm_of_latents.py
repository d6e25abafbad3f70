"""github.com/Kosinkadink/ComfyUI-AnimateDiff-Evolved/issues/535:
half latents, a norm in bfloat16."""

import torch
from torch import nn


class PerceiverAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.to_q = nn.Linear(dim, dim, bias=False)

    def forward(self, x, latents):
        x = self.norm1(x)
        latents = self.norm2(latents)
        return self.to_q(latents) @ x.transpose(-2, -1)


unet_dtype = torch.bfloat16
attention = PerceiverAttention(8).to(unet_dtype)
embedding = torch.randn(1, 4, 8, dtype=unet_dtype)
latents = torch.randn(1, 2, 8).half()
print(attention(embedding, latents).shape)
