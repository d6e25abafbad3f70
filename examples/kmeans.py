"""k-means on pixels that stay uint8: the colours of an image reduced to a few.

Differences of uint8, squares of them and sums over them each have another dtype in each framework,
and the smallest wraps::

    promoarray compare examples/kmeans.py
"""

import numpy as np

import promoarray as xp

COLOURS, ROUNDS = 4, 8
random = np.random.default_rng(3)

# An image of four colours and noise.
palette = np.array([[250, 20, 20], [20, 230, 40], [10, 60, 240], [200, 200, 190]])
noise = random.normal(0, 12, (48, 48, 3))
picture = palette[random.integers(0, 4, (48, 48))] + noise
pixels = xp.asarray(np.clip(picture, 0, 255).astype(np.uint8).reshape(-1, 3))
count = pixels.shape[0]

centres = pixels[:: count // COLOURS, :][:COLOURS, :]
for _ in range(ROUNDS):
    # The distance of each pixel to each centre.
    ahead = xp.expand_dims(pixels, axis=1) > xp.expand_dims(centres, axis=0)
    larger = xp.where(ahead, xp.expand_dims(pixels, axis=1), centres)
    smaller = xp.where(ahead, centres, xp.expand_dims(pixels, axis=1))
    difference = larger - smaller
    distance = xp.sum(xp.astype(difference, xp.uint16) ** 2, axis=2)
    nearest = xp.argmin(distance, axis=1)

    # Each centre moves to the mean of its pixels.
    chosen = xp.expand_dims(nearest, axis=1) == xp.arange(COLOURS)
    sizes = xp.sum(chosen, axis=0)
    members = xp.where(xp.expand_dims(chosen, axis=2), xp.expand_dims(pixels, axis=1), 0)
    sums = xp.sum(members, axis=0)
    means = sums / xp.expand_dims(xp.maximum(sizes, 1), axis=1)
    centres = xp.astype(xp.round(means), xp.uint8)

spread = xp.mean(xp.sqrt(xp.min(distance, axis=1)))
brightness = centres[:, 0] * 0.299 + centres[:, 1] * 0.587 + centres[:, 2] * 0.114
print(f"mean distance {float(spread):.3f} in {spread.dtype}; brightness {brightness.dtype}")
