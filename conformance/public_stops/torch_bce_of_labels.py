"""openillumi.com/en/en-pytorch-float-long-cast-error-fix:
labels in int64 for a binary cross entropy."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

features = torch.randn(8, 3)
labels = (features.sum(1) > 0).long()
model = nn.Linear(3, 1)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(TensorDataset(features, labels), batch_size=4):
    optimizer.zero_grad()
    y_pred = model(x)
    loss = criterion(y_pred.squeeze(), y)
    loss.backward()
    optimizer.step()
