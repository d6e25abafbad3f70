"""Fine-tuning with weights in bfloat16: updates under a 256th of a weight change nothing.

Thread: https://github.com/pytorch/ao/pull/1124
True: the weights that are 1 are 1 after 20 steps; float32 weights move by 0.02.
Remedy: float32 weights and autocast, or stochastic rounding.
Report: line 17, absorbed: all 1,216 updates change nothing
"""

import torch

weights = torch.nn.Parameter(torch.ones(64, dtype=torch.bfloat16))
optimizer = torch.optim.SGD([weights], lr=1e-3)
for _ in range(20):
    optimizer.zero_grad()
    loss = weights.float().sum()
    loss.backward()
    optimizer.step()
print(bool((weights == 1).all()))
