"""A tensor without axes does not widen bytes, whatever its own dtype.

Thread: https://github.com/pytorch/pytorch/issues/58489
True: 200 + 100 is 44 in uint8, though the sum of uint8 and int64 tensors is int64 else.
Remedy: pixels.to(torch.int16) + offset.
Report: line 13, integer-wrap: 2 of 3 elements wrap: 200 + 100 is 300, and uint8 has 44
"""

import torch

pixels = torch.tensor([[10, 200, 250]], dtype=torch.uint8)
offset = torch.tensor(100)
brighter = pixels + offset
print(bool(brighter.tolist() == [[110, 44, 94]]))
