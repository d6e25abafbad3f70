"""One float64 constant, and from there on everything is float64.

https://github.com/jax-ml/jax/issues/768

    promoarray compare --run torch --policies jax,numpy@2 examples/threads/silent_upcast.py
"""

import numpy as np

import promoarray as xp

x = xp.ones((4, 8), dtype=xp.float32)
w = xp.ones((8, 2), dtype=xp.float32)
hidden = xp.tanh(x @ w)
scaled = hidden * xp.asarray(np.sqrt(2 / 8))
loss = xp.mean(scaled**2)
print(loss.dtype)
