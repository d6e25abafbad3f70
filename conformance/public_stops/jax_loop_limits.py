"""github.com/jax-ml/jax/pull/13494: the limits of a loop in two integer dtypes."""

import jax.numpy as jnp
from jax import lax

lengths = jnp.array([3, 5], dtype=jnp.int16)
start = jnp.zeros((), dtype=jnp.int32)


def body(i, total):
    return total + 0.5 * i


result = lax.fori_loop(start, lengths[1], body, 0.0)
print(result)
