"""github.com/jax-ml/jax/issues/1681: a loop whose body gives float16."""

import jax.numpy as np
from jax import lax


def halve(u):
    return (u / 2).astype(np.float16)


start = np.float32(40.0)
end = lax.while_loop(lambda u: u > 5, halve, start)
print(end)
