"""Gradients in float16 without a GradScaler: what is below 6e-8 is 0.

Thread: https://github.com/engichang1467/Open-Rig3R/issues/35
True: every gradient of the weights is 0; with the loss scaled by 1024 none is.
Remedy: torch.amp.GradScaler, or bfloat16.
Report: line 14, underflow: in the gradient: all 2 results underflow: 5e-09 becomes 0.0
"""

import torch

inputs = torch.full((1, 4), 1e-3).half()
weights = torch.ones(4, 2, dtype=torch.float16, requires_grad=True)
out = inputs @ weights
loss = out.float().mean() * 1e-8
loss.backward()
print(bool((weights.grad == 0).all()))
