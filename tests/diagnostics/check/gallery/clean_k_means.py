"""Clusters of points."""

import numpy as np

rng = np.random.default_rng(0)
points = rng.normal(size=(500, 4))
centers = points[:5].copy()
for _ in range(10):
    distances = ((points[:, None] - centers[None]) ** 2).sum(-1)
    labels = distances.argmin(1)
    moved = np.stack([points[labels == each].mean(0) for each in range(5)])
    shift, centers = np.linalg.norm(moved - centers), moved
print(shift, distances[np.arange(500), labels].sum())
