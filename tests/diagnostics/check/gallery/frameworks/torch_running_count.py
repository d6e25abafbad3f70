"""A running count in place: cumsum of bytes is int64, cumsum_ stays int8.

Thread: https://github.com/pytorch/pytorch/issues/53358
True: 120 + 120 is 240, and int8 has -16.
Remedy: cumsum, which sums in int64.
Report: line 13, integer-wrap: 2 of 3 elements wrap
"""

import torch

lengths = torch.tensor([120, 120, 3], dtype=torch.int8)
offsets = lengths.clone()
offsets.cumsum_(0)
print(bool(offsets.tolist() == [120, -16, -13]))
print(bool(lengths.cumsum(0).tolist() == [120, 240, 243]))
