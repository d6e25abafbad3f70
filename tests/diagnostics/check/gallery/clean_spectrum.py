"""A tone, written as 16 bits, and its spectrum in float32."""

import numpy as np

rate = 8000
time = np.arange(rate) / rate
wave = 0.4 * np.sin(2 * np.pi * 440 * time) + 0.2 * np.sin(2 * np.pi * 880 * time)
samples = (wave * 32767).astype(np.int16)
signal = samples.astype(np.float32) / 32768
window = np.hanning(512).astype(np.float32)
frames = np.lib.stride_tricks.sliding_window_view(signal, 512)[::128] * window
spectrum = np.abs(np.fft.rfft(frames, axis=1))
decibels = 20 * np.log10(spectrum + 1e-10)
loudest = np.clip(signal * 3, -1, 1)
print(decibels.max(), (loudest * 32767).astype(np.int16).max())
