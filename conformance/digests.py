"""Digest what every float32 must become in each 8-bit float, by ml_dtypes and NumPy alone.

Run ``python conformance/digests.py`` to write golden/cast_digests.sha256 again (several minutes).

A line is a dtype, a mode and the SHA-256 of the codes of all 2**32 float32, in the order of their
bits. Modes: ``default``, ml_dtypes' own cast; ``saturate``, the same with the largest value, of the
same sign, where a number or Inf became Inf or NaN. tests/kernels/test_kernels.py compares the
kernels with them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import ml_dtypes
import numpy as np

GOLDEN = Path(__file__).resolve().parent / "golden" / "cast_digests.sha256"
CHUNK = 1 << 24
DTYPES = (
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)


def saturated(codes: np.ndarray, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The codes with the largest value in the place of Inf and NaN, but for NaN itself."""
    largest = np.array(ml_dtypes.finfo(dtype).max, dtype).view(np.uint8)
    lost = ~np.isfinite(codes.view(dtype).astype(np.float32)) & ~np.isnan(values)
    if dtype == ml_dtypes.float8_e8m0fnu:
        lost &= values > 0  # negative numbers and zeros are no overflow
        sign = np.uint8(0)
    else:
        sign = np.signbit(values).astype(np.uint8) << 7
    return np.where(lost, largest | sign, codes)


def main() -> None:
    """Write the file."""
    hashes = {(name, mode): hashlib.sha256() for name in DTYPES for mode in ("default", "saturate")}
    for start in range(0, 1 << 32, CHUNK):
        values = np.arange(start, start + CHUNK, dtype=np.uint64).astype(np.uint32).view(np.float32)
        for name in DTYPES:
            dtype = np.dtype(getattr(ml_dtypes, name))
            with np.errstate(all="ignore"):
                codes = values.astype(dtype).view(np.uint8)
            hashes[name, "default"].update(codes.tobytes())
            hashes[name, "saturate"].update(saturated(codes, values, dtype).tobytes())
    lines = [f"{name} {mode} {h.hexdigest()}\n" for (name, mode), h in hashes.items()]
    GOLDEN.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
