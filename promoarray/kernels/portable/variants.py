"""Kernels whose values are one framework's own; ``policies.kernels`` says what each is for.

Written with what NumPy and CuPy have in common: ``xp`` is either. No division by zero is carried
out, so that none of them warns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from promoarray.kernels.portable import xla

Buffer = Any


def of(xp: Any) -> dict[str, Callable[..., Buffer]]:
    """Return the kernels over the buffers of ``xp``, by name."""
    return {function.__name__: partial(function, xp) for function in _VARIANTS}


def checked_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.floor_divide(x, _not_zero(xp, x, y))


def checked_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.remainder(x, _not_zero(xp, x, y))


def remainder_keeping_zero(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    truncated = xp.fmod(x, y)
    return xp.where(truncated == 0, truncated, xp.remainder(x, y))


def checked_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.logical_and(x, _not_zero(xp, x, y))


def checked_clip(xp: Any, x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    if low and high and not bool(xp.all(bounds[0] <= bounds[1])):
        raise ValueError("clip: the lower bound must not be above the upper one, nor be NaN")
    return clip_beyond(xp, x, *bounds, low=low, high=high)


def floor_of_quotient(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.floor(xp.true_divide(x, y))


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
        return (x > bound) | (x == bound) & xp.signbit(bound)

    def below(x: Buffer, bound: Buffer) -> Buffer:
        return (x < bound) | (x == bound) & ~xp.signbit(bound)

    return _clip(xp, x, bounds, low, high, above, below)


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


def double_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _double_pow(xp, x, y, of_zero=_beyond(x.dtype))


def double_reciprocal_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _double_pow(xp, x, y, of_zero=0)


def six_bit_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    power = xp.power(x, xp.bitwise_and(y, xp.full_like(y, 63)))
    return xp.where(xp.logical_and(x == 0, y != 0), xp.zeros_like(power), power)


def nan_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    zero = y == 0
    quotient = x / xp.where(zero, xp.ones_like(y), y)
    nan = xp.full_like(quotient, complex(float("nan"), float("nan")))
    return xp.where(zero, nan, quotient)


def scaled(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return x * y + xp.zeros_like(x)


def scaled_by_reciprocal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return x * (1 / y.astype("float64")).astype(x.dtype) + xp.zeros_like(x)


def round_half_away(xp: Any, x: Buffer) -> Buffer:
    return _half_away(xp, x)


def scaled_negative(xp: Any, x: Buffer) -> Buffer:
    return x * -xp.ones_like(x) + xp.zeros_like(x)


def argmax_without_nan(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.argmax(xp.where(xp.isnan(x), xp.full_like(x, -float("inf")), x), **options)


def argmin_without_nan(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.argmin(xp.where(xp.isnan(x), xp.full_like(x, float("inf")), x), **options)


def single_atan2(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.arctan2(x.astype("float64"), y.astype("float64")).astype("float32")


def hypot_of_squares(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    squares = x * x + y * y
    return xp.sqrt(squares.astype("float32") if x.dtype.kind in "iu" else squares)


def exact_integer_mean(xp: Any, x: Buffer, *, axis: Any = None, keepdims: bool = False) -> Buffer:
    total = xp.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    return _towards_zero(xp, total, xp.full_like(total, max(x.size // max(total.size, 1), 1)))


def var_around_integer(
    xp: Any, x: Buffer, *, axis: Any = None, ddof: float = 0.0, keepdims: bool = False
) -> Buffer:
    mean = exact_integer_mean(xp, x, axis=axis, keepdims=True)
    return _var_around(xp, x, mean, axis, ddof, keepdims)


def std_around_integer(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.sqrt(var_around_integer(xp, x, **options))


def integer_var(
    xp: Any, x: Buffer, *, axis: Any = None, ddof: float = 0.0, keepdims: bool = False
) -> Buffer:
    mean = _whole(xp, xp.mean(x.astype("float32"), axis=axis, keepdims=True), x.dtype)
    return _whole(xp, _var_around(xp, x, mean, axis, ddof, keepdims), x.dtype)


def integer_std(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.sqrt(integer_var(xp, x, **options).astype("float32"))


def sign_without_nan(xp: Any, x: Buffer) -> Buffer:
    sign = xp.sign(x)
    return xp.where(xp.isnan(x), xp.zeros_like(sign), sign)


def sign_of_order(xp: Any, x: Buffer) -> Buffer:
    zero, nan = xp.zeros_like(x.real), xp.isnan(x.real) | xp.isnan(x.imag)
    first = xp.where(x.real == 0, xp.sign(x.imag), xp.sign(x.real))
    return _complex(xp, xp.where(nan, zero + float("nan"), first), zero)


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


def saturating_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    ends = np.iinfo(x.dtype)
    largest, smallest = xp.full_like(x, ends.max), xp.full_like(x, ends.min)
    by_zero = xp.where(x > 0, largest, xp.where(x < 0, smallest, x))
    return xp.where(y == 0, by_zero, xp.floor_divide(x, _or_one(xp, y)))


def nan_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    nan = xp.full_like(x, _beyond(x.dtype))
    return xp.where(y == 0, nan, xp.remainder(x, _or_one(xp, y)))


def standard_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    lone = xp.isinf(x) & xp.isfinite(y) & (y != 0) | xp.isfinite(x) & xp.isinf(y)
    one = xp.ones_like(x)
    floor = xp.floor_divide(xp.where(lone, one, x), xp.where(lone, one, y))
    return xp.where(lone, xp.where(lone, x, one) / xp.where(lone, y, one), floor)


def real_floor_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    zero = y == 0
    floor = xp.floor((x / xp.where(zero, xp.ones_like(y), y)).real)
    return _complex(xp, xp.where(zero, xp.zeros_like(floor), floor), xp.zeros_like(floor))


def real_floor_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return x - real_floor_divide(xp, x, y) * y


def nearest_remainder(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    zero = y == 0
    quotient = x / xp.where(zero, xp.ones_like(y), y)
    whole = _complex(xp, _half_away(xp, quotient.real), _half_away(xp, quotient.imag))
    rest = x - whole * y
    lost = xp.full_like(rest.real, float("nan"))
    return xp.where(zero, _complex(xp, lost, lost), rest)


def truncated_mean(xp: Any, x: Buffer, **options: Any) -> Buffer:
    total = xp.sum(x, dtype="uint64" if x.dtype.kind == "u" else "int64", **options)
    count = x.size // max(total.size, 1)
    return _towards_zero(xp, total, xp.full_like(total, max(count, 1))).astype(x.dtype)


def mean_or_zero(xp: Any, x: Buffer, **options: Any) -> Buffer:
    total = xp.sum(x, **options)
    return total / max(x.size // max(total.size, 1), 1)


def max_or_lowest(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.max(x, initial=_ends(x.dtype)[0], **options)


def min_or_highest(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.min(x, initial=_ends(x.dtype)[1], **options)


def _ends(dtype: Any) -> tuple[Any, Any]:
    """The lowest and the highest number."""
    if dtype.kind == "f":
        return -np.inf, np.inf
    return np.iinfo(dtype).min, np.iinfo(dtype).max


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
    *xla.KERNELS,
    checked_floor_divide,
    checked_remainder,
    remainder_keeping_zero,
    checked_divide,
    checked_clip,
    nan_divide,
    scaled,
    scaled_by_reciprocal,
    round_half_away,
    scaled_negative,
    argmax_without_nan,
    argmin_without_nan,
    single_atan2,
    hypot_of_squares,
    exact_integer_mean,
    var_around_integer,
    std_around_integer,
    integer_var,
    integer_std,
    floor_of_quotient,
    remainder_of_quotient,
    low_bound_last,
    clip_beyond,
    clip_up_to,
    clip_signed_zeros,
    left_shift_within,
    right_shift_within,
    reciprocal_pow,
    double_pow,
    double_reciprocal_pow,
    six_bit_pow,
    argmax_without_nan,
    argmin_without_nan,
    sign_without_nan,
    sign_of_order,
    truncated_divide,
    xla_divide,
    xla_remainder,
    xla_floor_divide,
    saturating_floor_divide,
    nan_remainder,
    standard_floor_divide,
    real_floor_divide,
    real_floor_remainder,
    nearest_remainder,
    truncated_mean,
    mean_or_zero,
    max_or_lowest,
    min_or_highest,
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
    return xp.where(xp.abs(x - down) >= 0.5, down + xp.copysign(xp.ones_like(x), x), down)


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
    # 2. These powers exactly, then rounded once to float64, as a good pow rounds them.
    wide = "uint64" if x.dtype == np.uint64 else "int64"
    exact = xp.power(xp.where(within, x, zero).astype(wide), exponent.astype(wide))
    power = exact.astype("float64").astype(wide).astype(x.dtype)
    power = xp.where(within, power, xp.full_like(x, _beyond(x.dtype)))
    # 3. A negative power is a fraction, of which nothing is left unless x is 0, 1 or -1.
    odd = xp.bitwise_and(y, one) == 1
    inverse = xp.where(xp.logical_or(x == 1, x + one == 0), xp.where(odd, x, one), zero)
    inverse = xp.where(x == 0, xp.full_like(x, of_zero), inverse)
    return xp.where(y < 0, inverse, power)


def _beyond(dtype: Any) -> int:
    """What x86 makes of NaN, and of a float that no integer of the dtype is."""
    return int(np.iinfo(dtype).min) if dtype.itemsize >= 4 else 0  # narrower ones by their low bits


def _whole(xp: Any, x: Buffer, dtype: Any) -> Buffer:
    """Floats as x86 makes them integers."""
    top = 2.0 ** (63 if dtype.itemsize == 8 else 31)
    within = (x >= -top) & (x < top)
    whole = xp.where(within, x, xp.zeros_like(x)).astype("int64").astype(dtype)
    return xp.where(within, whole, xp.full_like(whole, _beyond(dtype)))


def _var_around(xp: Any, x: Buffer, mean: Buffer, axis: Any, ddof: float, keepdims: bool) -> Buffer:
    """The squares of integers' gaps to a mean of integers, over their number in float32."""
    gaps = x - mean
    squares = xp.sum(gaps * gaps, axis=axis, keepdims=keepdims, dtype=x.dtype)
    freedom = max(x.size // max(squares.size, 1) - ddof, 0)
    return squares.astype("float32") / xp.full_like(squares, freedom, dtype="float32")


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
