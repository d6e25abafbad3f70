"""Points turned and projected: matrices in float32, angles as scalars."""

import numpy as np


def rotation(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]], dtype=np.float32)


points = np.array([[1, 0], [0, 2], [-3, 1]], dtype=np.float32)
angle = np.deg2rad(np.float32(30))
turned = points @ rotation(angle).T
center = np.float64(0.5)
moved = turned + center
lengths = np.sqrt((moved**2).sum(axis=1))
unit = moved / lengths[:, None]
far = np.where(lengths > np.float64(2), lengths, np.float64(2))
area = np.float32(np.pi) * lengths[0] ** 2
twice = 2.0 * area
whole = np.round(moved * 10).astype(np.int8)
coded = whole + 128
pair = np.float32(3) * 1e-3
