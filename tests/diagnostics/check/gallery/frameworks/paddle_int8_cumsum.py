"""A running sum of bytes whose dtype is named.

Thread: https://github.com/PaddlePaddle/Paddle/pull/78207
True: 100 + 100 is 200, and int8 has -56; without a dtype Paddle sums in int64.
Remedy: no dtype, or dtype="int64".
Report: line 12, integer-wrap: 2 of 3 elements wrap
"""

import paddle

lengths = paddle.to_tensor([100, 100, 3], dtype="int8")
offsets = paddle.cumsum(lengths, dtype="int8")
print(bool(offsets.tolist() == [100, -56, -53]))
