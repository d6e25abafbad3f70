"""float8 weights and float32 activations: "Promotion for Float8 Types is not supported".

https://github.com/Comfy-Org/ComfyUI/issues/4474

    promoarray compare --policies torch examples/threads/float8_mixed.py
"""

import promoarray as xp

weights = xp.asarray([0.5, -1.5, 2.0], dtype=xp.float8_e4m3fn)
activations = xp.asarray([1.0, 2.0, 3.0], dtype=xp.float32)
print(xp.sum(weights * activations))
