"""PyTorch's Python numbers: what an operator, a function's argument and a stored number become.

An operator takes the low bits of an int. What is no operand but an argument, or is stored, goes
through `checked_convert` (c10/util/TypeCast.h), which refuses what the dtype has no number for.
Either way a number is a `Scalar` first, which an int of more than 64 bits is not.
"""

from __future__ import annotations

import math
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.promotion.scalars import (
    bounds,
    in_range,
    largest,
    passing,
    shown,
    within_64_bits,
    within_int64,
    worded,
    wrap,
)
from promoarray.promotion.stored import leading, real_parts


@passing()
def fits(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int; beyond 64 bits it is too big to become a scalar at all."""
    return wrap(scalar(value), dtype)


@passing(within=True)
def converted(value: Any, dtype: DType) -> Any:
    """Refuse what does not fit (`checked_convert`); of complex numbers each part has to.

    An unsigned dtype takes -n for an n it holds. Floats take infinities and NaN, but no finite
    number beyond their largest, even one that would be rounded to it. A bool takes anything.
    """
    scalar(value)
    if dtype.kind is Kind.BOOL or type(value) is bool:
        return value
    real, imag, part = value.real, value.imag, dtype.part
    is_pair = dtype.kind is Kind.COMPLEX
    if not _holds(part, real) or not (_holds(part, imag) if is_pair else imag == 0):
        given = f"Python {type(value).__name__} {worded(value).removeprefix('int ')}"
        raise OverflowError(f"{given} does not fit {dtype.name}, {_room(value, dtype)}")
    return value if is_pair else wrap(real, dtype)


@passing(within=True)
def chosen(value: Any, dtype: DType) -> Any:
    """Convert a number of ``where``, which is a float32 on its way to a narrow float."""
    return converted(value, dt.float64 if _narrow(dtype) else dtype)


@passing(within=True)
def assigned(value: Any, dtype: DType) -> Any:
    """Convert the value of ``x[key] = value``, of which an int has to be an int64 first."""
    if not within_int64(value):
        raise OverflowError(f"Python int {shown(value)} is no int64, as which ints are assigned")
    unchecked = dtype.kind is Kind.FLOAT and dtype.bits <= 16  # which the cast makes infinite
    return converted(value, dt.float64 if unchecked else dtype)


@passing(within=True)
def exponent(value: Any, dtype: DType) -> Any:
    """Convert an exponent of integers and narrow floats; others are a double or complex number."""
    if dtype.kind in INTEGERS or _narrow(dtype):
        return converted(value, dt.int64 if dtype is dt.uint64 else dtype)
    return scalar(value)


def made(value: Any, dtype: DType) -> Any:
    """Store a number as ``torch.tensor`` does: a float rounds it, what has no such part raises."""
    if type(value) is complex and dtype.kind not in (Kind.COMPLEX, Kind.BOOL):
        raise TypeError(f"complex numbers do not become {dtype.name}; take x.real first")
    if dtype.kind not in INTEGERS:
        return value
    if dtype.kind is Kind.INT or dtype.bits < 64:
        return converted(value, dtype)
    if type(value) is float:
        raise TypeError(f"torch.tensor makes no {dtype.name} of a Python float")
    return in_range(value, dtype)


def counted(value: Any, dtype: DType) -> Any:
    """Store a number of ``arange``, which counts integers in int64 and keeps their low bits."""
    if dtype.kind not in INTEGERS:
        return value
    return wrap(int(converted(value, dt.int64)), dtype)


def counting(start: Any, stop: Any, step: Any) -> tuple[Any, Any, Any]:
    """Refuse a step that leads away from the end; complex numbers may be real ones."""
    if any(v.imag for v in (start, stop, step)):
        raise TypeError("arange takes complex numbers only if their imaginary part is 0")
    return leading(*real_parts(start, stop, step))


def spaced(value: Any, dtype: DType) -> Any:
    """Convert an end of ``linspace``, which has to be complex if one is."""
    if type(value) is complex and dtype.kind is not Kind.COMPLEX:
        raise TypeError(f"linspace makes no {dtype.name} of complex numbers")
    return converted(value, dtype)


def scalar(value: Any) -> Any:
    """Refuse an int of more than 64 bits."""
    if not within_64_bits(value):
        raise OverflowError(f"Python int {shown(value)} is too big for a PyTorch scalar (64 bits)")
    return value


def _narrow(dtype: DType) -> bool:
    return dtype.kind is Kind.FLOAT and dtype.bits < 32


def _holds(dtype: DType, value: float) -> bool:
    """Whether a real number lies within a real dtype."""
    if dtype.kind not in INTEGERS:
        return not math.isfinite(value) or abs(value) <= largest(dtype)
    low, high = bounds(dtype)
    if type(value) is int:
        return (low or -high) <= value <= high
    return low <= value <= float(high)  # which is 2.0**63 of int64: the bounds become doubles


def _room(value: Any, dtype: DType) -> str:
    """What a dtype holds, and what to write instead, for messages."""
    if value.imag and dtype.kind is not Kind.COMPLEX:
        return "which has no imaginary part. Write its .real, or take a complex dtype"
    wider = "Write a dtype that holds it, or astype of a wider array to have it cast"
    if dtype.kind in INTEGERS:
        return "whose range is {} to {}. {}".format(*bounds(dtype), wider)
    return f"whose largest finite number is {largest(dtype.part):.6g}. {wider}"
