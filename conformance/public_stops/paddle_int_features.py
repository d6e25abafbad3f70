"""github.com/PaddlePaddle/Paddle/issues/62327: generated integers as features of a layer."""

import numpy as np
import paddle

data = np.random.default_rng(0).integers(0, 10, (6, 4))
x = paddle.to_tensor(data)
model = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.ReLU(), paddle.nn.Linear(3, 1))
print(model(x).shape)
