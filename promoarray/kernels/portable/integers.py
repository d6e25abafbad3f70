"""Steps that kernels of integers share. ``xp`` is NumPy or CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np

Buffer = Any


def not_zero(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """The divisor, which must not be zero where anything is divided by it."""
    traced = getattr(xp, "refuse_zero", None)  # by the division's own floating-point exception
    if traced is not None:
        return traced(y)
    if x.size and bool(xp.any(y == 0)):
        raise divided_by_zero()
    return y


def divided_by_zero() -> ZeroDivisionError:
    """The error of an integer that is divided by zero."""
    return ZeroDivisionError(
        "an integer divided by zero, which this policy's framework refuses; divide floats, or "
        "write pa.where(y == 0, 1, y) for the divisor"
    )


def or_one(xp: Any, y: Buffer) -> Buffer:
    return xp.where(y == 0, xp.ones_like(y), y)


def towards_zero(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """The exact quotient of integers without its fraction."""
    floor = xp.floor_divide(x, y)
    below = xp.logical_and(xp.fmod(x, y) != 0, xp.logical_xor(x < 0, y < 0))
    return floor + below.astype(floor.dtype)


def beyond(dtype: Any) -> int:
    """What x86 makes of NaN, and of a float that no integer of the dtype is."""
    return int(np.iinfo(dtype).min) if dtype.itemsize >= 4 else 0  # narrower ones by their low bits
