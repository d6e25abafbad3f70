"""The distance of two equal points: the root of 0 has an infinite gradient, and 0 * Inf is NaN.

Thread: https://github.com/pytorch/pytorch/issues/2421
True: the gradient is NaN; that of .norm() is 0.
Remedy: .norm(), or add an epsilon under the root.
Report: line 15, overflow: in the gradient: the element overflows: sqrt gives inf
        line 14, nan-born: in the gradient: all 2 elements become NaN
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([1.0, 2.0])
squares = ((a - b) ** 2).sum()
distance = squares.sqrt()
distance.backward()
print(bool(a.grad.isnan().all()))
