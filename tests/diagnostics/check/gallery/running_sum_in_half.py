"""A running sum in float16, which stands still at 2048.

github.com/numpy/numpy/issues/24443

Report:
  np.cumsum(data): absorbed: 97,254 of 99,999 updates change nothing: 32.06 and 0.00709 give
      32.06, first at [61]
    write data = rng.uniform(0, 1, 100_000).astype(np.float32)
"""

import numpy as np

rng = np.random.default_rng(1)
data = rng.uniform(0, 1, 100_000).astype(np.float16)
total = np.cumsum(data)
print(total[-1])
