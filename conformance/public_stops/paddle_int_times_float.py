"""github.com/PaddlePaddle/Paddle/issues/75675: a product of float64 and int64."""

import paddle

a = paddle.zeros((2, 2), dtype=paddle.float64)
b = paddle.zeros((2, 2), dtype=paddle.int64)
c = a * b
print(c)
