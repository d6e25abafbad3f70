"""A branch that ``where`` does not take: its gradient is Inf, and 0 * Inf is NaN.

Thread: https://github.com/pytorch/pytorch/issues/68425
True: the value is right, the gradient is NaN.
Remedy: torch.exp(torch.where(a <= 0, a, 0)): what goes into the branch has to be harmless, too.
Report: line 12, nan-born: in the gradient
"""

import torch

a = torch.tensor([-1.0, 100.0], requires_grad=True)
b = torch.where(a <= 0, torch.exp(a), 1 + a)
b.sum().backward()
print(bool(a.grad.isnan().tolist() == [False, True]))
