"""github.com/kuprel/min-dalle/issues/13: keys in float32 into a cache of float16."""

import jax
import jax.numpy as jnp
from jax import lax


def self_attn(params, state, keys_values, index):
    keys = state @ params["k"]
    cache = lax.dynamic_update_slice(keys_values, keys[:, None], (0, index, 0))
    return cache.sum(1), cache


params = {"k": jax.random.normal(jax.random.PRNGKey(0), (4, 4))}
keys_values = jnp.zeros((2, 8, 4), dtype=jnp.float16)
state = jnp.ones((2, 4), dtype=jnp.float16)
out, keys_values = jax.jit(self_attn)(params, state, keys_values, 3)
print(out.dtype)
