"""MindSpore's Python numbers: what an operator's scalar and a stored number become.

Measured on 2.10.0, CPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import DType
from promoarray.promotion.scalars import (
    exactly,
    of_int64,
    out_of_range,
    passing,
    within_64_bits,
    wrap,
)
from promoarray.promotion.stored import Stored, real_part


@passing(floats=dt.float32)
def fit(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int that fits int64, refuse a larger one; a float is a float32."""
    of_int64(value)
    if type(value) is float:
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    return wrap(value, dtype)


def _of_numpy(values: tuple[Any, ...]) -> DType | None:
    """What ``mindspore.tensor`` makes of numbers where it keeps what NumPy makes of them."""
    if any(type(value) is complex for value in values):
        return dt.complex128
    beyond = [type(value) is int and value >= 1 << 63 for value in values]
    if not any(beyond):
        return None
    return dt.uint64 if all(beyond) else dt.float32


def converted(value: Any, dtype: DType) -> Any:
    """Cast a number as C does: the low bits of an int, the real part of a complex number."""
    if not within_64_bits(value):
        raise out_of_range(value, dt.int64)
    return bool(value) if dtype is dt.bool else wrap(real_part(value, dtype), dtype)


@passing(floats=dt.float32)
def assigned(value: Any, dtype: DType) -> Any:
    """Cast a number by way of int64 or float32; complex ones are taken by no key."""
    if type(value) is complex:
        raise TypeError("MindSpore assigns no complex Python scalars")
    return converted(fit(value, dt.float32 if type(value) is float else dt.int64), dtype)


@passing()
def fit_compared(value: Any, dtype: DType) -> Any:
    """Compare the numbers, as far as an int fits int64."""
    fit(value, dtype)
    return exactly(value, dtype)


STORED = Stored(
    fit=converted,
    fit_by={"setitem": assigned},
    dtype_by={
        "asarray": _of_numpy,
        "full": lambda values: dt.int64,
        "linspace": lambda values: dt.float32,
    },
)
