"""A product in 32 bits.

github.com/numpy/numpy/issues/15831

Report:
  np.prod(sizes, dtype=np.uint32): integer-wrap: the element wraps: prod(14 numbers from 2 to 34) is
    6762413952000, and uint32 has 2135428096
    write print(np.prod(sizes, dtype=np.int64))
"""

import numpy as np

sizes = np.array([6, 7, 10, 7, 9, 5, 12, 9, 8, 3, 29, 10, 34, 2], dtype=np.uint8)
print(np.prod(sizes, dtype=np.uint32))
