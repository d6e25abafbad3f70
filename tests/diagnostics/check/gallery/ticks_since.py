"""Ticks of a counter without a sign, of which one is earlier.

github.com/numpy/numpy/issues/26998

Report:
  ended - started: integer-wrap: 1 of 3 elements wraps: 190 - 200 is -10, and uint64 has
    18446744073709551606, first at [1]
    write print((ended.astype(np.int64) - started).mean())
"""

import numpy as np

started = np.array([100, 200, 300], dtype=np.uint64)
ended = np.array([150, 190, 300], dtype=np.uint64)
print((ended - started).mean())
