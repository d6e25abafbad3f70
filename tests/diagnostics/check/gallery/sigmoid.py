"""A sigmoid of a large negative number.

github.com/ahmedfgad/NumPyCNN/issues/13

Report:
  np.exp(-1 * sop): overflow: 1 of 3 elements overflows: exp(1234.1234) is beyond float64, and
    gives inf, first at [0]
"""

import numpy as np


def sigmoid(sop):
    return 1.0 / (1 + np.exp(-1 * sop))


print(sigmoid(np.array([-1234.1234, 0.0, 3.0])))
