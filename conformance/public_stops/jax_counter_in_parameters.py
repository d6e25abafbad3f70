"""github.com/google-deepmind/dm-haiku/issues/513: a counter among what is differentiated."""

import jax
import jax.numpy as jnp


def init(key):
    return {
        "linear": {"w": jax.random.normal(key, (3, 1)), "b": jnp.zeros(1)},
        "norm": {"mean": jnp.zeros(3), "counter": jnp.zeros((), jnp.int32)},
    }


def loss_fn(variables, x, y):
    scaled = x - variables["norm"]["mean"]
    out = scaled @ variables["linear"]["w"] + variables["linear"]["b"]
    return jnp.mean((out - y) ** 2)


variables = init(jax.random.PRNGKey(0))
x, y = jnp.ones((4, 3)), jnp.zeros((4, 1))
loss, grads = jax.value_and_grad(loss_fn)(variables, x, y)
print(loss)
