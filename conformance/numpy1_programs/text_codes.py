"""Letters as bytes, moved along the alphabet; a class keeps the state."""

import numpy as np


class Cipher:
    def __init__(self, shift):
        self.shift = np.int64(shift)
        self.count = np.uint8(0)

    def encode(self, letters):
        self.count += np.uint8(len(letters))
        moved = letters - 97 + self.shift
        return (moved % 26 + 97).astype(np.uint8)


letters = np.frombuffer(b"promotion", dtype=np.uint8)
cipher = Cipher(5)
encoded = cipher.encode(letters)
back = Cipher(-5).encode(encoded)
text = back.tobytes().decode()
used = cipher.count + 250
frequency = np.bincount(encoded - 97, minlength=26)[:5].astype(np.int8) * np.float32(0.5)
far = letters * 3 + 1000
negative = letters * -1
