"""github.com/jax-ml/jax/pull/15178: a scan whose carry becomes float32."""

import jax
import jax.numpy as jnp


def step(carry, x):
    total = carry["total"] + x
    return {"total": total, "seen": carry["seen"] + 1}, total


init = {"total": jnp.array(0, "int32"), "seen": jnp.array(0, "int32")}
last, totals = jax.lax.scan(step, init, jnp.linspace(0.0, 1.0, 5))
print(last)
