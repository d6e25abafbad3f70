"""A fit, a spectrum and a histogram: weak types, arrays of NumPy's, updates and 0-d arrays."""

import jax
import jax.numpy as jnp
import numpy as np

times = jnp.arange(64) * 0.25
noise = jax.random.normal(jax.random.key(1), (64,))
signal = 3 * jnp.sin(times) + 0.1 * noise
counts = jax.random.randint(jax.random.key(2), (64,), 0, 1000)
rates = counts / jnp.clip(times, 0.25)
scale = jnp.asarray(2.0)
scaled = scale * signal.astype(jnp.float16)
still_weak = scale * 3 + 1
doubled = jnp.full((3,), 2) * jnp.ones(3, dtype=jnp.int8)
offset = np.array([1.5], dtype=np.float32) + counts.astype(jnp.int16)
spectrum = jnp.fft.rfft(signal)
power = jnp.abs(spectrum) ** 2
peak = jnp.fft.rfftfreq(64, 0.25)[power.argmax()]
design = jnp.stack([jnp.ones(64), times, times**2], axis=1)
solution = jnp.linalg.solve(design.T @ design, design.T @ signal)
residual = signal - design @ solution
spread = jnp.sqrt((residual**2).sum() / (64 - 3))
span = signal.max() - signal.min()
quantized = ((signal - signal.min()) / span * 255).astype(jnp.uint8)
brighter = quantized + 10
mask = (quantized > 100) & (counts % 2 == 0)
chosen = jnp.where(mask, signal, 0.0)
updated = signal.at[3].set(2).at[:2].add(counts[0])
total = counts.sum() + signal.mean()
halves = jnp.array([1, 2, 3]) / 2
folded = jnp.concatenate([halves, jnp.array([1, 2])])
phase = jnp.arctan2(spectrum.imag, spectrum.real)
soft = jax.nn.softmax(signal) + jax.nn.gelu(signal)
whole = jnp.float32(3) * jnp.int8(2)
cubes = jax.lax.add(counts, counts) ** 3
bits = jax.lax.shift_left(quantized, jnp.uint8(1)) ^ quantized
