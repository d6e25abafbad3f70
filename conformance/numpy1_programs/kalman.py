"""A filter of one state, in float32 with constants in double precision."""

import numpy as np

measured = np.array([1.1, 0.9, 1.3, 1.0, 0.8, 1.2], dtype=np.float32)
variance = np.float32(0.1)
process = np.float64(1e-3)
estimate, error = np.float32(0), np.float32(1)
states = np.zeros(len(measured), dtype=np.float32)
for i, z in enumerate(measured):
    error = error + process
    gain = error / (error + variance)
    estimate = estimate + gain * (z - estimate)
    error = (1 - gain) * error
    states[i] = estimate
residual = measured - states
residual -= np.float64(0.01)
rms = np.sqrt((residual**2).mean())
scaled = rms * 3.0
