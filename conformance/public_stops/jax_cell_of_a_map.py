"""github.com/mlech26l/gigastep/issues/13: positions as indices of a map, under vmap."""

import jax
import jax.numpy as jnp

heat_map = jnp.zeros((8, 8))
positions = jnp.array([[1.5, 2.0], [3.0, 7.0]])


def cell(position):
    row, column = jnp.floor(position)
    return heat_map[row, column]


values = jax.vmap(cell)(positions)
print(values)
