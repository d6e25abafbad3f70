"""Brightness and contrast of an image of bytes, as scripts of 2015 did it."""

import numpy as np

image = (np.arange(48).reshape(6, 8) * 5 % 256).astype(np.uint8)
brighter = image + 50
wide = image + 300
darker = image - 300
inverted = 255 - image
mean = image.mean(dtype=np.float32)
centered = image.astype(np.float32) - mean
contrast = np.float64(1.5)
stretched = centered * contrast + 128
gamma = np.float32(2.2)
table = (np.arange(256) / 255.0) ** (1 / gamma)
corrected = table[image]
threshold = np.uint8(100)
doubled = threshold * 2 + 100
mask = image > doubled
image[0, 0] = 300
image[1, 1] = -1
edges = np.abs(np.diff(centered, axis=1)) / np.float64(255)
