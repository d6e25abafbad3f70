"""A pendulum and a bouncing ball: states are 0-d arrays and scalars."""

import numpy as np

gravity = np.float32(9.81)
dt = 0.01
angle, speed = np.float32(0.5), np.float32(0)
track = np.empty(10, dtype=np.float32)
for i in range(10):
    speed = speed - gravity * np.sin(angle) * dt
    angle = angle + speed * dt
    track[i] = angle
energy = 0.5 * speed**2 + gravity * (1 - np.cos(angle))
height = np.array(2.0, dtype=np.float32)
fallen = height - 0.5 * gravity * np.float64(0.1)
field = track * np.float64(1e-3) + np.array(1)
field += np.array(0.5)
steps = np.arange(5, dtype=np.int16)
distance = steps * np.float32(0.5)
long_steps = steps * np.int32(3) + 40000
