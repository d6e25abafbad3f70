"""Sorting floats in NumPy's buffers by its fastest sorts, which are not stable.

Of floats only zeros and NaN show that: they differ in bits, and are put back in the order they had.
The order is that of ``kernels.portable.linalg``, which sorts all else: NaN comes last, -0.0 and 0.0
are equal, equal elements stay in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy.cast import cast, comparable
from promoarray.dtypes import DType

Buffer = np.ndarray[Any, Any]

FEW = 64
"""Elements of which NumPy's stable sort has the same order soonest."""


def sort_floats(x: Buffer, dtype: DType, *, axis: int, descending: bool) -> Buffer | None:
    """The same bits in order; None of few, and of floats of 8 bits or fewer."""
    if x.size <= FEW or dtype.bits <= 8:
        return None
    rows = np.moveaxis(x, axis, -1)
    # NumPy's own sort of float16 misplaces some of many equal negative ones (2.4.6, AVX-512).
    wide = dt.float32 if dtype is dt.float16 else comparable(dtype)
    made = cast(np.sort(cast(rows, dtype, wide)), wide, dtype)
    if descending:
        made = made[..., ::-1].copy()
    before, after = (each.view(f"u{each.itemsize}") for each in (rows, made))
    word, sign = before.dtype.type, before.dtype.type(1 << dtype.bits - 1)
    size = sign - word(1)
    # The zeros of a row, and its NaN, are as many as before, and stand together.
    if (before == sign).any():
        after[(after & size) == 0] = before[(before & size) == 0]
    assert dtype.format is not None
    last = word(dtype.format.largest if dtype.format.inf is None else dtype.format.inf)
    if (after[..., 0 if descending else -1] & size > last).any():
        after[(after & size) > last] = before[(before & size) > last]
    return np.ascontiguousarray(np.moveaxis(made, -1, axis))
