"""github.com/jax-ml/jax/issues/2663: the gradient at a Python int."""

import jax.numpy as np
from jax import grad

aval = 2
print(np.tanh(aval))
slope = grad(np.tanh)(aval)
print(slope)
