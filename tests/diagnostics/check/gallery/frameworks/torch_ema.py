"""An average of the weights in bfloat16: almost every update is rounded away.

Thread: https://github.com/d8ahazard/sd_dreambooth_extension/pull/1415
True: the average is after 200 steps what it was before the first.
Remedy: hold the average in float32, whatever the dtype of the weights.
Report: line 18, absorbed: all 3,184 updates change nothing
"""

import torch

model = torch.nn.Linear(4, 4).to(torch.bfloat16)
torch.nn.init.constant_(model.weight, 1.0)
average = model.weight.detach().clone()
decay = 0.999
with torch.no_grad():
    for _ in range(200):
        model.weight.copy_(torch.full((4, 4), 1.5))
        average.lerp_(model.weight, 1 - decay)
print(bool((average == 1).all()))
