"""A script for NumPy 1: telemetry packets, whose bytes are put together and checked.

Under NumPy 2 the script stops at the first ``bytes * 256``, and the temperature's offset would have
fewer digits::

    promoarray compare --run numpy@1 --policies numpy@2 examples/telemetry.py

``telemetry_ported.py`` is the script with the casts that ``promoarray port --run numpy@1 --to
numpy@2`` wrote: it ends with the same dtypes and values under both.
"""

import numpy as np

import promoarray as xp

FRAMES, CHANNELS = 64, 4
random = np.random.default_rng(11)
data = random.integers(0, 256, size=(FRAMES, 2 * CHANNELS + 2), dtype=np.uint8)
data[:, 0] &= 0x0F  # a temperature of up to 41 degrees
data[:, 8], data[:, 9] = np.divmod(np.delete(np.arange(250, 250 + FRAMES + 1), 40), 256)
frames = xp.asarray(data)

# Words of 16 bits, the high byte first.
high, low = frames[:, 0 : 2 * CHANNELS : 2], frames[:, 1 : 2 * CHANNELS : 2]
words = high * 256 + low

# The temperature is in hundredths of a degree; gain and offset come from the calibration.
gain = xp.asarray(0.01, dtype=xp.float32)
offset = 273.15 * xp.asarray(1.0, dtype=xp.float32)
kelvin = words[:, 0] * gain + offset

# The counter of a frame has 12 bits, the rest of them are flags.
counter = (frames[:, 8] & 15) * 256 + frames[:, 9]
missed = counter[1:] - counter[:-1] != 1

# Each channel is normalized by its own range.
lowest, highest = xp.min(words, axis=0), xp.max(words, axis=0)
level = (words - lowest) / (highest - lowest)
energy = xp.sum(level**2 * xp.asarray(0.5, dtype=xp.float32))

print(
    f"{int(xp.sum(missed))} gaps, {float(xp.mean(kelvin)):.2f} K in {kelvin.dtype}, {energy.dtype}"
)
