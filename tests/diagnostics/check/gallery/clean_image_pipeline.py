"""An image in 8 bits, whose differences and means are computed in wider dtypes."""

import numpy as np

rng = np.random.default_rng(0)
image = rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)
gray = (0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[..., 2]).astype(np.uint8)
edges = np.abs(gray[1:].astype(np.int16) - gray[:-1]).astype(np.uint8)
histogram = np.histogram(gray, bins=256, range=(0, 256))[0]
shares = np.cumsum(histogram) / histogram.sum()
equalized = (shares[gray] * 255).astype(np.uint8)
scaled = (gray.astype(np.float32) / 255.0 - 0.5) / 0.25
print(edges.max(), equalized.mean(), scaled.std())
