"""Weights of bytes as integer powers: 256 ** 4 is 0 in int32, and its reciprocal Inf.

https://github.com/jax-ml/jax/issues/8604

    promoarray check examples/threads/powers_of_256.py
"""

import jax.numpy as jnp

scale = (1 / 256 ** jnp.arange(1, 5)).astype(jnp.float32)
print(scale)
