"""github.com/PaddlePaddle/X2Paddle/issues/249: a shape in int32, joined to int64."""

import paddle

features = paddle.ones([2, 12, 4, 4])
size = paddle.shape(features)[:1].astype("int32")
rest = paddle.to_tensor([-1, 4])
target = paddle.concat([size, rest])
print(features.reshape(target).shape)
