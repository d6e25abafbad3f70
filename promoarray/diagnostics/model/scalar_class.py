"""Classes of Python scalars that no policy tells apart.

What a policy answers may depend on a scalar's value: whether it fits a dtype, which dtype is the
smallest that holds it, whether an exponent is 2, whether it is another number in a dtype. Two
numbers of one class have the same answer everywhere, so that the class is enough to remember an
answer by.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Hashable
from functools import cache, lru_cache
from typing import Any

from promoarray.dtypes import CONCRETE, INTEGERS, Kind
from promoarray.promotion.scalars import bounds, largest

_EXACT = 16
"""Whole numbers up to here stand for themselves: exponents, above all."""


PRECISIONS = (2, 3, 4, 8, 11, 24, 53)
"""The binary digits that the floats of some dtype have: 4 of float8_e4m3, 24 of float32."""


def _digits(x: float | int) -> int:
    """The binary digits from the first 1 of a number to its last."""
    whole = abs(x) if type(x) is int else int(math.ldexp(math.frexp(abs(x))[0], 53))
    return whole.bit_length() - (whole & -whole).bit_length() + 1


@cache
def borders() -> list[float | int]:
    """The magnitudes at which numbers begin or cease to fit some dtype."""
    found: set[float | int] = {65000, 3.4e38, 1.7e308}  # where NumPy 1 looks for smaller floats
    # From here on what went through a C double, or a float after it, is no int32, no int64.
    found |= {2**31 - 64, 2**63 - 2**38 - 512, 2**63 - 512}
    for dtype in CONCRETE:
        if dtype.kind in INTEGERS:
            low, high = bounds(dtype)
            found |= {high, high + 1, -low, 1 - low}
        elif dtype.kind is Kind.FLOAT and dtype.format is not None:
            most = largest(dtype)
            step = 2.0 ** (math.frexp(most)[1] - 1 - dtype.format.mantissa)
            found |= {most, most + step / 2, most + step}
    beyond = 2**1024 - 2**970  # from here on an int is no float
    return [*sorted(border for border in found if border < math.inf), beyond]


def nearest() -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    """Return the floats nearest to each border, from below and above; and such integers."""
    floats = [_nearest(x) for x in borders() if x <= sys.float_info.max]
    return floats, [(math.floor(x), math.ceil(x)) for x in borders() if x < 1 << 64]


def _nearest(x: float) -> tuple[float, float]:
    near = float(x)
    below = near if near <= x else math.nextafter(near, -math.inf)
    return below, near if near >= x else math.nextafter(near, math.inf)


def scalar_class(x: Any) -> Hashable:
    """Return the class of a Python scalar: one object for all that are in it."""
    # Zeros of either sign are equal, and so are 1+0j and 1-0j: they would share a place.
    return _kept(x) if x and type(x) is not complex else _scalar_class(x)


def _scalar_class(x: Any) -> Hashable:
    found = _class_of(x)
    return _CLASSES.setdefault(found, found)


_CLASSES: dict[Hashable, Hashable] = {}


def _class_of(x: Any) -> Hashable:
    kind = type(x)
    if kind is bool:
        return kind, x
    if kind is complex:
        return kind, scalar_class(x.real), scalar_class(x.imag)
    if kind is float and not math.isfinite(x):
        return kind, str(x)
    whole = kind is int or x.is_integer()
    if (whole and -_EXACT <= x <= _EXACT) or x == 0.5:
        return kind, math.copysign(1.0, x) if kind is float else 1.0, x
    ends, size = borders(), abs(x)
    rung = bisect_left(ends, size), bisect_right(ends, size)
    return kind, x < 0, whole, *rung, bisect_left(PRECISIONS, _digits(x))


_kept = lru_cache(maxsize=1024, typed=True)(_scalar_class)
