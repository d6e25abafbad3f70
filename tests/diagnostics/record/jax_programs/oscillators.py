"""Oscillators: scans of steps, mapped over frequencies, with a loop and a branch inside."""

import jax
import jax.numpy as jnp
from jax import lax

frequencies = jnp.linspace(0.5, 2.0, 8)


def accelerated(state, frequency):
    position, speed = state
    return -(frequency**2) * position - 0.1 * speed


def orbit(frequency):
    def step(state, i):
        position, speed = state
        speed = speed + 0.05 * accelerated(state, frequency)
        position = position + 0.05 * speed
        energy = (position**2 + speed**2) / 2
        kept = lax.cond(i % 2 == 0, lambda e: e * 1.0, lambda e: jnp.zeros_like(e), energy)
        return (position, speed), kept

    return lax.scan(step, (jnp.ones(()), jnp.zeros(())), jnp.arange(40))


(positions, speeds), energies = jax.vmap(orbit)(frequencies)
mean_energy = energies.mean(axis=0)
slopes = jax.vmap(jax.grad(lambda f: orbit(f)[0][0]))(frequencies)
counted = lax.fori_loop(0, 5, lambda i, total: total + i * jnp.int16(2), jnp.int32(0))
smallest = lax.while_loop(lambda x: x > 1e-3, lambda x: x / 2, mean_energy[0])
summed = lax.reduce(energies, jnp.float32(0), lax.add, (0, 1))
pooled = lax.reduce_window(energies, -jnp.inf, lax.max, (1, 4), (1, 4), "VALID")
ranked = jnp.sort(positions)[::-1] * jnp.int8(2)
pairs = jax.tree.map(jnp.multiply, {"a": positions, "b": counted}, {"a": speeds, "b": 2})
product = pairs["a"]
share = (positions > 0).sum() / positions.size
