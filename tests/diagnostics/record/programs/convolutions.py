"""A small convolutional network on images of bytes."""

import torch
from torch import nn

torch.manual_seed(1)
images = torch.randint(0, 256, (32, 1, 12, 12), dtype=torch.uint8)
labels = (images.sum((1, 2, 3)) % 4).long()
inputs = (images / 255 - 0.5) / 0.25

net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Dropout(0.1), nn.Linear(16, 4),
)  # fmt: skip
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
for _ in range(4):
    logits = net(inputs)
    loss = nn.functional.nll_loss(torch.log_softmax(logits, 1), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

confusion = torch.zeros(4, 4, dtype=torch.int32)
confusion.index_put_(
    (labels, logits.argmax(1)), torch.tensor(1, dtype=torch.int32), accumulate=True
)
recall = confusion.diagonal() / confusion.sum(1)
weights = torch.bincount(labels) * torch.tensor(0.5, dtype=torch.float64)
brightness = images.float().mean() / images.max()
