"""A softmax without the greatest score taken from all.

github.com/andrewschreiber/numpy-saliency/issues/2

Report:
  np.exp(inputs): overflow: 1 of 3 elements overflows: exp(1000.0) is beyond float64, and gives
    inf, first at [2]
  exp / np.sum(exp): nan-born: 1 of 3 elements becomes NaN: inf / inf, first at [2]
"""

import numpy as np


def softmax(inputs):
    exp = np.exp(inputs)
    return exp / np.sum(exp)


print(softmax(np.array([1.0, 500.0, 1000.0])))
