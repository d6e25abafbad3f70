"""Moments of a sample, each as a NumPy scalar."""

import numpy as np

sample = np.linspace(-1, 2, 11, dtype=np.float32)
mean, deviation = sample.mean(), sample.std()
z = (sample - mean) / deviation
third = (z**3).mean()
bias = third * 1.5
correction = np.float64(len(sample)) / (len(sample) - 1)
unbiased = z * correction
low, high = np.float32(0.1), np.float32(0.9)
middle = (low + high) / 2.0
share = np.float16(0.1) + 1
quarter = np.float16(4) * 0.25
between = np.add(sample, np.float64(1))
powers = np.power(np.int8(2), 3)
sums = np.concatenate([sample, [1.5]]).sum()
