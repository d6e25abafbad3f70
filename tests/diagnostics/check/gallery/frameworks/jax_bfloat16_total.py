"""A running total in bfloat16, of tokens seen.

Thread: https://github.com/jax-ml/jax/issues/29323
True: from 524288 on, 2032 more change nothing.
Remedy: count in int32, sum in float32.
Report: line 14, absorbed: and 2032.0 give 524288.0
"""

import jax
import jax.numpy as jnp


def step(total, _):
    total = total + jnp.bfloat16(2032)
    return total, None


total, _ = jax.lax.scan(step, jnp.bfloat16(0), None, length=600)
print(bool(total < 600 * 2032 * 0.9))
