"""github.com/sebsk/CS224N-Project/pull/2: weights of classes that NumPy computed."""

import numpy as np
import torch
from torch import nn

labels = np.array([0, 1, 1, 2, 2, 2, 2])
counts = np.bincount(labels)
train_label_weight = torch.tensor(len(labels) / counts)
criterion = nn.CrossEntropyLoss(weight=train_label_weight, reduction="mean")
logits = torch.randn(7, 3, requires_grad=True)
loss = criterion(logits, torch.from_numpy(labels))
loss.backward()
