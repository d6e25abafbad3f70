"""float32 and float64 in one sum: "cannot compute AddV2, expected a double tensor but is float".

https://github.com/tensorflow/probability/issues/1542

    promoarray compare --policies tensorflow examples/threads/same_dtype_only.py
"""

import numpy as np

import promoarray as xp

means = xp.zeros(3, dtype=xp.float32)
noise = xp.asarray(np.random.default_rng(0).normal(size=3))
sample = means + noise
print(sample.dtype)
