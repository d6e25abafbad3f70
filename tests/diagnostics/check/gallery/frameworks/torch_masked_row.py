"""A padded sequence without one valid key: a whole row of scores is -inf, and softmax gives NaN.

Thread: https://github.com/pytorch/pytorch/issues/41508
True: the softmax of that row is NaN, and so is all that it reaches.
Remedy: fill with torch.finfo(scores.dtype).min, or let no row be empty.
Report: line 14, nan-born: 3 of 6 elements become NaN
"""

import torch

scores = torch.zeros(2, 3)
padding = torch.tensor([[False, False, True], [True, True, True]])
scores = scores.masked_fill(padding, float("-inf"))
weights = torch.softmax(scores, dim=-1)
out = weights @ torch.ones(3, 2)
print(bool(out[1].isnan().all()))
