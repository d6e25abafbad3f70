"""The norm of gradients in float16: 5000 ** 2 is beyond 65504, and clipping makes all of them 0.

Thread: https://github.com/facebookresearch/fairscale/pull/263
True: the norm is Inf, and the clipped gradients are 0.
Remedy: square and sum in float32.
Report: line 14, overflow: 5000.0 ** 2 is 25000000.0, and gives inf
"""

import torch

gradients = [torch.full((4,), 5000.0, dtype=torch.float16), torch.ones(4, dtype=torch.float16)]
total = torch.zeros((), dtype=torch.float16)
for gradient in gradients:
    total += (gradient**2).sum()
norm = total.sqrt()
clipped = [gradient * (1.0 / norm) for gradient in gradients]
print(bool(all((gradient == 0).all() for gradient in clipped)))
