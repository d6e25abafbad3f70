"""A step counter, and the bias correction of Adam made of it, in the dtype of the weights.

Thread: https://github.com/ROCm/hip/issues/3711
True: bfloat16 counts to 256 and no further.
Remedy: count in int64 or float32.
Report: line 14, absorbed: all 744 updates change nothing: 256.0 and 1 give 256.0
"""

import torch

weights = torch.ones(3, dtype=torch.bfloat16)
step = torch.zeros((), dtype=weights.dtype)
for _ in range(1000):
    step += 1
correction = 1 - 0.999**step
print(bool(step.item() == 256))
