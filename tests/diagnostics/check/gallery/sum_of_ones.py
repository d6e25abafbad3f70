"""A sum in float16, which is Inf.

github.com/numpy/numpy/issues/7930

Report:
  mask.sum(): overflow: the element overflows: sum(70000 numbers from 1.0 to 1.0) is 70000.0,
      and gives inf
    write print(mask.astype(np.float32).sum() / mask.size)
  mask.sum() / mask.size: nan-born: the element becomes NaN: inf / 70000
"""

import numpy as np

mask = np.ones(70_000, dtype=np.float16)
print(mask.sum() / mask.size)
