"""Copies in rows of long arrays that lie in columns or backwards.

NumPy fetches a line of memory for each element of a row that lies in columns, and goes backwards
one element after the other. Of all else its own copies are as good.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.kernels import copy as copy_kernel

Buffer = np.ndarray[Any, Any]

SOME = 1 << 12
"""Elements from which on it matters how an array lies."""


def in_rows(buffer: Buffer) -> Buffer | None:
    """A copy in rows; None where NumPy's own is as good, or the dtype is none of plain bytes."""
    if buffer.flags.c_contiguous or not _is_plain(buffer.dtype):
        return None
    if not (_lies_in_columns(buffer) or _goes_backwards(buffer)):
        return None
    out = np.empty(buffer.shape, buffer.dtype)
    copy_kernel(buffer, out)
    return out


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize in (1, 2, 4, 8) and dtype.isnative and not dtype.hasobject


def _lies_in_columns(buffer: Buffer) -> bool:
    """Whether each element of a row has a line of memory to itself, which other rows share."""
    *outer, along = buffer.strides
    steps = (abs(step) for step, n in zip(outer, buffer.shape, strict=False) if n > 1 and step)
    return abs(along) >= _LINE and buffer.shape[-1] > 1 and min(steps, default=_LINE) < _LINE


def _goes_backwards(buffer: Buffer) -> bool:
    return buffer.strides[-1] == -buffer.itemsize and buffer.shape[-1] >= _LINE


_LINE = 64
"""Bytes of a line of memory; elements of a row from which on it pays to call a loop for it."""
