"""Losses of a cast, told from the dtypes alone: the values that come through, in words and bits."""

from __future__ import annotations

import math
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import INTEGERS, DType, Format, Kind
from promoarray.promotion.scalars import bounds


def loss(source: DType, target: DType) -> str:
    """Say what is lost in a cast, or "" if every value of the source comes through."""
    if source is target:
        return ""
    if dt.string in (source, target):
        return "" if target is dt.string else "text that is not a number is refused"
    if source.kind is Kind.COMPLEX:
        if target.kind is not Kind.COMPLEX:
            return "drops the imaginary part"
        return _floats(source.part, target.part)
    target = target.part
    if target.kind is Kind.BOOL:
        return "keeps only whether a value is zero"
    if source.kind is Kind.BOOL:
        return _from_bool(target)
    if source.kind is Kind.FLOAT:
        return _floats(source, target) if target.kind is Kind.FLOAT else _to_integer(target)
    return _integers(source, target) if target.kind in INTEGERS else _to_float(source, target)


class Lost(IntEnum):
    """How grave the loss of a cast is."""

    NOTHING = 0
    SPECIALS = 1  # Inf, NaN or -0 only
    ROUNDED = 2  # all else within the last place: long integers as floats
    VALUES = 3  # what is out of range, fractions, signs, imaginary parts


@cache
def gravity(source: DType, target: DType) -> tuple[Lost, float]:
    """Return how grave the loss of a cast is, and how many bits of the values are lost.

    Of a dtype with N finite values of which K come through exactly, that is about log2(N / K).
    """
    if not loss(source, target):
        return Lost.NOTHING, 0.0
    a, b = _extent(source.part), _extent(target.part)
    rank, left = (1 + (dtype.kind is Kind.COMPLEX) for dtype in (source, target))
    common = _kept(a, b) or 1  # a string and a scale have none
    bits = rank * math.log2(_kept(a, a)) - min(rank, left) * math.log2(common)
    high = a.high + (source.kind is Kind.INT and target.kind is not Kind.INT)  # -128 is -2**7
    within = b.low <= a.low and b.high >= high and b.signed >= a.signed and b.zero >= a.zero
    if rank > left or not within:
        return Lost.VALUES, bits
    return (Lost.ROUNDED if b.digits < a.digits else Lost.SPECIALS), bits


def _kept(a: _Extent, b: _Extent) -> int:
    """How many finite values two real dtypes have in common: zero, and those of every binade.

    Taken as whole are the last binade of a float and, of integers, the range without its least.
    """
    binades = range(max(a.low, b.low), min(a.high, b.high) + 1)
    digits = min(a.digits, b.digits)
    # Low down there are subnormal values, of fewer digits; further up all binades are alike.
    few = binades[: digits - 1]
    positive = sum(1 << n for n in range(len(few))) + len(binades[len(few) :]) * (
        (1 << digits) // 2
    )
    return positive * (1 + (a.signed and b.signed)) + (a.zero and b.zero)


class _Extent(NamedTuple):
    """The values of a real dtype: sums of ``digits`` powers of two in a row, 2**low to 2**high."""

    low: int
    high: int
    digits: int
    signed: bool
    zero: bool = True


def _extent(dtype: DType) -> _Extent:
    layout = dtype.format
    if layout is not None:
        high = _largest(layout)[1]
        zero = layout.mantissa > 0  # a format of exponents alone has none
        return _Extent(_smallest(layout), high, layout.mantissa + 1, layout.signed, zero)
    digits = 1 if dtype.kind is Kind.BOOL else dtype.bits - (dtype.kind is Kind.INT)
    return _Extent(0, digits - 1, digits, dtype.kind is Kind.INT)


def _from_bool(target: DType) -> str:
    return "there is no zero" if target is dt.float8_e8m0fnu else ""


def _to_integer(target: DType) -> str:
    low, high = bounds(target)
    return f"drops fractions, and keeps {_exact(low)} to {_exact(high)} only"


def _integers(source: DType, target: DType) -> str:
    (low, high), (least, most) = bounds(source), bounds(target)
    if least <= low and high <= most:
        return ""
    return f"keeps {_exact(max(low, least))} to {_exact(min(high, most))} only"


def _to_float(source: DType, target: DType) -> str:
    assert target.format is not None
    layout, (low, high) = target.format, bounds(source)
    if not layout.mantissa:
        return "keeps powers of two only"
    whole = 1 << layout.mantissa + 1
    reach = math.ldexp(*_largest(layout))
    lost = []
    if low < 0 and not layout.signed:
        lost.append("there is no sign")
    if max(high, -low) > whole:
        lost.append(
            f"keeps integers up to {_exact(min(whole, int(reach)))}, larger ones are rounded"
        )
    if max(high, -low) > reach:
        lost.append(f"magnitudes above {reach:g} overflow")
    return ", ".join(lost)


def _floats(source: DType, target: DType) -> str:
    a, b = source.format, target.format
    assert a is not None
    assert b is not None
    lost = []
    if a.signed and not b.signed:
        lost.append("there is no sign")
    if b.mantissa < a.mantissa:
        lost.append(f"keeps {b.mantissa + 1} of {a.mantissa + 1} significant bits")
    if math.ldexp(*_largest(b)) < math.ldexp(*_largest(a)):
        lost.append(f"magnitudes above {math.ldexp(*_largest(b)):g} overflow")
    if _smallest(b) > _smallest(a):
        lost.append(f"magnitudes below 2**{_smallest(b)} underflow")
    lost += [
        f"there is no {what}"
        for what, had, has in (
            ("infinity", a.inf is not None, b.inf is not None),
            ("NaN", a.nan is not None, b.nan is not None),
            ("-0", a.negative_zero and a.signed, b.negative_zero and b.signed),
        )
        if had and not has
    ]
    return ", ".join(lost)


def _largest(layout: Format) -> tuple[float, int]:
    """The largest finite value, as ``math.ldexp`` takes it."""
    exponent = layout.largest >> layout.mantissa
    fraction = layout.largest & ((1 << layout.mantissa) - 1)
    return 1 + fraction / (1 << layout.mantissa), exponent - layout.bias


def _smallest(layout: Format) -> int:
    """The exponent of the smallest positive value."""
    return (1 - layout.bias - layout.mantissa) if layout.mantissa else -layout.bias


def _exact(number: int) -> str:
    """A number as a reader takes it in: 2**24 rather than 16777216."""
    size = abs(number)
    for power, rest in ((size, ""), (size + 1, " - 1")):
        if size >= 1 << 16 and power & power - 1 == 0:
            return f"{'-' * (number < 0)}2**{power.bit_length() - 1}{rest}"
    return str(number)
