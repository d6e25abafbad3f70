"""Embeddings quantised to int8 with the ranges of other data: casts do not clamp.

Thread: https://github.com/huggingface/sentence-transformers/pull/3847
True: what is beyond the ranges comes back from the other end.
Remedy: clamp to -128 and 127 before the cast.
Report: line 15, cast-out-of-range: 2 of 3
"""

import torch

calibration = torch.tensor([[1.0, 20.0, -3.0], [4.0, 5.0, -60.0]])
embeddings = torch.tensor([[-1.0, 15.0, 1.0]])
starts, ends = calibration.amin(0), calibration.amax(0)
steps = (ends - starts) / 255
quantized = ((embeddings - starts) / steps - 128).to(torch.int8)
print(bool(quantized.tolist() == [[-42, 42, -112]]))
