"""Grid indices clamped by a float tensor: Float can't be cast to long int.

https://github.com/AlibabaResearch/efficientteacher/issues/142

    promoarray why examples/threads/clamp_targets.py
"""

import torch

targets = torch.tensor([[0.5, 0.5, 0.2, 0.2], [0.9, 0.1, 0.4, 0.3]])
sizes = torch.tensor([8, 8, 8, 8])
gain = torch.ones(4)
gain[:] = sizes.float()
cells = (targets * gain)[:, :2].long()
column, row = cells.T
column.clamp_(0, gain[1] - 1)
row.clamp_(0, gain[0] - 1)
print(column, row)
