"""github.com/huggingface/diffusers/issues/3039: a state in float32, a sample in bfloat16."""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    cur_sample: jnp.ndarray
    counter: jnp.ndarray


def step_plms(state, model_output, sample):
    first = state.counter == 0
    cur = jax.lax.select(first, sample, state.cur_sample)
    prev = cur - 0.1 * model_output
    return prev, state._replace(cur_sample=cur, counter=state.counter + 1)


shape = (1, 4, 4)
state = State(jnp.zeros(shape), jnp.array(0))
latents = jax.random.normal(jax.random.PRNGKey(0), shape, dtype=jnp.bfloat16)
noise = jnp.ones(shape, dtype=jnp.bfloat16)
latents, state = jax.jit(step_plms)(state, noise, latents)
print(latents.dtype)
