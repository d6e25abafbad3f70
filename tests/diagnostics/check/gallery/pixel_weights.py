"""Distances between pixels, which are not symmetric.

github.com/dwave-examples/image-segmentation/issues/10

Report:
  first - second: integer-wrap: all 3 elements wrap: 0 - 255 is -255, and uint8 has 1, first at
    [0] (in 1 of 2 passes, first in pass 2)
    write return np.exp(np.abs(first.astype(np.int16) - second).sum() / -255)
"""

import numpy as np


def weight(first, second):
    return np.exp(np.abs(first - second).sum() / -255)


white, black = np.full(3, 255, np.uint8), np.zeros(3, np.uint8)
print(weight(white, black), weight(black, white))
