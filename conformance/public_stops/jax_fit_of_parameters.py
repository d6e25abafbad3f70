"""github.com/pfackeldey/evermore/pull/25: a parameter of a fit that starts at an integer."""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Params(NamedTuple):
    mu: jax.Array
    norm: jax.Array


def loss(params, hist, observed):
    expected = params.mu * hist[0] + params.norm * hist[1]
    return jnp.sum(expected - observed * jnp.log(expected))


params = Params(mu=jnp.array(1), norm=jnp.array(0.5))
hist = jnp.array([[3.0, 8.0], [5.0, 5.0]])
print(jax.grad(loss)(params, hist, jnp.array([7.0, 12.0])))
