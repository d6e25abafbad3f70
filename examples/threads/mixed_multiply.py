"""float64 times int64, which Paddle refuses.

https://github.com/PaddlePaddle/Paddle/issues/75675

    promoarray compare --policies paddle@3.3 examples/threads/mixed_multiply.py
"""

import promoarray as xp

prices = xp.asarray([1.5, 2.25, 10.0], dtype=xp.float64)
pieces = xp.asarray([3, 1, 2], dtype=xp.int64)
print(xp.sum(prices * pieces))
