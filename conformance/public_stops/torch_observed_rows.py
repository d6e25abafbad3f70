"""github.com/edebrouwer/gru_ode_bayes/issues/7: indices that a loader gives as floats."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Climate(Dataset):
    def __init__(self):
        self.table = np.array([[0, 0.5, 1.2], [2, 0.7, 0.1], [1, 0.9, 3.0]])

    def __len__(self):
        return len(self.table)

    def __getitem__(self, n):
        return self.table[n]


def collate(batch):
    rows = torch.tensor(np.stack(batch))
    return {"obs_idx": rows[:, 0], "values": rows[:, 1:].float()}


p = torch.randn(3, 4)
for b in DataLoader(Climate(), batch_size=3, collate_fn=collate):
    i_obs = b["obs_idx"]
    p_obs = p[i_obs]
    print(p_obs.shape)
