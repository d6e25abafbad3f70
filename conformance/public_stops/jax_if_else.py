"""github.com/aesara-devs/aesara/pull/187: two branches, of integers and of floats."""

import jax
import jax.numpy as jnp
import numpy as np

true_vals = np.r_[1, 2, 3]
false_vals = np.r_[-1.0, -2.0, -3.0]


@jax.jit
def ifelse(pred, a, b):
    return jax.lax.cond(pred, lambda: a, lambda: b)


print(ifelse(jnp.array(True), true_vals, false_vals))
