"""A counter that becomes a float inside lax.scan: carry input and output must have equal types.

https://github.com/jax-md/jax-md/issues/99

    promoarray why examples/threads/fire_counter.py
"""

import jax
import jax.numpy as jnp


def step(state, _):
    x, v, uphill = state
    power = jnp.vdot(-x, v)
    uphill = jnp.where(power > 0, uphill + 1.0, 0)
    v = v - 0.1 * x
    return (x + 0.1 * v, v, uphill), power


start = (jnp.ones(3), jnp.zeros(3), jnp.zeros((), jnp.int32))
final, powers = jax.lax.scan(step, start, None, length=5)
print(final)
