"""A vegetation index of two uint16 bands: where red exceeds near infrared, the difference wraps.

https://github.com/xarray-contrib/xarray-spatial/issues/726

    promoarray check examples/threads/vegetation_index.py
"""

import numpy as np

red = np.array([[0, 1, 2], [0, 1, 2]], dtype=np.uint16)
near_infrared = np.array([[1, 1, 1], [1, 1, 1]], dtype=np.uint16)
index = (near_infrared - red) / (near_infrared + red)
print(index.max())
