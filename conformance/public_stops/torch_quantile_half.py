"""github.com/pytorch/pytorch/issues/138337: a quantile of float16."""

import numpy as np
import torch

data = torch.tensor(np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float16))
q1 = torch.quantile(data, 0.25, dim=0)
print(q1)
