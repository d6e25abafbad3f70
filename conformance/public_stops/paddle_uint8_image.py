"""github.com/PaddlePaddle/PaddleSeg/issues/3471: an image in uint8 for a convolution."""

import numpy as np
import paddle
from paddle import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 3)
        self.bn = nn.BatchNorm2D(4)

    def forward(self, x):
        return self.bn(self.conv(x))


image = np.zeros((8, 8, 3), dtype=np.uint8)
image = image.transpose([2, 0, 1])[np.newaxis]
net = Net()
out = net(paddle.to_tensor(image))
print(out.shape)
