"""Values on the host, in NumPy's dtypes: of Python scalars on their way in, and for printing.

It serves no back end: what has come from a GPU prints by it, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.promotion.scalars import no_float

Buffer = np.ndarray[Any, Any]


def wide(value: Any, dtype: DType) -> tuple[Buffer, DType]:
    """Return a 0-d buffer that holds a Python scalar exactly, on its way to a dtype, and its own.

    That is ``dtype`` itself for an int and integers of 8 bits and more, else float64 or complex128;
    an int beyond both is an OverflowError.
    """
    if type(value) is int and dtype.kind in INTEGERS and dtype.bits >= 8:
        return np.array(value, dtype.storage), dtype
    widest = dt.complex128 if isinstance(value, complex) else dt.float64
    try:
        return np.array(value, widest.storage), widest
    except OverflowError:
        raise no_float(value, dtype) from None


def exact(dtype: DType) -> DType:
    """The dtype of NumPy's own that holds values of a dtype exactly, and computes and prints."""
    if dtype.kind is Kind.FLOAT and dtype.bits < 32:
        return dt.float32
    if dtype.kind in INTEGERS and dtype.bits < 8:
        return dt.int8
    return dt.complex64 if dtype is dt.complex32 else dtype


def decoded(buffer: Buffer, dtype: DType) -> Buffer:
    """Return values in the dtype that holds them exactly; a buffer of such a dtype as it is."""
    held = exact(dtype)
    if held is dtype:
        return buffer
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return buffer.astype(held.storage)
