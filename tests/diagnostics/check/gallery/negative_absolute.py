"""An absolute value that is negative.

github.com/numpy/numpy/issues/21289

Report:
  np.abs(steps): integer-wrap: 1 of 3 elements wraps: absolute(-128) is 128, and int8 has -128,
    first at [0]
    write print(np.abs(steps.astype(np.int16)).min())
"""

import numpy as np

steps = np.array([-128, -127, 5], dtype=np.int8)
print(np.abs(steps).min())
