"""int64 and float32: float64 in NumPy, float32 in PyTorch, which then counts 16777217 as 16777216.

https://github.com/pytorch/pytorch/issues/34167

    promoarray compare --policies torch examples/threads/integer_plus_float.py
"""

import promoarray as xp

counts = xp.asarray([16777217, 5], dtype=xp.int64)
shares = xp.asarray([1.0, 0.5], dtype=xp.float32)
print(counts * shares)
