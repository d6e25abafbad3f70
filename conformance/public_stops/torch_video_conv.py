"""github.com/cabooster/SRDTrans/issues/16:
a stack of images in float64, a convolution in float32."""

import numpy as np
import torch
from torch import nn

stack = np.random.default_rng(1).integers(0, 255, (4, 16, 16)).astype(np.uint16)
stack = stack.astype(np.float32)
mean = stack.mean(dtype=np.float64)
noise = stack - mean
patch = torch.from_numpy(noise[None, None])
net = nn.Sequential(nn.Conv3d(1, 2, 3, padding=1), nn.ReLU(), nn.Conv3d(2, 1, 3, padding=1))
output = net(patch)
print(output.shape)
