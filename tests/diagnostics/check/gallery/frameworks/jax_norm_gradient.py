"""The gradient of a norm at 0.

Thread: https://github.com/jax-ml/jax/issues/4177
True: the square of the norm has the gradient 2 x, and JAX gives NaN at 0.
Remedy: jnp.sum(x**2).
Report: line 14, nan-born: in the gradient
"""

import jax
import jax.numpy as jnp


def energy(x):
    return jnp.linalg.norm(x) ** 2


print(bool(jnp.isnan(jax.grad(energy)(jnp.zeros(2))).all()))
