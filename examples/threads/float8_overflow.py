"""A float8 cast of what is too large: NaN in ml_dtypes and JAX, 448 in ONNX and newer PyTorch.

https://github.com/jax-ml/ml_dtypes/issues/260

    promoarray compare --policies jax,torch,onnx examples/threads/float8_overflow.py
"""

import promoarray as xp

weights = xp.asarray([0.5, -3.0, 500.0, 3e10], dtype=xp.float32)
stored = xp.astype(weights, xp.float8_e4m3fn)
print(stored)
