"""Times of samples as seconds since 1970, handed to JAX: float32 without x64.

Thread: https://github.com/CMBSciPol/furax/pull/145
True: 200 times in a second become one, and the sample rate Inf.
Remedy: subtract the first time in NumPy, or jax.config.update("jax_enable_x64", True).
Report: line 14, digits-lost: 200 different values become 1
        line 15, overflow: a division by zero
"""

import jax.numpy as jnp
import numpy as np

times = 1_700_000_000 + np.arange(200) / 200.0
stamps = jnp.asarray(times)
rate = (stamps.size - 1) / jnp.ptp(stamps)
print(bool(jnp.isinf(rate)))
