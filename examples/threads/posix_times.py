"""A sample rate from POSIX times, which JAX takes in as float32: all are one number.

https://github.com/CMBSciPol/furax/pull/145

    promoarray check examples/threads/posix_times.py
"""

import jax.numpy as jnp
import numpy as np

times = 1_700_000_000 + np.arange(200) / 200.0
stamps = jnp.asarray(times)
rate = (stamps.size - 1) / jnp.ptp(stamps)
print(rate)
