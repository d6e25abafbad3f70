"""github.com/ZheLi2020/TimestampActionSeg/issues/6: int32 of NumPy into a tensor of int64."""

import numpy as np
import torch

labels = np.array([2, 2, 0, 1, 1, 1], dtype=np.int32)
target = torch.ones(len(labels), dtype=torch.long) * (-100)
timestamps = [0, 3, 5]
confident = torch.from_numpy(labels)[timestamps]
target[timestamps] = confident
print(target)
