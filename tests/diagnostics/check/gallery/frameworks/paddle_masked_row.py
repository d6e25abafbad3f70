"""A mask of -inf over a whole row, which softmax makes NaN of.

Thread: https://github.com/PaddlePaddle/PaddleOCR/pull/18341
True: the weights of the row without a valid key are NaN.
Remedy: fill with -10000.0.
Report: line 14, nan-born: 3 of 6 elements become NaN
"""

import paddle
import paddle.nn.functional as F

scores = paddle.zeros([2, 3])
mask = paddle.to_tensor([[0.0, 0.0, float("-inf")], [float("-inf")] * 3])
weights = F.softmax(scores + mask, axis=-1)
print(bool(paddle.isnan(weights[1]).all()))
