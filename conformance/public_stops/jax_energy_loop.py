"""github.com/jax-ml/jax/issues/1686: an energy that begins as integer zeros."""

import jax.numpy as np
from jax.lax import fori_loop


def body_fun(i, state):
    a, b = state
    return a - b[i] * b[i + 1], b


s = np.ones([10, 10])
r = s.shape[1] - 1
E, _ = fori_loop(0, r, body_fun, (np.zeros(10, int), s))
print(E)
