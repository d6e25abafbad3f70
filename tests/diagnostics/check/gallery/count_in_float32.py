"""A counter in float32, which stands still at 16777216.

github.com/numpy/numpy/issues/22956

Report:
  count += np.float32(1): absorbed: all 784 updates change nothing: 16777216.0 and 1.0 give
    16777216.0 (in 784 of 1,000 passes, first in pass 217)
    write count = np.float64(16_777_000)
"""

import numpy as np

count = np.float32(16_777_000)
for _ in range(1000):
    count += np.float32(1)
print(count)
