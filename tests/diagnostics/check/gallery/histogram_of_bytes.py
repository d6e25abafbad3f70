"""A histogram in 8 bits, which begins again at 256.

github.com/numpy/numpy/issues/8987

Report:
  np.add.at(bins, pixels, np.uint8(1)): integer-wrap: 1 of 4 elements wraps: add.at is 600, and
    uint8 has 88, first at [0]
    write bins = np.zeros(4, dtype=np.uint16)
"""

import numpy as np

pixels = np.zeros(600, dtype=np.intp)
bins = np.zeros(4, dtype=np.uint8)
np.add.at(bins, pixels, np.uint8(1))
print(bins)
