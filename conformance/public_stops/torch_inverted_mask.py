"""github.com/nlpyang/PreSumm/issues/54: a mask that is inverted by subtraction."""

import torch


class Batch:
    def __init__(self, data):
        width = max(map(len, data))
        src = torch.tensor([row + [0] * (width - len(row)) for row in data])
        mask_src = 1 - (src == 0)
        self.src, self.mask_src = src, mask_src


batch = Batch([[5, 6, 7], [8]])
print(batch.mask_src.sum())
