"""A training step of a small transformer, with AdamW and a warm-up, for a few steps."""

import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
WIDTH, HEADS, LENGTH, WORDS = 32, 4, 12, 50


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 64), nn.GELU(), nn.Linear(64, WIDTH))

    def forward(self, x, mask):
        q, k, v = self.project(self.before(x)).chunk(3, dim=-1)
        q, k, v = (t.view(*t.shape[:2], HEADS, -1).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(WIDTH / HEADS)
        scores = scores.masked_fill(mask, -1e4)
        mixed = torch.softmax(scores, dim=-1) @ v
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.feed(self.after(x))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.blocks = nn.Embedding(WORDS, WIDTH), nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(WIDTH, WORDS)
        positions = torch.arange(LENGTH).unsqueeze(1)
        rates = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(1e4) / WIDTH))
        table = torch.zeros(LENGTH, WIDTH)
        table[:, 0::2], table[:, 1::2] = torch.sin(positions * rates), torch.cos(positions * rates)
        self.register_buffer("table", table)

    def forward(self, words):
        x = self.embed(words) * math.sqrt(WIDTH) + self.table[: words.shape[1]]
        mask = torch.triu(torch.ones(words.shape[1], words.shape[1]), 1).bool()
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
words = torch.randint(0, WORDS, (8, LENGTH + 1))
steps = torch.tensor(0)
for _ in range(4):
    steps += 1
    for group in optimizer.param_groups:
        group["lr"] = float(1e-3 * torch.clamp(steps / 10, max=1.0))
    logits = model(words[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
accuracy = (logits.argmax(-1) == words[:, 1:]).sum() / words[:, 1:].numel()
perplexity = loss.detach().exp()
