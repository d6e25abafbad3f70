"""github.com/pytorch/pytorch/issues/63322: an LSTM whose first state is drawn by NumPy."""

import numpy as np
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, batch_size=4, hidden_size=6):
        super().__init__()
        self.lstm = nn.LSTM(5, hidden_size, bidirectional=True, batch_first=True)
        self.h0 = torch.tensor(np.random.default_rng(0).normal(size=(2, batch_size, hidden_size)))
        self.c0 = torch.tensor(np.random.default_rng(0).normal(size=(2, batch_size, hidden_size)))

    def forward(self, x):
        out, _ = self.lstm(x, (self.h0, self.c0))
        return out


print(Tagger()(torch.randn(4, 7, 5)).shape)
