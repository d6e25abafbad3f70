"""Adam with weights in float16: 1e-8 is 0 there, and a weight without gradient becomes 0 / 0.

Thread: https://github.com/pytorch/pytorch/issues/147437
True: after the first step the weight whose gradient was 0 is NaN.
Remedy: weights in float32 (and autocast), or eps=1e-4.
Report: line 15, nan-born: 1 of 3 elements becomes NaN
"""

import torch

weights = torch.ones(3, dtype=torch.float16, requires_grad=True)
optimizer = torch.optim.Adam([weights], lr=1e-3, foreach=False)
loss = (weights * torch.tensor([1.0, 2.0, 0.0], dtype=torch.float16)).sum()
loss.backward()
optimizer.step()
print(bool(weights.isnan().tolist() == [False, False, True]))
