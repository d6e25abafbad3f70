"""Cells that live and die, in 8 bits."""

import numpy as np

rng = np.random.default_rng(0)
cells = (rng.random((40, 40)) < 0.3).astype(np.uint8)
steps = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if (y, x) != (0, 0)]
for _ in range(20):
    near = sum(np.roll(cells, step, (0, 1)) for step in steps)
    cells = ((near == 3) | ((cells == 1) & (near == 2))).astype(np.uint8)
print(cells.sum())
