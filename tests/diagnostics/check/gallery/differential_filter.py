"""A differential filter, whose negative values become bright pixels.

github.com/yoyoyo-yo/Gasyori100knock/issues/9

Report:
  horizontal.astype(np.uint8): cast-out-of-range: 3 of 4 values are out of range: -20.0 becomes
    236, first at [0, 1]; NumPy on x86/ARM64, PyTorch on x86/ARM64/CUDA: 236; JAX: 0
    write out = horizontal.astype(np.int16)
"""

import numpy as np

image = np.array([[10.0, 40.0, 20.0], [200.0, 90.0, 80.0]])
vertical = image[1:] - image[:-1]
horizontal = image[:, 1:] - image[:, :-1]
out = horizontal.astype(np.uint8)
print(vertical.astype(np.uint8), out)
