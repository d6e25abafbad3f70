"""NaN and too large floats to integers: another number on each platform, and no warning.

https://github.com/pytorch/pytorch/issues/180159

    promoarray compare --policies jax,tensorflow examples/threads/nan_to_integer.py
"""

import numpy as np

import promoarray as xp

depth = xp.asarray([1.5, 300.0, -1.0, np.nan], dtype=xp.float32)
with np.errstate(invalid="ignore"):
    codes = xp.astype(depth, xp.uint8)
print(codes)
