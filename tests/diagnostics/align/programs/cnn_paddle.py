"""A CNN with batch norm and a step of SGD with momentum, in Paddle: NCHW."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

draw = np.random.RandomState(2)


def given(*shape):
    return draw.normal(size=shape, scale=0.3).astype("float32")


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2D(3, 8, 3, padding=1), nn.Conv2D(8, 8, 3, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2D(8), nn.BatchNorm2D(8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(x, 2)
        x = x + F.silu(self.bn2(self.conv2(x)))
        return self.head(x.mean((2, 3)))


x = paddle.to_tensor(given(4, 3, 8, 8))
label = paddle.to_tensor(draw.randint(0, 5, 4))
net = Net()
with paddle.no_grad():
    for p in (net.conv1.weight, net.conv1.bias, net.conv2.weight, net.conv2.bias):
        p.set_value(paddle.to_tensor(given(*p.shape)))
    net.head.weight.set_value(paddle.to_tensor(given(5, 8).T))
    net.head.bias.set_value(paddle.to_tensor(given(5)))
step = paddle.optimizer.Momentum(0.1, 0.9, parameters=net.parameters())
for _ in range(2):
    loss = F.cross_entropy(net(x), label)
    step.clear_grad()
    loss.backward()
    step.step()
net.eval()
print(net(x).sum().item())
