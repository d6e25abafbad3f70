"""A CNN with batch norm and a step of SGD with momentum, in PyTorch: NCHW."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

draw = np.random.RandomState(2)


def given(*shape):
    return draw.normal(size=shape, scale=0.3).astype("float32")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2d(8), nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(x, 2)
        x = x + F.silu(self.bn2(self.conv2(x)))
        return self.head(x.mean((2, 3)))


x = torch.from_numpy(given(4, 3, 8, 8))
label = torch.from_numpy(draw.randint(0, 5, 4))
net = Net()
with torch.no_grad():
    for p in (net.conv1.weight, net.conv1.bias, net.conv2.weight, net.conv2.bias):
        p.copy_(torch.from_numpy(given(*p.shape)))
    net.head.weight.copy_(torch.from_numpy(given(5, 8)))
    net.head.bias.copy_(torch.from_numpy(given(5)))
step = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    loss = F.cross_entropy(net(x), label)
    step.zero_grad()
    loss.backward()
    step.step()
net.eval()
print(net(x).sum().item())
