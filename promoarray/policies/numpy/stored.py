"""Rules of NumPy for Python numbers that it stores: in arrays, by assignment, in ranges.

Sources: NumPy 2.4 and 1.26, numpy/core/src/multiarray/arraytypes.c.src (``@TYPE@_setitem``),
abstractdtypes.c (``discover_descriptor_from_pylong``), numpy/core/numeric.py (``full``: ``copyto``
with ``casting="unsafe"``) and function_base.py (``linspace``: ``astype``).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, INTEGERS, DType, Kind
from promoarray.promotion.scalars import (
    Fit,
    bounds,
    in_range,
    out_of_range,
    passing,
    within_64_bits,
    within_int64,
    wrap,
)
from promoarray.promotion.stored import Stored, real_and_finite


def of_ints(values: tuple[Any, ...], long: DType = dt.int64) -> DType | None:
    """The dtype of Python ints: int64 of those a C long does not hold, uint64 of those int64 does
    not hold, float64 of both together.

    Raises OverflowError for an int beyond 64 bits, of which NumPy makes an array of Python objects.
    """
    ints = [value for value in values if type(value) is int]
    held = [*map(within_int64, ints)]
    floats = any(type(value) in (float, complex) for value in values)
    if all(held):
        least, most = bounds(long)
        return None if floats or all(least <= value <= most for value in ints) else dt.int64
    if not all(map(within_64_bits, ints)):
        raise out_of_range(max(ints, key=abs), dt.int64 if min(ints) < 0 else dt.uint64)
    if floats:
        return None
    return dt.float64 if any(held) else dt.uint64


def as_copied(value: Any, dtype: DType) -> Any:
    """As ``numpy.copyto`` does in NumPy 2: an int has to fit, all else is cast."""
    return in_range(value, dt.int64 if dtype is dt.bool else dtype)


def as_interpolated(value: Any, dtype: DType) -> Any:
    """As ``linspace`` does, which takes the floor of what it makes integers of, then casts.

    Raises TypeError for complex numbers, which have no floor.
    """
    if type(value) is complex and dtype.kind in INTEGERS:
        raise TypeError(f"complex numbers have no floor, and so do not become {dtype.name}")
    return value


def low_bits(long: DType) -> Fit:
    """What keeps the low bits of an int, of a float without its fraction (NumPy 1).

    OverflowError is raised for what a C long does not hold, or for unsigned integers of as many
    bits an unsigned one; 64-bit integers are made of 64 bits.
    """

    @passing()
    def kept(value: Any, dtype: DType) -> Any:
        if dtype.kind not in INTEGERS or type(value) is complex:
            return real_and_finite(value, dtype)
        bits = max(long.bits, dtype.bits)
        is_unsigned = dtype.kind is Kind.UINT and dtype.bits >= 32 and value > 0
        widest = BY_CODE[f"{'u' if is_unsigned else 'i'}{bits}"]
        return wrap(in_range(int(real_and_finite(value, widest)), widest), dtype)

    return kept


@passing()
def from_64_bits(value: Any, dtype: DType) -> Any:
    """Keep the low bits of an int that int64 or uint64 holds; refuse a longer one."""
    if dtype.kind in INTEGERS and not within_64_bits(value):
        raise out_of_range(value, dt.int64 if value < 0 else dt.uint64)
    return wrap(value, dtype)


_DTYPES = {"asarray": of_ints, "full": of_ints}

NUMPY_2 = Stored(
    fit_by={"full": as_copied, "full_like": as_copied, "linspace": as_interpolated},
    dtype_by=_DTYPES,
    strong_lists=True,
    promotes=frozenset({"linspace"}),
)


def numpy_1(long: DType) -> Stored:
    """How NumPy 1 stores Python numbers, with such a C long."""
    kept, made = low_bits(long), partial(of_ints, long=long)
    return Stored(
        fit=kept,
        fit_by={
            "setitem": kept,
            "full": from_64_bits,
            "full_like": from_64_bits,
            "linspace": as_interpolated,
        },
        dtype_by={"asarray": made, "full": made, "arange": made},
        strong_lists=True,
    )


NUMPY_1 = numpy_1(dt.int64)
