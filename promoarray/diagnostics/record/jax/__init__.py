"""JAX programs: the outermost call of ``jax.numpy`` and its like, and the operators of arrays."""
