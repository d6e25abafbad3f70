"""The entropy of a distribution that gives a token no chance at all: 0 * -inf is NaN.

Thread: https://github.com/huggingface/trl/pull/7263
True: the entropy is NaN; torch.distributions gives 0.69.
Remedy: torch.xlogy(p, p), which is 0 there.
Report: line 13, nan-born: 0 * -inf
"""

import torch

logits = torch.tensor([[0.0, 0.0, float("-inf")]])
logps = torch.log_softmax(logits, dim=-1)
entropy = -(logps.exp() * logps).sum(-1)
print(bool(entropy.isnan().all()))
