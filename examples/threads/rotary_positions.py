"""Rotary position embeddings of a model in bfloat16: from 256 on, positions share a rotation.

https://github.com/KellerJordan/modded-nanogpt/issues/39

    promoarray check examples/threads/rotary_positions.py
"""

import torch

inverse = (1.0 / 10000 ** (torch.arange(0, 8, 2).float() / 8)).bfloat16()
positions = torch.arange(1024).type_as(inverse)
angles = torch.outer(positions, inverse)
cos, sin = angles.cos(), angles.sin()
print(cos.dtype, positions[511].item())
