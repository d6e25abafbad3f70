"""k-means on colours, with distances in float32."""

import numpy as np

pixels = (np.arange(60).reshape(20, 3) * 13 % 256).astype(np.uint8)
points = pixels / np.float32(255)
centers = points[:3].copy()
for _ in range(4):
    apart = ((points[:, None] - centers[None]) ** 2).sum(-1)
    labels = apart.argmin(1)
    for k in range(3):
        if (labels == k).any():
            centers[k] = points[labels == k].mean(0)
spread = np.sqrt(apart.min(1).mean())
penalty = np.float64(0.01)
score = apart.min(1) + penalty * 3
shade = np.uint8(200)
lighter = shade + np.uint8(10)
sums = np.int64(10) + pixels[:, 0]
distance = pixels.astype(np.int16) - np.int64(40)
