"""A checksum in small unsigned integers, which wraps around."""

import numpy as np

data = np.frombuffer(b"numpy one", dtype=np.uint8)
total = np.uint16(0)
with np.errstate(over="ignore"):
    for byte in data:
        total = total + np.uint16(byte)
        total = total ^ 0x1F
low = total & 0xFF
high = (data.astype(np.uint16) << 4) | 3
salted = data ^ np.int64(85)
masked = data & 0x1FF
shifted = data + np.int16(7)
swapped = data * np.uint8(2)
crc = np.uint32(1)
crc = crc + 5
signed = data - np.int8(1)
