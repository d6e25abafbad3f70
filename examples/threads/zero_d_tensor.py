"""A 0-d int64 array does not widen a uint8 array in PyTorch: 200 + 100 is 44.

https://github.com/pytorch/pytorch/issues/58489

    promoarray compare --policies torch examples/threads/zero_d_tensor.py
"""

import promoarray as xp

pixels = xp.asarray([100, 200], dtype=xp.uint8)
brighter = pixels + xp.asarray(100)
print(brighter)
