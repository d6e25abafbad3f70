"""A packet parser that multiplies bytes by 256, and stops after an upgrade of NumPy.

https://github.com/CCSDSPy/ccsdspy/issues/127

    promoarray compare --run numpy@1 --policies numpy@2 examples/threads/packet_bytes.py
"""

import promoarray as xp

packet = xp.asarray([8, 73, 192, 1], dtype=xp.uint8)
words = packet[0::2] * 256 + packet[1::2]
print(words)
