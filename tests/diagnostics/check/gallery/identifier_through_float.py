"""An identifier that goes through float64 and comes back as another.

github.com/numpy/numpy/issues/15094

Report:
  identifiers.astype(np.float64): digits-lost: 1 of 2 values changes: 9340351261291575 becomes
    9340351261291576.0, first at [0]
    write averaged = identifiers.astype(np.int64)
"""

import numpy as np

identifiers = np.array([9340351261291575, 12])
averaged = identifiers.astype(np.float64)
print(averaged.astype(np.int64) - identifiers)
