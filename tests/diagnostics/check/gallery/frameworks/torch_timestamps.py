"""Times of a robot's states as seconds since 1970, handed to a policy as a float32 tensor.

Thread: https://github.com/facebookresearch/fairo/pull/537
True: 100 times in a second become one, and every difference is 0.
Remedy: float64, or seconds since the start.
Report: line 13, digits-lost: 100 different values become 1
"""

import torch

start = 1_624_900_000
times = start + torch.arange(100, dtype=torch.float64) / 100
stamps = times.to(torch.float32)
elapsed = stamps[1:] - stamps[:-1]
print(bool((elapsed == 0).all()))
