"""The casts in C++: cast.h holds each scalar cast once, cpu.cpp loops over it.

Not here: which cast a policy wants, and what a buffer is. The kernels take contiguous
one-dimensional buffers of storage types and a `Format` as a plain tuple, and check both.
"""

from __future__ import annotations

from functools import lru_cache

from promoarray.dtypes import Format
from promoarray.kernels._cpu import decode, encode

__all__ = ["cast_header", "decode", "encode", "row"]

_Row = tuple[int, int, int, int, int, int, bool, bool]


@lru_cache(maxsize=64)
def row(layout: Format) -> _Row:
    """The format as the kernels take it: its fields in order, -1 for a code it does not have."""
    return (
        layout.exponent,
        layout.mantissa,
        layout.bias,
        layout.largest,
        -1 if layout.inf is None else layout.inf,
        -1 if layout.nan is None else layout.nan,
        layout.negative_zero,
        layout.signed,
    )


def cast_header() -> str:
    """The text of cast.h, for compilers that run on the user's machine (NVRTC)."""
    from importlib import resources

    return resources.files(__package__).joinpath("cast.h").read_text(encoding="utf-8")
