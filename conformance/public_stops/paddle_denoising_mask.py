"""blog.gitcode.com/19956195eded70be6115e685641cc490.html: a mask of bools times one of floats."""

import paddle

num_gts = [2, 1]
max_gt = max(num_gts)
pad_gt_mask = paddle.zeros([2, max_gt])
for i, n in enumerate(num_gts):
    pad_gt_mask[i, :n] = 1
mask = paddle.rand(pad_gt_mask.shape) < 0.5
chosen_idx = paddle.nonzero(mask * pad_gt_mask)
print(chosen_idx.shape)
