"""Two days, of which float32 makes one.

github.com/numpy/numpy/issues/19990

Report:
  days.astype(np.float32): digits-lost: 1 of 2 values changes: 20170103 becomes 20170104.0, first
    at [0]
    write features = days.astype(np.float64)
"""

import numpy as np

days = np.array([20170103, 20170104], dtype=np.int64)
features = days.astype(np.float32)
print(features)
