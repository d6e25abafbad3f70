"""The mean of two channels, which is computed in 16 bits.

github.com/CPJKU/SuperFlux/issues/1

Report:
  np.mean(stereo, axis=-1, dtype=stereo.dtype): integer-wrap: 1 of 2 elements wraps: sum([-32760,
    -32760]) is -65520, and int16 has 16, first at [0]
    write mono = np.mean(stereo, axis=-1, dtype=np.int32)
"""

import numpy as np

stereo = np.array([[-32760, -32760], [100, 200]], dtype=np.int16)
mono = np.mean(stereo, axis=-1, dtype=stereo.dtype)
print(mono)
