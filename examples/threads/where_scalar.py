"""where with a Python float, which is no weak operand everywhere.

https://github.com/PaddlePaddle/Paddle/pull/71554

    promoarray compare --run torch --policies paddle@3.3 examples/threads/where_scalar.py
"""

import promoarray as xp

mask = xp.asarray([True, False, True])
logits = xp.asarray([0.5, -2.0, 1.0], dtype=xp.float16)
masked = xp.where(mask, logits, -1e4)
print(masked)
