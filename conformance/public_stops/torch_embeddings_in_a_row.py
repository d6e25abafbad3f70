"""github.com/pytorch/pytorch/issues/116598: the vectors of one embedding as indices of the next."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class IncomeModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedded = nn.Embedding(num_embeddings=4, embedding_dim=8)
        self.stacked = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.stacked(self.embedded(x).flatten(1))


x = torch.tensor([[0.0, 1.0, 3.0], [2.0, 2.0, 1.0]])
y = torch.tensor([0, 1])
loader = DataLoader(TensorDataset(x, y), batch_size=2)
model = IncomeModel()
for features, _ in loader:
    out = model(features)
    print(out.shape)
