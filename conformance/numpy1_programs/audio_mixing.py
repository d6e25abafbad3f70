"""Two sounds of 16-bit samples mixed, with gains that are NumPy scalars."""

import numpy as np

rate = 8000
time = np.arange(64) / np.float32(rate)
tone = (np.sin(2 * np.pi * 440 * time) * 20000).astype(np.int16)
noise = (np.cos(time * 977) * 9000).astype(np.int16)
gain = np.float64(0.5)
mixed = tone.astype(np.float32) * gain + noise * np.float32(0.25)
peak = np.abs(mixed).max()
normalized = mixed / peak
loud = tone + 40000
envelope = np.float32(1.0)
levels = []
for sample in normalized[:8]:
    envelope = envelope * 0.9 + abs(sample) * 0.1
    levels.append(envelope)
level = np.array(levels)
clipped = np.clip(mixed, np.float64(-20000), np.float64(20000)).astype(np.int16)
