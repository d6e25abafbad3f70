"""Adam with float16 parameters: 1e-8 is 0 there, and a parameter without gradient becomes 0 / 0.

Thread: https://github.com/google-deepmind/optax/issues/1754
True: the update of the parameter whose gradient is 0 is NaN.
Remedy: the denominator in float32, or eps=1e-4.
Report: line 17, nan-born: 1 of 3 elements becomes NaN: 0.0 / 0.0
"""

import jax
import jax.numpy as jnp


@jax.jit
def update(grads, m, v):
    m = 0.9 * m + 0.1 * grads
    v = 0.999 * v + 0.001 * grads * grads
    return m / (jnp.sqrt(v) + 1e-8), m, v


grads = jnp.array([0.5, -0.25, 0.0], jnp.float16)
step, m, v = update(grads, jnp.zeros_like(grads), jnp.zeros_like(grads))
print(bool(jnp.isnan(step).tolist() == [False, False, True]))
