"""Prices in float32 and rates in Python floats and 0-d arrays."""

import numpy as np

prices = np.array([101.5, 99.25, 103.0, 104.75], dtype=np.float32)
returns = np.diff(prices) / prices[:-1]
rate = np.array(0.03)
discount = 1 / (1 + rate) ** np.arange(3)
present = returns * discount.astype(np.float32)
fee = np.float64(0.001)
net = returns - fee
mean = returns.mean()
yearly = mean * 252.0
risk = np.sqrt(returns.var() * 252.0)
ratio = yearly / risk
best = np.maximum(net, np.float64(0))
shares = np.array([10, 20, 30, 40], dtype=np.uint8)
value = shares * prices
bonus = shares * 300
