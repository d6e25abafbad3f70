"""Weights between neighbouring pixels: abs comes too late, the difference of uint8 has wrapped.

https://github.com/dwave-examples/image-segmentation/issues/10

    promoarray check examples/threads/neighbour_weights.py
"""

import numpy as np

image = np.array([[255, 250, 3], [0, 251, 4]], dtype=np.uint8)
difference = np.abs(image[1] - image[0])
weight = np.exp(-difference / 10.0)
print(weight.round(3))
