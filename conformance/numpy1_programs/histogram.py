"""Counts in small integers, and shares of them."""

import numpy as np

data = np.array([3, 7, 7, 1, 0, 3, 3, 6], dtype=np.int8)
counts = np.bincount(data, minlength=8).astype(np.uint16)
share = counts / np.float32(counts.sum())
padded = counts + 70000
offset = np.int32(5)
shifted = data + offset
step = np.int8(100)
higher = step + 100
cumulative = np.cumsum(share)
cumulative /= np.float64(2)
limits = np.array([0, 4, 8], dtype=np.int8) * np.int64(2)
inside = (data > np.int64(2)) & (data < 200)
weights = np.where(data > 3, np.float32(0.5), 0.25)
