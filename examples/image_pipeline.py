"""From a camera's raw image to the tensor of a vision model, and to the thumbnail beside it.

uint8 and uint16 pixels, a gamma curve, a blend with a mask, standardization by Python lists, and
the way back to bytes: every line has integers beside floats::

    promoarray compare examples/image_pipeline.py
"""

import numpy as np

import promoarray as xp

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
random = np.random.default_rng(11)
raw = xp.asarray(random.integers(0, 4096, (64, 64, 3)).astype(np.uint16))  # 12 bits
mask = xp.asarray(random.integers(0, 256, (64, 64, 1)).astype(np.uint8))

# Black level and white balance.
black = 64
light = xp.where(raw > black, raw - black, 0)
balance = xp.asarray([1.9, 1.0, 1.6], dtype=xp.float32)
linear = light * balance / 4095

# The gamma curve, and a blend with grey by the mask.
curved = xp.clip(linear, 0, 1) ** (1 / 2.2)
alpha = mask / 255
blended = curved * alpha + 0.5 * (1 - alpha)

# Half the size: the mean of each square of four.
halves = xp.reshape(blended, (32, 2, 32, 2, 3))
small = xp.mean(halves, axis=(1, 3))

# The model's input, in float16, channels first.
standardized = (small - xp.asarray(MEAN)) / xp.asarray(STD)
tensor = xp.permute_dims(xp.astype(standardized, xp.float16), (2, 0, 1))

# The thumbnail: back to bytes. Sharpening goes beyond 0 and 255.
sharp = small + (small - xp.mean(small, axis=(0, 1))) * 0.8
thumbnail = xp.astype(xp.round(sharp * 255), xp.uint8)
histogram = xp.sum(xp.reshape(thumbnail, (-1, 1)) // 32 == xp.arange(8), axis=0)

print(f"tensor {tensor.dtype}, mean {float(xp.mean(tensor)):.4f}; bins {histogram.tolist()}")
