"""Powers of 256, which are int32 without x64: the fourth is 0, and its inverse Inf.

Thread: https://github.com/jax-ml/jax/issues/8604
True: 256 ** 4 is 0 in int32.
Remedy: 256.0 ** jnp.arange(1, 5).
Report: line 16, integer-wrap: 256 ** 4 is 4294967296, and int32 has 0
        line 17, overflow: 1 / 0
"""

import jax
import jax.numpy as jnp


@jax.jit
def scales(count):
    powers = 256**count
    return 1 / powers


print(bool(scales(jnp.arange(1, 5))[3] == jnp.inf))
