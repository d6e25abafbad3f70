"""What every cast must give, by arithmetic that shares nothing with the kernels.

Values are exact: float64 holds those of every type but the 64-bit integers, whose are Python's
integers. A float target is the sorted list of its values; the nearest is found by search among the
midpoints, which float64 holds too, or by fractions. What the modes say is written down once more.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Format, Kind
from promoarray.kernels import (
    Beyond,
    CastMode,
    NanWithout,
    ScaleNegative,
    ScaleRounding,
    ScaleZero,
    ToInteger,
)

PARTS = {dt.complex32: dt.float16, dt.complex64: dt.float32, dt.complex128: dt.float64}
HUGE = 10**400
"""An integer beyond every type, in the place of Inf."""


def codes_of(dtype: DType) -> np.dtype:
    """The unsigned integers that hold its codes."""
    return np.dtype(f"u{max(dtype.bits // 8, 1)}")


def every_code(dtype: DType) -> np.ndarray:
    return np.arange(1 << dtype.bits).astype(codes_of(dtype))


# --- Values of codes ----------------------------------------------------------------------------


def value_of_code(layout: Format, code: int) -> Fraction:
    """The exact value of a finite code without sign: the definition, in no hurry."""
    exponent, mantissa = divmod(code, 1 << layout.mantissa)
    fraction = Fraction(mantissa, 1 << layout.mantissa)
    if not layout.signed or exponent > 0:
        fraction += 1
    else:
        exponent = 1
    return fraction * Fraction(2) ** (exponent - layout.bias)


@cache
def magnitudes(layout: Format) -> list[Fraction]:
    """The values of all codes from 0 to the largest."""
    return [value_of_code(layout, code) for code in range(layout.largest + 1)]


@cache
def beyond(layout: Format) -> Fraction:
    """The value that would follow the largest: half way to it, overflow begins."""
    last = layout.largest >> layout.mantissa
    return magnitudes(layout)[-1] + Fraction(2) ** (max(last, 1) - layout.bias - layout.mantissa)


@cache
def table(dtype: DType) -> np.ndarray:
    """The float64 value of every code of a float of at most 16 bits, NaN with its sign."""
    layout = dtype.format
    assert layout is not None
    positive = [float(v) for v in magnitudes(layout)]
    half = 1 << (layout.exponent + layout.mantissa)
    values = np.full(half * (2 if layout.signed else 1), np.nan)
    values[: len(positive)] = positive
    if layout.inf is not None:
        values[layout.inf] = np.inf
    if layout.signed:
        values[half:] = -values[:half]
        if layout.nan == half:
            values[half] = -np.nan
    return values


def values_of(codes: np.ndarray, dtype: DType) -> np.ndarray:
    """Values of codes: float64, or Python's integers for 64-bit ones."""
    if dtype.kind is Kind.BOOL:
        return (codes != 0).astype(np.float64)
    if dtype.kind is Kind.FLOAT:
        if dtype.bits <= 16:
            return table(dtype)[codes & (len(table(dtype)) - 1)]
        with np.errstate(invalid="ignore"):  # signalling NaN
            return codes.view(f"f{dtype.bits // 8}").astype(np.float64)
    wide = [int(c) & (1 << dtype.bits) - 1 for c in codes.tolist()]
    if dtype.kind is Kind.INT:
        wide = [c - (c >> (dtype.bits - 1) << dtype.bits) for c in wide]
    return np.array(wide, object if dtype.bits == 64 else np.float64)


# --- To floats ----------------------------------------------------------------------------------


def code_beyond(layout: Format, choice: Beyond) -> int:
    if choice is Beyond.INF and layout.inf is not None:
        return layout.inf
    return layout.nan if choice is not Beyond.LARGEST and layout.nan is not None else layout.largest


def code_of_nan(layout: Format, negative: bool, mode: CastMode) -> int:
    sign = 1 << (layout.exponent + layout.mantissa)
    negative = negative and mode.keep_nan_sign
    if layout.nan is None:
        return {
            NanWithout.OPPOSITE_ZERO: 0 if negative else sign,
            NanWithout.ZERO: 0,
            NanWithout.LARGEST: layout.largest | (sign if negative else 0),
        }[mode.nan_without]
    one_nan = not layout.negative_zero
    return layout.nan | (sign if negative and not one_nan else 0)


def nearest_codes(magnitudes_in: np.ndarray, layout: Format) -> np.ndarray:
    """Codes of the nearest values, ties to even; one more than the largest beyond it."""
    values = np.array([float(v) for v in [*magnitudes(layout), beyond(layout)]])
    middle = (values[1:] + values[:-1]) / 2
    code = np.searchsorted(middle, magnitudes_in, side="left")
    tie = magnitudes_in == middle[np.minimum(code, len(middle) - 1)]
    return code + (tie & (code % 2 == 1) & (code < len(middle)))


def nearest_code(magnitude: Fraction, layout: Format) -> int:
    """The same for one fraction and a format of any width."""
    if magnitude == 0:
        return 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > magnitude
    exponent = max(exponent, 1 - layout.bias)
    steps = round(magnitude / Fraction(2) ** (exponent - layout.mantissa))  # half to even
    code = steps + (exponent + layout.bias - 1 << layout.mantissa)
    return min(code, layout.largest + 1)


def through_float32(values: np.ndarray) -> np.ndarray:
    if values.dtype == object:
        layout = dt.float32.format
        codes = np.array([nearest_code(Fraction(abs(v)), layout) for v in values], np.uint32)
        return np.array([-1.0 if v < 0 else 1.0 for v in values]) * codes.view(np.float32)
    with np.errstate(all="ignore"):
        return values.astype(np.float32).astype(np.float64)


def to_float(values: np.ndarray, target: DType, mode: CastMode) -> np.ndarray:
    layout = target.format
    if mode.via_float32 and target.bits < 32:
        values = through_float32(values)
    if not layout.signed:
        return to_scale(values, layout, mode)
    sign = np.uint64(1 << (layout.exponent + layout.mantissa))
    exact = values.dtype == object
    negative = np.array([v < 0 for v in values]) if exact else np.signbit(values)
    nan = np.zeros(len(values), bool) if exact else np.isnan(values)
    if exact:
        codes = np.array([nearest_code(Fraction(abs(v)), layout) for v in values], np.uint64)
    elif target.bits <= 16:
        codes = nearest_codes(np.abs(values), layout).astype(np.uint64)
    else:
        with np.errstate(all="ignore"):
            codes = np.abs(values).astype(target.storage).view(codes_of(target)).astype(np.uint64)
    infinite = np.zeros(len(values), bool) if exact else np.isinf(values)
    over = ~infinite & ~nan & (codes > layout.largest)
    codes[over] = code_beyond(layout, mode.overflow)
    codes[infinite] = code_beyond(layout, mode.infinity)
    codes[negative & ((codes != 0) | layout.negative_zero)] |= sign
    codes[nan & ~negative] = code_of_nan(layout, False, mode)
    codes[nan & negative] = code_of_nan(layout, True, mode)
    return codes.astype(codes_of(target))


def to_scale(values: np.ndarray, layout: Format, mode: CastMode) -> np.ndarray:
    codes = [scale_of(v, layout, mode) for v in values.tolist()]
    return np.array(codes, np.uint8)


def scale_of(value: float | int, layout: Format, mode: CastMode) -> int:
    nan = layout.nan
    if value != value:
        return nan
    if value == 0:
        return 0 if mode.scale_zero is ScaleZero.SMALLEST else nan
    if value < 0:
        if mode.scale_negative is not ScaleNegative.ABSOLUTE:
            return 0 if mode.scale_negative is ScaleNegative.SMALLEST else nan
        value = -value
    if value == float("inf"):
        return layout.largest if mode.infinity is Beyond.LARGEST else nan
    exact = Fraction(value)
    floor = exact.numerator.bit_length() - exact.denominator.bit_length()
    floor -= Fraction(2) ** floor > exact
    fraction = exact / Fraction(2) ** floor
    way = mode.scale_rounding
    up = fraction >= Fraction(3, 2)
    if way is ScaleRounding.UP or (
        way is ScaleRounding.NEAREST_BUT_LOWEST_UP and floor == -layout.bias
    ):
        up = fraction > 1
    if way is ScaleRounding.DOWN:
        up = False
    too_large = code_beyond(layout, mode.overflow)
    if mode.scale_strict and exact < Fraction(2) ** -layout.bias:
        return nan
    if mode.scale_strict and exact > Fraction(2) ** (layout.largest - layout.bias):
        return too_large
    code = floor + up + layout.bias
    return too_large if code > layout.largest else max(code, 0)


# --- To integers --------------------------------------------------------------------------------


def clamped(number: int, bits: int, signed: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return min(max(number, low), high)


def register(number: int | None, bits: int) -> int:
    """cvttss2si: what it cannot hold, NaN among it, is the lowest number."""
    lowest = -(1 << bits - 1)
    return number if number is not None and lowest <= number < -lowest else lowest


def by_halves(number: int | None, bits: int) -> int:
    """An unsigned register: from its middle on, less the middle, which is then toggled."""
    middle = 1 << bits - 1
    if number is not None and number >= middle:
        return register(number - middle, bits) ^ middle
    return register(number, bits)


def integer_of(number: int | None, source: DType, target: DType, way: ToInteger) -> int:
    """One number, truncated; NaN is None and Inf is HUGE. The low bits count."""
    bits, signed = target.bits, target.kind is Kind.INT
    if way is ToInteger.SATURATE:
        return 0 if number is None else clamped(number, bits, signed)
    if way is ToInteger.ACLNN:
        if number is None:
            return 0
        if bits == 64 or (bits == 32 and signed):
            return clamped(number, bits, signed)
        return clamped(number, 32 if signed else 64, True)
    if way is ToInteger.TENSORFLOW and bits in (8, 16):
        whole = register(number, 32)
        if bits == 8 and not signed and source in (dt.float16, dt.float64):
            whole = clamped(whole, 16, False)
            whole -= 0x10000 if whole >= 0x8000 else 0
        return clamped(whole, bits, signed)
    if way is ToInteger.TENSORFLOW and not signed and bits >= 32:
        beyond_it = number is not None and number >= 1 << bits
        return 1 << bits - 1 if beyond_it else by_halves(number, bits)
    if way is ToInteger.NUMPY and source.bits <= 8:
        if number is None:
            return 0
        if abs(number) == HUGE:
            return clamped(number, max(bits, 8), signed)
    if bits == 64:
        return register(number, 64) if signed else by_halves(number, 64)
    if bits == 32 and not signed:
        wide = source in (dt.float32, dt.float64, dt.bfloat16)
        return by_halves(number, 32) if wide else register(number, 64)
    return register(number, 64 if way is ToInteger.TORCH and bits == 8 and not signed else 32)


def to_integer(values: np.ndarray, source: DType, target: DType, mode: CastMode) -> np.ndarray:
    mask = (1 << target.bits) - 1
    if source.kind is not Kind.FLOAT:
        return np.array([int(v) & mask for v in values.tolist()], codes_of(target))
    with np.errstate(invalid="ignore"):  # signalling NaN
        whole, where = np.unique(np.trunc(values), return_inverse=True)

    def one(value: float) -> int:
        if value != value or abs(value) == np.inf:
            number = None if value != value else HUGE if value > 0 else -HUGE
        else:
            number = int(value)
        return integer_of(number, source, target, mode.to_integer) & mask

    return np.array([one(v) for v in whole.tolist()], codes_of(target))[where]


def expected(codes: np.ndarray, source: DType, target: DType, mode: CastMode) -> np.ndarray:
    """The codes that a cast of codes must give, bit by bit; neither type is complex."""
    if source is target and source is not dt.bool:
        return codes & codes.dtype.type((1 << source.bits) - 1)
    values = values_of(codes, source)
    if target.kind is Kind.BOOL:
        return np.array([v != 0 for v in values], np.uint8)
    if target.kind is Kind.FLOAT:
        return to_float(values, target, mode)
    return to_integer(values, source, target, mode)
