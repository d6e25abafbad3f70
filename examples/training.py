"""A training loop in mixed precision: bfloat16 and float32 weights, loss scaling, Adam.

Master weights are float32, the forward pass is bfloat16, the loss is scaled by a Python float that
changes, the step counts in int64. In place updates keep their dtype, if the framework allows them::

    promoarray compare examples/training.py
"""

import numpy as np

import promoarray as xp

STEPS, RATE = 30, 0.05
random = np.random.default_rng(5)
inputs = xp.asarray(random.normal(size=(128, 8)).astype(np.float32))
truth = xp.asarray(random.normal(size=(8,)).astype(np.float32))
noise = xp.asarray(random.normal(0, 0.01, size=(128,)).astype(np.float32))
targets = inputs @ truth + noise

weights = xp.zeros(8, dtype=xp.float32)
first, second = xp.zeros_like(weights), xp.zeros_like(weights)
step = xp.asarray(0)
scale = 1024.0

for _ in range(STEPS):
    half = xp.astype(weights, xp.bfloat16)
    predicted = xp.astype(inputs, xp.bfloat16) @ half
    error = predicted - targets
    loss = xp.mean(error**2) * scale

    # The gradient, of the scaled loss, in bfloat16; then in the dtype of the master weights.
    slope = 2 * scale / inputs.shape[0] * xp.matrix_transpose(inputs) @ error
    gradient = xp.astype(slope, xp.float32) / scale
    if not bool(xp.all(xp.isfinite(gradient))):
        scale /= 2
        continue

    step += 1
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient**2
    corrected = first / (1 - 0.9**step)
    spread = second / (1 - 0.999**step)
    weights -= RATE * corrected / (xp.sqrt(spread) + 1e-8)

worst = xp.max(xp.abs(weights - truth))
print(f"loss {float(loss) / scale:.5f}, largest error {float(worst):.4f} in {worst.dtype}")
