"""An int64 array and a uint64 scalar: float64 since NumPy 2, which cannot index.

https://github.com/numpy/numpy/issues/28357

    promoarray compare --run numpy@1 --policies numpy@2 examples/threads/unsigned_offset.py
"""

import promoarray as xp

rows = xp.asarray([3, 1, 2])
start = xp.asarray(10, dtype=xp.uint64)
rows = rows + start
print(rows)
