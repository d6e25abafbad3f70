"""github.com/jax-ml/jax/issues/9994: a Python 1.0 as the cotangent of a float16."""

import jax
import jax.numpy as jnp


def f(x):
    return x.sum()


out, f_vjp = jax.vjp(f, jnp.ones(5, "f2"))
(grad,) = f_vjp(1.0)
print(out, grad)
