"""Identifiers beyond 32 bits, handed to JAX: they keep their low bits without x64.

Thread: https://github.com/jax-ml/jax/issues/18385
True: 2 ** 32 + 7 becomes 7.
Remedy: jax.config.update("jax_enable_x64", True), or number them from 0.
Report: line 13, cast-out-of-range: 4294967303 becomes 7
"""

import jax.numpy as jnp
import numpy as np

ids = np.array([2**32 + 7, 5, 7])
users = jnp.asarray(ids)
print(bool(users.tolist() == [7, 5, 7]))
