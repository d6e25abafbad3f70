"""Attention in float16: the product of queries and keys is beyond 65504, and then comes the scale.

Thread: https://github.com/pytorch/pytorch/issues/40497
True: scores are Inf, the softmax is NaN; in float32 neither is.
Remedy: scale the queries before the product, or compute the scores in float32.
Report: line 17, overflow: element
        line 18, nan-born: become NaN
"""

import torch

torch.manual_seed(0)
width = 64
q = (torch.randn(1, 6, width) * 60).half()
k = (torch.randn(1, 6, width) * 60).half()
k[0, 2] = q[0, 2]
scores = q @ k.transpose(-1, -2)
weights = torch.softmax(scores / width**0.5, dim=-1)
print(bool(weights.isnan().any()))
print(bool(torch.softmax((q / width**0.5) @ k.transpose(-1, -2), dim=-1).isfinite().all()))
