"""Kernels whose values are one framework's own; ``policies.kernels`` says what each is for.

Written with what NumPy and CuPy have in common: ``xp`` is either. No division by zero is carried
out, so that none of them warns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

Buffer = Any


def of(xp: Any) -> dict[str, Callable[..., Buffer]]:
    """Return the kernels over the buffers of ``xp``, by name."""
    return {function.__name__: partial(function, xp) for function in _VARIANTS}


def checked_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.floor_divide(x, _not_zero(xp, x, y))


def checked_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.remainder(x, _not_zero(xp, x, y))


def checked_clip(xp: Any, x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    if low and high and not bool(xp.all(bounds[0] <= bounds[1])):
        raise ValueError("clip: the lower bound must not be above the upper one, nor be NaN")
    y = xp.maximum(x, bounds[0]) if low else x.copy()
    return xp.minimum(y, bounds[-1]) if high else y


def floor_of_quotient(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.floor(xp.true_divide(x, y))


def low_bound_last(xp: Any, x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    y = xp.minimum(x, bounds[-1]) if high else x.copy()
    return xp.maximum(y, bounds[0]) if low else y


def left_shift_within(xp: Any, x: Buffer, count: Buffer) -> Buffer:
    return xp.left_shift(x, _within(xp, count))


def right_shift_within(xp: Any, x: Buffer, count: Buffer) -> Buffer:
    return xp.right_shift(x, _within(xp, count))


def reciprocal_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    power = xp.power(x, xp.maximum(y, xp.zeros_like(y)))
    odd = xp.bitwise_and(y, xp.ones_like(y)) == 1
    of_ones = xp.where(odd, x, xp.ones_like(x))
    inverse = xp.where(xp.abs(x) == 1, of_ones, xp.zeros_like(x))
    return xp.where(y < 0, inverse, power)


def sign_without_nan(xp: Any, x: Buffer) -> Buffer:
    sign = xp.sign(x)
    return xp.where(xp.isnan(x), xp.zeros_like(sign), sign)


def truncated_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _towards_zero(xp, x, _not_zero(xp, x, y))


def xla_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.where(y == 0, ~xp.zeros_like(x), _towards_zero(xp, x, _or_one(xp, y)))


def xla_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    if x.dtype.kind == "f":
        return xp.fmod(x, y)
    return xp.where(y == 0, x, xp.fmod(x, _or_one(xp, y)))


def xla_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    floor = xp.floor_divide(x, _or_one(xp, y))
    by_zero = ~xp.zeros_like(x)
    if x.dtype.kind == "i":
        # The remainder is x then, and the signs differ, as that of 0 is another one.
        by_zero = by_zero - (x != 0).astype(x.dtype)
    return xp.where(y == 0, by_zero, floor)


def standard_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    lone = xp.isinf(x) & xp.isfinite(y) & (y != 0) | xp.isfinite(x) & xp.isinf(y)
    one = xp.ones_like(x)
    floor = xp.floor_divide(xp.where(lone, one, x), xp.where(lone, one, y))
    return xp.where(lone, xp.where(lone, x, one) / xp.where(lone, y, one), floor)


def standard_expm1(xp: Any, x: Buffer) -> Buffer:
    finite, zero = xp.isfinite(x), xp.zeros_like(x)
    near = xp.expm1(xp.where(finite, x, zero))
    far = xp.exp(xp.where(finite, zero, x))  # its infinities are those of C99
    real = xp.where(finite, near.real, far.real - 1)
    return _complex(xp, xp.where(x == 0, zero.real, real), xp.where(finite, near.imag, far.imag))


def standard_tanh(xp: Any, x: Buffer) -> Buffer:
    end = xp.isinf(x.real) & xp.isfinite(x.imag)
    inner, one = xp.tanh(xp.where(end, xp.zeros_like(x), x)), xp.ones_like(x.real)
    real = xp.where(end, xp.copysign(one, x.real), inner.real)
    imag = xp.where(end, xp.copysign(xp.zeros_like(one), x.imag), inner.imag)
    return _complex(xp, real, imag)


def _complex(xp: Any, real: Buffer, imag: Buffer) -> Buffer:
    """Complex numbers of their parts: a sum would turn an infinite part into a NaN."""
    out = xp.empty(real.shape, (real.dtype.type(0) * 1j).dtype)
    out.real, out.imag = real, imag
    return out


_VARIANTS = (
    checked_floor_divide,
    checked_remainder,
    checked_clip,
    floor_of_quotient,
    low_bound_last,
    left_shift_within,
    right_shift_within,
    reciprocal_pow,
    sign_without_nan,
    truncated_divide,
    xla_divide,
    xla_remainder,
    xla_floor_divide,
    standard_floor_divide,
    standard_expm1,
    standard_tanh,
)


def _not_zero(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """The divisor, which must not be zero where anything is divided by it."""
    if x.size and bool(xp.any(y == 0)):
        raise ZeroDivisionError(
            "an integer divided by zero, which this policy's framework refuses; divide floats, or "
            "write pa.where(y == 0, 1, y) for the divisor"
        )
    return y


def _or_one(xp: Any, y: Buffer) -> Buffer:
    return xp.where(y == 0, xp.ones_like(y), y)


def _towards_zero(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """The exact quotient of integers without its fraction."""
    floor = xp.floor_divide(x, y)
    below = xp.logical_and(xp.fmod(x, y) != 0, xp.logical_xor(x < 0, y < 0))
    return floor + below.astype(floor.dtype)


def _within(xp: Any, count: Buffer) -> Buffer:
    last = xp.full_like(count, 8 * count.dtype.itemsize - 1)
    return xp.minimum(xp.maximum(count, xp.zeros_like(count)), last)
