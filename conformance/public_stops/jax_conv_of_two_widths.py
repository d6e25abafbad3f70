"""github.com/unifyai/ivy/pull/915: a convolution of float64 data with a float32 filter."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def conv1d(x, filters, stride=1):
    return jax.lax.conv_general_dilated(
        x, filters, (stride,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
    )


x = np.random.default_rng(0).uniform(size=(1, 8, 2))
filters = jnp.ones((3, 2, 4), dtype="float32")
y = conv1d(jnp.asarray(x), filters)
print(y.shape)
