"""A small network, trained in float32."""

import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(200, 16)).astype(np.float32)
y = (x[:, :4].sum(1) > 0).astype(np.int64)
w1, b1 = (rng.normal(size=(16, 32)) * 0.2).astype(np.float32), np.zeros(32, np.float32)
w2, b2 = (rng.normal(size=(32, 2)) * 0.2).astype(np.float32), np.zeros(2, np.float32)
rate = np.float32(0.1)
for _ in range(50):
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    scores = scores - scores.max(1, keepdims=True)
    shares = np.exp(scores)
    shares /= shares.sum(1, keepdims=True)
    loss = -np.log(shares[np.arange(len(y)), y]).mean()
    grad = shares.copy()
    grad[np.arange(len(y)), y] -= 1
    grad /= len(y)
    back = grad @ w2.T
    back[hidden <= 0] = 0
    w2 -= rate * (hidden.T @ grad)
    b2 -= rate * grad.sum(0)
    w1 -= rate * (x.T @ back)
    b1 -= rate * back.sum(0)
print(loss)
