"""Kernels whose values are one framework's own; ``policies.kernels`` says what each is for.

Written with what NumPy and CuPy have in common: ``xp`` is either. No division by zero is carried
out, so that none of them warns. Where a float32 subnormal decides, functions of ``xp`` compute and
compare: Python's operators are CuPy's own, to which it is zero.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from promoarray.kernels.portable import complex_arithmetic, powers, products, statistics, xla
from promoarray.kernels.portable.steps import (
    beyond,
    is_zero,
    kernels_of,
    not_zero,
    of_parts,
    or_one,
    quietly,
    towards_zero,
    whole,
)

Buffer = Any


def of(xp: Any) -> dict[str, Callable[..., Buffer]]:
    """Return the kernels over the buffers of ``xp``, by name."""
    modules = (complex_arithmetic, powers, products, statistics, xla, sys.modules[__name__])
    found = {name: each for module in modules for name, each in kernels_of(module).items()}
    return {name: partial(each, xp) for name, each in found.items() if each is not of}


def checked_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.floor_divide(x, not_zero(xp, x, y))


def checked_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.remainder(x, not_zero(xp, x, y))


def checked_fmod(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.fmod(x, not_zero(xp, x, y))


def remainder_or_itself(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.where(y == 0, x, xp.remainder(x, or_one(xp, y)))


def remainder_keeping_zero(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    truncated = xp.fmod(x, y)
    return xp.where(truncated == 0, truncated, xp.remainder(x, y))


def checked_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.logical_and(x, not_zero(xp, x, y))


def checked_clip(xp: Any, x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    if low and high and not bool(xp.all(bounds[0] <= bounds[1])):
        raise ValueError("clip: the lower bound must not be above the upper one, nor be NaN")
    return clip_beyond(xp, x, *bounds, low=low, high=high)


def hypot_of_sizes(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.hypot(xp.abs(x), xp.abs(y))


def floor_of_quotient(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.floor(xp.true_divide(x, y))


@quietly
def times_reciprocal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.multiply(x, xp.true_divide(xp.ones_like(y), y))


def floor_of_product(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.floor(times_reciprocal(xp, x, y))


@quietly
def remainder_of_product(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.subtract(x, xp.multiply(floor_of_product(xp, x, y), y))


def floor_of_exact_quotient(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    divisor = not_zero(xp, x, y).astype(xp.float64)
    return floor_of_quotient(xp, x.astype(xp.float64), divisor).astype(x.dtype)


def remainder_of_quotient(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    wide, divisor = x.astype(xp.float64), y.astype(xp.float64)
    return (wide - floor_of_quotient(xp, wide, divisor) * divisor).astype(x.dtype)


def low_bound_last(xp: Any, x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    y = clip_beyond(xp, x, *bounds[-1:], low=False, high=high)
    return clip_beyond(xp, y, *bounds[:1], low=low, high=False)


def clip_beyond(xp: Any, x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    return _clip(xp, x, bounds, low, high, xp.greater_equal, xp.less_equal)


def clip_up_to(xp: Any, x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    return _clip(xp, x, bounds, low, high, xp.greater, xp.less)


def clip_signed_zeros(xp: Any, x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    def above(x: Buffer, bound: Buffer) -> Buffer:
        return xp.greater(x, bound) | xp.equal(x, bound) & xp.signbit(bound)

    def below(x: Buffer, bound: Buffer) -> Buffer:
        return xp.less(x, bound) | xp.equal(x, bound) & ~xp.signbit(bound)

    return _clip(xp, x, bounds, low, high, above, below)


def left_shift_within(xp: Any, x: Buffer, count: Buffer) -> Buffer:
    return xp.left_shift(x, _within(xp, count))


def right_shift_within(xp: Any, x: Buffer, count: Buffer) -> Buffer:
    return xp.right_shift(x, _within(xp, count))


def masked_left_shift(xp: Any, x: Buffer, count: Buffer) -> Buffer:
    return xp.left_shift(*_as_registers(xp, x, count)).astype(x.dtype)


def masked_right_shift(xp: Any, x: Buffer, count: Buffer) -> Buffer:
    return xp.right_shift(*_as_registers(xp, x, count)).astype(x.dtype)


def zero_reciprocal_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    power = xp.power(x, xp.maximum(y, xp.zeros_like(y)))
    return xp.where(y < 0, xp.zeros_like(x), power)


def reciprocal_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    power = xp.power(x, xp.maximum(y, xp.zeros_like(y)))
    odd = xp.bitwise_and(y, xp.ones_like(y)) == 1
    of_ones = xp.where(odd, x, xp.ones_like(x))
    inverse = xp.where(xp.abs(x) == 1, of_ones, xp.zeros_like(x))
    return xp.where(y < 0, inverse, power)


def double_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _double_pow(xp, x, y, of_zero=beyond(x.dtype))


def positive_double_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    if bool(xp.any(y < 0)):
        raise ValueError("integers to negative powers are refused; write the base as a float")
    return double_pow(xp, x, y)


def double_reciprocal_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _double_pow(xp, x, y, of_zero=0)


def six_bit_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    power = xp.power(x, xp.bitwise_and(y, xp.full_like(y, 63)))
    return xp.where(xp.logical_and(x == 0, y != 0), xp.zeros_like(power), power)


def scaled(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.add(xp.multiply(x, y), xp.zeros_like(x))


def scaled_by_reciprocal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return scaled(xp, x, (1 / y.astype("float64")).astype(x.dtype))


def round_half_away(xp: Any, x: Buffer) -> Buffer:
    return _half_away(xp, x)


def round_up_to_zero(xp: Any, x: Buffer) -> Buffer:
    rounded = xp.round(x)
    return xp.where(xp.logical_and(rounded == 0, x != 0), xp.zeros_like(x), rounded)


def scaled_negative(xp: Any, x: Buffer) -> Buffer:
    return scaled(xp, x, -xp.ones_like(x))


def single_atan2(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.arctan2(x.astype("float64"), y.astype("float64")).astype("float32")


def rounded_atan2(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return single_atan2(xp, x, y) if x.dtype == np.float32 else xp.arctan2(x, y)


def hypot_of_squares(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    squares = xp.add(xp.multiply(x, x), xp.multiply(y, y))
    return xp.sqrt(squares.astype("float32") if x.dtype.kind in "iu" else squares)


def sign_without_nan(xp: Any, x: Buffer) -> Buffer:
    sign = xp.sign(x)
    return xp.where(xp.isnan(x), sign.dtype.type(0), sign)


def sign_keeping_zero(xp: Any, x: Buffer) -> Buffer:
    return xp.where(is_zero(xp, x), x, xp.sign(x))


def signed_maximum(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return clip_signed_zeros(xp, x, y, low=True, high=False)


def signed_minimum(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return clip_signed_zeros(xp, x, y, low=False, high=True)


def second_maximum(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.where(xp.greater(x, y), x, y)


def second_minimum(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.where(xp.less(x, y), x, y)


def sign_of_order(xp: Any, x: Buffer) -> Buffer:
    nan = xp.isnan(x.real) | xp.isnan(x.imag)
    first = xp.where(is_zero(xp, x.real), xp.sign(x.imag), xp.sign(x.real))
    return of_parts(xp, xp.where(nan, first.dtype.type("nan"), first), 0)


def truncated_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return towards_zero(xp, x, not_zero(xp, x, y))


def xla_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.where(y == 0, ~xp.zeros_like(x), towards_zero(xp, x, or_one(xp, y)))


def xla_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    if x.dtype.kind == "f":
        return xp.fmod(x, y)
    return xp.where(y == 0, x, xp.fmod(x, or_one(xp, y)))


def xla_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    floor = xp.floor_divide(x, or_one(xp, y))
    by_zero = ~xp.zeros_like(x)
    if x.dtype.kind == "i":
        # The remainder is x then, and the signs differ, as that of 0 is another one.
        by_zero = by_zero - (x != 0).astype(x.dtype)
    return xp.where(y == 0, by_zero, floor)


def saturating_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    ends = np.iinfo(x.dtype)
    largest, smallest = xp.full_like(x, ends.max), xp.full_like(x, ends.min)
    by_zero = xp.where(x > 0, largest, xp.where(x < 0, smallest, x))
    return xp.where(y == 0, by_zero, xp.floor_divide(x, or_one(xp, y)))


def saturating_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    ends = np.iinfo(x.dtype)
    if ends.min == 0:
        return truncated_divide(xp, x, y)
    beyond_all = xp.logical_and(x == ends.min, y == -1)
    quotient = truncated_divide(xp, x, xp.where(beyond_all, xp.ones_like(y), y))
    return xp.where(beyond_all, xp.full_like(x, ends.max), quotient)


def _finite(name: str) -> Any:
    @quietly
    def computed(xp: Any, x: Buffer, y: Buffer) -> Buffer:
        result = getattr(xp, name)(x, y)
        largest = xp.copysign(xp.full_like(result, np.finfo(result.dtype).max), result)
        return xp.where(xp.isinf(result), largest, result)

    return computed


finite_add, finite_subtract = _finite("add"), _finite("subtract")
finite_multiply, finite_divide = _finite("multiply"), _finite("true_divide")


def _saturating(name: str) -> Any:
    def computed(xp: Any, *given: Buffer) -> Buffer:
        dtype = given[0].dtype
        if dtype.itemsize > 1:
            return getattr(xp, name)(*given)
        ends = np.iinfo(dtype)
        wide = getattr(xp, name)(*(x.astype("int32") for x in given))
        low, high = xp.full_like(wide, ends.min), xp.full_like(wide, ends.max)
        return xp.minimum(xp.maximum(wide, low), high).astype(dtype)

    return computed


saturating_add, saturating_subtract = _saturating("add"), _saturating("subtract")
saturating_multiply, saturating_negative = _saturating("multiply"), _saturating("negative")
saturating_abs = _saturating("absolute")


def times_power_of_two(xp: Any, x: Buffer, n: Buffer) -> Buffer:
    return saturating_multiply(xp, x, _power_of_two(xp, n))


@quietly
def over_power_of_two(xp: Any, x: Buffer, n: Buffer) -> Buffer:
    power = _power_of_two(xp, n).astype("float32")
    return _saturated(xp, xp.true_divide(x.astype("float32"), power), x.dtype)


def _power_of_two(xp: Any, n: Buffer) -> Buffer:
    """2 ** n by way of an int32, whose lowest number is what lies beyond it."""
    count = n.astype("int32")
    zero = xp.zeros_like(count)
    within = xp.logical_and(count >= 0, count < 31)
    power = xp.left_shift(xp.ones_like(count), xp.where(within, count, zero))
    beyond_all = xp.where(count < 0, zero, xp.full_like(count, -(2**31)))
    return _narrowed(xp, xp.where(within, power, beyond_all), n.dtype)


def _saturated(xp: Any, x: Buffer, dtype: Any) -> Buffer:
    """Floats as x86 makes an int32 of them, narrowed."""
    return _narrowed(xp, whole(xp, x, np.dtype("int32")), dtype)


def _narrowed(xp: Any, wide: Buffer, dtype: Any) -> Buffer:
    """An int32 saturated where there are 8 bits, else cut off."""
    if dtype.itemsize == 1:
        ends = np.iinfo(dtype)
        wide = xp.minimum(xp.maximum(wide, ends.min), ends.max)
    return wide.astype(dtype)


@quietly
def int8_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _in_int8(xp, xp.true_divide(x, y))


@quietly
def int8_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _in_int8(xp, xp.remainder(x, y))


def _in_int8(xp: Any, x: Buffer) -> Buffer:
    return _saturated(xp, x.astype("float32"), np.dtype("int8")).astype(x.dtype)


def infinite_exp(xp: Any, x: Buffer) -> Buffer:
    return xp.where(xp.isnan(x), xp.full_like(x, np.inf), xp.exp(x))


def not_less_equal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return ~xp.less_equal(x, y)


def not_less(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return ~xp.less(x, y)


def nan_last_less(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.less(x, y) | xp.isnan(y) & ~xp.isnan(x)


def nan_last_greater(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return nan_last_less(xp, y, x)


def nan_last_less_equal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.less_equal(x, y) | xp.isnan(y)


def nan_last_greater_equal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return nan_last_less_equal(xp, y, x)


def nan_last_equal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.equal(x, y) | xp.isnan(x) & xp.isnan(y)


def nan_last_not_equal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return ~nan_last_equal(xp, x, y)


def nan_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    nan = xp.full_like(x, beyond(x.dtype))
    return xp.where(y == 0, nan, xp.remainder(x, or_one(xp, y)))


def standard_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    lone = xp.isinf(x) & xp.isfinite(y) & ~is_zero(xp, y) | xp.isfinite(x) & xp.isinf(y)
    one = xp.ones_like(x)
    floor = xp.floor_divide(xp.where(lone, one, x), xp.where(lone, one, y))
    quotient = xp.true_divide(xp.where(lone, x, one), xp.where(lone, y, one))
    return xp.where(lone, quotient, floor)


def real_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    zero = is_zero(xp, y)
    floor = xp.floor(xp.true_divide(x, xp.where(zero, y.dtype.type(1), y)).real)
    return of_parts(xp, xp.where(zero, floor.dtype.type(0), floor), 0)


def real_floor_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.subtract(x, xp.multiply(real_floor_divide(xp, x, y), y))


@quietly
def nearest_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    zero = is_zero(xp, y)
    quotient = complex_arithmetic.nan_divide(xp, x, xp.where(zero, y.dtype.type(1), y))
    whole = of_parts(xp, _half_away(xp, quotient.real), _half_away(xp, quotient.imag))
    rest = xp.subtract(x, complex_arithmetic.plain_multiply(xp, whole, y))
    return xp.where(zero, rest.dtype.type(_NANS), rest)


def standard_expm1(xp: Any, x: Buffer) -> Buffer:
    finite, zero = xp.isfinite(x), xp.zeros_like(x)
    near = xp.expm1(xp.where(finite, x, zero))
    far = xp.exp(xp.where(finite, zero, x))  # its infinities are those of C99
    real = xp.where(finite, near.real, far.real - 1)
    return of_parts(
        xp, xp.where(is_zero(xp, x), zero.real, real), xp.where(finite, near.imag, far.imag)
    )


def standard_tanh(xp: Any, x: Buffer) -> Buffer:
    end = xp.isinf(x.real) & xp.isfinite(x.imag)
    inner, one = xp.tanh(xp.where(end, xp.zeros_like(x), x)), xp.ones_like(x.real)
    real = xp.where(end, xp.copysign(one, x.real), inner.real)
    imag = xp.where(end, xp.copysign(xp.zeros_like(one), x.imag), inner.imag)
    return of_parts(xp, real, imag)


# A scalar of a dtype, in place of an array of one value, which takes longer than an operation.
_NANS = complex(float("nan"), float("nan"))


def _clip(
    xp: Any,
    x: Buffer,
    bounds: tuple[Buffer, ...],
    low: bool,
    high: bool,
    above: Callable[[Buffer, Buffer], Buffer],
    below: Callable[[Buffer, Buffer], Buffer],
) -> Buffer:
    """``x`` where it is within, as ``above`` and ``below`` have it, and where it is NaN."""
    y = xp.where(above(x, bounds[0]) | (x != x), x, bounds[0]) if low else x
    y = xp.where(below(y, bounds[-1]) | (y != y), y, bounds[-1]) if high else y
    return y.copy() if y is x else y


def _half_away(xp: Any, x: Buffer) -> Buffer:
    """Round to nearest, halves away from zero, as C's ``round``."""
    down = xp.trunc(x)
    beyond_half = xp.abs(x - down) >= x.dtype.type(0.5)
    return down + xp.copysign(beyond_half.astype(x.dtype), x)  # a zero of the sign of x, or 1


def _double_pow(xp: Any, x: Buffer, y: Buffer, *, of_zero: int) -> Buffer:
    """Raise integers as float64 does, and make integers of that as x86 does."""
    zero, one = xp.zeros_like(x), xp.ones_like(x)
    # 1. What stays in the integers that x86 casts to, by logarithms, which do not overflow. No
    #    power but the bound itself comes as near to it as the logarithms are wrong.
    bits = 8 * x.dtype.itemsize
    bound = 64 if x.dtype == np.uint64 else 63 if x.dtype == np.uint32 or bits == 64 else 31
    size = xp.log2(xp.maximum(xp.abs(x.astype("float64")), 1.0))
    exponent = xp.where(y < 0, zero, y)
    within = size * exponent.astype("float64") < bound - 1e-12
    itself = xp.abs(x.astype("float64")) < 2.0**bound
    within = xp.where(exponent == 1, itself, within)
    # 2. These powers exactly, then rounded once to float64, as a good pow rounds them.
    wide = "uint64" if x.dtype == np.uint64 else "int64"
    exact = xp.power(xp.where(within, x, zero).astype(wide), exponent.astype(wide))
    power = exact.astype("float64").astype(wide).astype(x.dtype)
    power = xp.where(within, power, xp.full_like(x, beyond(x.dtype)))
    # 3. A negative power is a fraction, of which nothing is left unless x is 0, 1 or -1.
    odd = xp.bitwise_and(y, one) == 1
    inverse = xp.where(xp.logical_or(x == 1, x + one == 0), xp.where(odd, x, one), zero)
    inverse = xp.where(x == 0, xp.full_like(x, of_zero), inverse)
    return xp.where(y < 0, inverse, power)


def _as_registers(xp: Any, x: Buffer, count: Buffer) -> tuple[Buffer, Buffer]:
    """Numbers in registers of x86, and a count of which its low five or six bits are left."""
    wide = (
        x.dtype if x.dtype.itemsize > 4 else np.dtype("uint32" if x.dtype == np.uint32 else "int32")
    )
    mask = xp.full_like(x, 8 * wide.itemsize - 1)
    return x.astype(wide), xp.bitwise_and(count, mask).astype(wide)


def _within(xp: Any, count: Buffer) -> Buffer:
    last = xp.full_like(count, 8 * count.dtype.itemsize - 1)
    return xp.minimum(xp.maximum(count, xp.zeros_like(count)), last)
