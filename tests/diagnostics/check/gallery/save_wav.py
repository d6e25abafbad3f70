"""Samples of full scale, which are written as the most negative ones.

github.com/anicolson/DeepXi/issues/22

Report:
  np.asarray(np.multiply(wave, 32768.0), dtype=np.int16): cast-out-of-range: 1 of 5 values is out
    of range: 32768.0 becomes -32768, first at [2]; NumPy on x86/ARM64, PyTorch on
    x86/ARM64/CUDA, CuPy: -32768; JAX: 32767
    write samples = np.asarray(np.multiply(wave, 32768.0), dtype=np.int32)
"""

import numpy as np

wave = np.sin(np.linspace(0, np.pi, 5)).astype(np.float32)
samples = np.asarray(np.multiply(wave, 32768.0), dtype=np.int16)
print(samples)
