"""github.com/PaddlePaddle/Paddle/issues/18516: labels of a discriminator in int64."""

import numpy as np
import paddle
from paddle import nn

discriminator = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())
real_label = paddle.to_tensor(np.ones([2, 1]).astype("int64"))
predicted = discriminator(paddle.rand([2, 4]))
loss = nn.functional.binary_cross_entropy(predicted, real_label)
loss.backward()
