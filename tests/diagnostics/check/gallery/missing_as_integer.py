"""Missing values, which become a number that hangs on the machine.

github.com/numpy/numpy/issues/19816

Report:
  ages.astype(np.int32): cast-out-of-range: 1 of 3 values is out of range: nan becomes
    -2147483648, first at [1]; NumPy on x86, PyTorch on x86/CUDA: -2147483648; NumPy on ARM64,
    PyTorch on ARM64, JAX: 0
"""

import numpy as np

ages = np.array([31.0, np.nan, 45.0])
whole = ages.astype(np.int32)
print(whole)
