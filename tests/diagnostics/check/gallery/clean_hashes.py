"""Hashes, checksums and random numbers, which mean to wrap around."""

import numpy as np

OFFSET, PRIME = np.uint32(2166136261), np.uint32(16777619)


def fnv1a(data):
    h = OFFSET
    for byte in data:
        h = (h ^ np.uint32(byte)) * PRIME
    return h


def crc32(data, table):
    crc = np.uint32(0xFFFFFFFF)
    for byte in data:
        crc = table[int(crc ^ np.uint32(byte)) & 0xFF] ^ (crc >> np.uint32(8))
    return crc ^ np.uint32(0xFFFFFFFF)


def power(base, exponent, modulus):
    result = np.int64(1)
    while exponent:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


state = np.uint64(42)
with np.errstate(over="ignore"):
    for _ in range(5):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
table = np.arange(256, dtype=np.uint32)
for _ in range(8):
    table = np.where(table & 1, np.uint32(0xEDB88320) ^ (table >> 1), table >> 1)
print(fnv1a(b"numpy"), crc32(b"123456789", table), power(np.int64(3), 77, np.int64(1_000_003)))
