"""One block of a transformer in bfloat16, with a linear layer whose weights are float8.

As a model is written that has been quantized for inference: activations are bfloat16, the weights
of the feed-forward layer float8_e4m3fn with one scale a row, the mask is bools, scores are divided
by a Python float. What is computed in which dtype is up to the framework::

    promoarray compare examples/attention.py
"""

import math

import numpy as np

import promoarray as xp

TOKENS, WIDTH, HEADS, HIDDEN = 16, 32, 4, 64
random = np.random.default_rng(7)


def weights(*shape):
    return xp.asarray(random.normal(0, shape[0] ** -0.5, shape), dtype=xp.bfloat16)


def quantized(w):
    """Return float8 weights and the scale of each column, so that the largest becomes 448."""
    scale = xp.max(xp.abs(w), axis=0) / 448
    return xp.astype(w / scale, xp.float8_e4m3fn), scale


def layer_norm(x, gain, bias):
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(centred**2, axis=-1, keepdims=True)
    return centred / xp.sqrt(variance + 1e-5) * gain + bias


def softmax(scores):
    exps = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return exps / xp.sum(exps, axis=-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def heads(x):
    return xp.permute_dims(xp.reshape(x, (TOKENS, HEADS, WIDTH // HEADS)), (1, 0, 2))


hidden = xp.asarray(random.normal(size=(TOKENS, WIDTH)), dtype=xp.bfloat16)
positions = xp.arange(TOKENS)
query, key, value, out = (weights(WIDTH, WIDTH) for _ in range(4))
gain, bias = xp.ones(WIDTH, dtype=xp.bfloat16), xp.zeros(WIDTH, dtype=xp.bfloat16)
up, up_scale = quantized(weights(WIDTH, HIDDEN))
down, down_scale = quantized(weights(HIDDEN, WIDTH))

# Positions: sines and cosines of int64 positions, then bfloat16 like the activations.
angles = xp.reshape(positions, (-1, 1)) / 10000 ** (xp.arange(WIDTH // 2) / (WIDTH // 2))
encoded = xp.concat([xp.sin(angles), xp.cos(angles)], axis=1)
hidden = hidden + xp.astype(encoded * 0.1, xp.bfloat16)

normed = layer_norm(hidden, gain, bias)
q, k, v = heads(normed @ query), heads(normed @ key), heads(normed @ value)
scores = q @ xp.matrix_transpose(k) / math.sqrt(WIDTH // HEADS)
causal = xp.reshape(positions, (-1, 1)) >= positions
scores = xp.where(causal, scores, -1e9)
attended = xp.reshape(xp.permute_dims(softmax(scores) @ v, (1, 0, 2)), (TOKENS, WIDTH))
hidden = hidden + attended @ out

# The feed-forward layer: float8 weights times their scales.
normed = layer_norm(hidden, gain, bias)
inner = gelu(normed @ (xp.astype(up, xp.bfloat16) * up_scale))
hidden = hidden + inner @ (xp.astype(down, xp.bfloat16) * down_scale)

# For the next layer the activations are quantized, too, by a scale that keeps them within float8:
# what is beyond becomes NaN in one framework and 448 in another.
scale = 64
activations = xp.astype(hidden * scale, xp.float8_e4m3fn)
norm = xp.sqrt(xp.sum(hidden**2))
print(f"norm {float(norm):.4f} in {norm.dtype}, activations in {activations.dtype}")
