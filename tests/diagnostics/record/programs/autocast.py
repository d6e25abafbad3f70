"""Mixed precision: autocast to bfloat16, a scaled loss, averaged weights in bfloat16."""

import torch
from torch import nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 4))
average = [p.detach().clone().to(torch.bfloat16) for p in net.parameters()]
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
scale = torch.tensor(1024.0)
for _ in range(4):
    x, y = torch.randn(16, 16), torch.randint(0, 4, (16,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = net(x)
        loss = nn.functional.cross_entropy(logits, y) + logits.pow(2).mean() * 1e-4
    (loss * scale).backward()
    with torch.no_grad():
        for p in net.parameters():
            p.grad /= scale
    optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad():
        for kept, p in zip(average, net.parameters(), strict=True):
            kept.mul_(0.9).add_(p, alpha=0.1)
masters = [p.detach() for p in net.parameters()]
gap = torch.stack([(p - kept).abs().max() for p, kept in zip(masters, average, strict=True)])
warm = torch.ones(3, dtype=torch.bfloat16) * (torch.tensor(4) / 20)
