"""A marker of missing cells, which goes through a float and meets valid ones.

github.com/xarray-contrib/xarray-spatial/issues/2570

Report:
  data.astype(np.float64): digits-lost: 3 of 4 values change: 1152921504606846977 becomes
    1.152921504606847e+18, first at [0, 0]
  np.where(data.astype(np.float64) == float(nodata), np.nan, data): digits-lost: 3 of 4 values
    change: 1152921504606846977 becomes 1.152921504606847e+18, first at [0, 0]
"""

import numpy as np

nodata = (1 << 60) + 1
data = np.full((2, 2), nodata, dtype=np.int64)
data[1, 1] = 1 << 60
masked = np.where(data.astype(np.float64) == float(nodata), np.nan, data)
print(masked)
