"""A linear model by gradient descent, in single precision."""

import numpy as np

x = (np.arange(40).reshape(10, 4) % 7).astype(np.float32)
y = x @ np.array([1, -2, 0.5, 3], dtype=np.float32)
weights = np.zeros(4, dtype=np.float32)
rate = np.float64(0.002)
decay = np.array(0.01)
for step in range(5):
    rate_now = rate / (1 + np.float32(step))
    error = x @ weights - y
    slope = x.T @ error / len(x)
    weights -= rate * slope
    weights = weights * (1 - decay)
loss = (error**2).mean()
half = loss * 0.5
momentum = np.float32(0.9)
velocity = momentum * 0.1 + loss
