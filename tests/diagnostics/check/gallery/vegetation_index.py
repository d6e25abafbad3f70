"""Bands of a satellite image, whose difference is below zero.

github.com/xarray-contrib/xarray-spatial/issues/726

Report:
  nir - red: integer-wrap: 4 of 6 elements wrap: 300 - 400 is -100, and uint16 has 65436, first at
    [0, 1]
    write ndvi = (nir.astype(np.int32) - red) / (nir + red)
"""

import numpy as np

red = np.array([[10, 400, 900], [20, 300, 800]], dtype=np.uint16)
nir = np.array([[300, 300, 300], [250, 250, 250]], dtype=np.uint16)
ndvi = (nir - red) / (nir + red)
print(ndvi.max())
