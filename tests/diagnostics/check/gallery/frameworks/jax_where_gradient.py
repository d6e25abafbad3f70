"""A root in the branch that ``where`` does not take: its gradient at 0 is Inf, and 0 * Inf is NaN.

Thread: https://github.com/jax-ml/jax/issues/5798
True: the value is 0, the gradient NaN.
Remedy: jnp.where(x < 1, x, jnp.sqrt(jnp.where(x < 1, 1, x))).
Report: line 14, nan-born: in the gradient
"""

import jax
import jax.numpy as jnp


def f(x):
    return jnp.where(x < 1.0, x, jnp.sqrt(x))


print(bool(jnp.isnan(jax.grad(f)(0.0))))
