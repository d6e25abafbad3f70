"""Where values belong among sorted ones, over NumPy buffers.

NumPy branches at each comparison, and waits for it. The loop of ours halves for many values at a
time; what is sought is cast some at a time, so that it is never cast whole. The order is NumPy's:
NaN comes last, and -0.0 equals 0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from promoarray import kernels
from promoarray.dtypes import BY_STORAGE

Buffer = np.ndarray[Any, Any]
Cast = Callable[[Buffer], Buffer]

FEW = 64
"""Values up to which NumPy has found all before a loop of ours has begun."""

AT_ONCE = 1 << 16
"""Values that are cast at a time."""


def searchsorted(x: Buffer, values: Buffer, *, side: str = "left", sorter: Any = None) -> Any:
    """``np.searchsorted`` of buffers of one dtype."""
    if sorter is not None or values.size <= FEW or not _has_loop(x, values):
        return x.searchsorted(values, side=side, sorter=sorter)  # type: ignore[call-overload]
    bits = 8 * values.itemsize
    if bits <= 16 and values.size > 1 << bits:  # many are alike
        codes = np.dtype(f"u{values.itemsize}")
        every = np.arange(1 << bits, dtype=codes).view(values.dtype)
        return _found(x, every, side)[values.view(codes)]
    return _found(x, values, side)


def _has_loop(x: Buffer, values: Buffer) -> bool:
    dtype = x.dtype
    known = dtype == values.dtype and dtype.isbuiltin == 1 and dtype.kind in "iuf"
    return known and dtype != np.float16 and x.ndim == 1 and x.size >> 32 == 0


def _found(x: Buffer, values: Buffer, side: str) -> Buffer:
    out = np.empty(values.shape, np.int64)
    row = kernels.dtype_args(BY_STORAGE[x.dtype])
    x, values = (np.require(each, requirements=["C", "A"]) for each in (x, values))
    kernels.search(x, values, out, row, side == "right")
    return out


def in_blocks(
    buffers: Sequence[Buffer],
    casts: Sequence[Cast | None],
    finish: Cast,
    stored: Any,
    computed: Any,
    *,
    side: str = "left",
    sorter: Any = None,
) -> Buffer | None:
    """Search for values some at a time; None where they are cast at once."""
    x, values = buffers
    of_x, of_values = casts
    if sorter is not None or values.size <= AT_ONCE or of_values is None:
        return None
    out = np.empty(values.shape, stored)
    given, places = values.reshape(-1), out.reshape(-1)
    among = x if of_x is None else of_x(x)
    for begin in range(0, given.size, AT_ONCE):
        now = slice(begin, begin + AT_ONCE)
        places[now] = finish(searchsorted(among, of_values(given[now]), side=side))
    return out


IN_PARTS: dict[Any, Callable[..., Buffer | None]] = {searchsorted: in_blocks}
"""How the kernel goes part by part where its operands are cast."""

KERNELS: dict[str, Callable[..., Any]] = {"searchsorted": searchsorted}
