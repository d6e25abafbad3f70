"""A Python float and a float32 scalar: float64 before NumPy 2, float32 since.

https://github.com/numpy/numpy/issues/25098

    promoarray compare --run numpy@1 --policies numpy@2 examples/threads/zero_d_scalar.py
"""

import promoarray as xp

step = xp.asarray(0.1, dtype=xp.float32)
time = 0.0 + step
for _ in range(9):
    time = time + step
print(time)
