"""github.com/PaddlePaddle/Paddle/issues/41923: ids in int32 beside those in int64."""

import numpy as np
import paddle

tokens = paddle.to_tensor(np.array([[4, 7, 2], [9, 2, 0]], dtype="int32"))
scores = paddle.rand([2, 10])
best = paddle.argmax(scores, axis=-1, keepdim=True)
tokens = paddle.put_along_axis(tokens, paddle.zeros([2, 1], dtype="int64"), best, axis=1)
print(tokens)
