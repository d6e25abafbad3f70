"""Layers of a GPT with fused attention, in PyTorch."""

import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F

C, H, T, V = 32, 4, 8, 20


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(C, 3 * C)
        self.c_proj = nn.Linear(C, C)

    def forward(self, x):
        B, T, _ = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        k = k.view(B, T, H, C // H).transpose(1, 2)
        q = q.view(B, T, H, C // H).transpose(1, 2)
        v = v.view(B, T, H, C // H).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y)


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, C), nn.Embedding(T, C)
        self.attn = nn.ModuleList(Attention() for _ in range(2))
        self.ln = nn.ModuleList(nn.LayerNorm(C) for _ in range(2))
        self.head = nn.Linear(C, V, bias=False)

    def forward(self, idx):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for ln, attn in zip(self.ln, self.attn, strict=True):
            x = x + attn(ln(x))
        return self.head(x)


idx = torch.from_numpy(np.random.RandomState(0).randint(0, V, (2, T)))
model = GPT().eval()
with torch.no_grad():
    logits = model(idx)
print(F.cross_entropy(logits.view(-1, V), idx.view(-1)).item())
