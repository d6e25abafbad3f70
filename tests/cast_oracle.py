"""What every cast must give, by arithmetic that shares nothing with the kernels.

Values are exact: float64 holds those of every type but the 64-bit integers, whose are Python's
integers. A float target is the sorted list of its values; the nearest is found by search among the
midpoints, which float64 holds too, or by fractions. What the modes say is written down once more.
"""

from __future__ import annotations

import math
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


@cache
def midpoints(layout: Format) -> np.ndarray:
    """What lies half way from the value of each code to that of the next."""
    values = np.array([float(v) for v in [*magnitudes(layout), beyond(layout)]])
    return (values[1:] + values[:-1]) / 2


def nearest_codes(magnitudes_in: np.ndarray, layout: Format) -> np.ndarray:
    """Codes of the nearest values, ties to even; one more than the largest beyond it."""
    middle = midpoints(layout)
    code = np.searchsorted(middle, magnitudes_in, side="left")
    tie = magnitudes_in == middle[np.minimum(code, len(middle) - 1)]
    return code + (tie & (code % 2 == 1) & (code < len(middle)))


def nearest_code(magnitude: Fraction | int, layout: Format) -> int:
    """The same for one exact number and a format of any width."""
    if magnitude == 0:
        return 0
    above, below = magnitude.numerator, magnitude.denominator
    exponent = above.bit_length() - below.bit_length()
    exponent -= above << max(-exponent, 0) < below << max(exponent, 0)
    exponent = max(exponent, 1 - layout.bias)
    unit = exponent - layout.mantissa
    below <<= max(unit, 0)
    steps, rest = divmod(above << max(-unit, 0), below)
    steps += 2 * rest > below or (2 * rest == below and steps % 2)  # half to even
    code = steps + (exponent + layout.bias - 1 << layout.mantissa)
    return min(code, layout.largest + 1)


def through_float32(values: np.ndarray) -> np.ndarray:
    if values.dtype == object:
        layout = dt.float32.format
        codes = np.array([nearest_code(abs(v), layout) for v in values], np.uint32)
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
        codes = np.array([nearest_code(abs(v), layout) for v in values], np.uint64)
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


def exponent_and_fraction(value: float | int) -> tuple[int, float | Fraction]:
    """A positive number as 2 to an integer times what is from 1 up to 2, both exact."""
    if isinstance(value, int):  # a float64 does not hold all
        exponent = value.bit_length() - 1
        return exponent, Fraction(value, 1 << exponent)
    fraction, exponent = math.frexp(value)
    return exponent - 1, 2 * fraction


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
    floor, fraction = exponent_and_fraction(value)
    way = mode.scale_rounding
    up = fraction >= 1.5
    if way is ScaleRounding.UP or (
        way is ScaleRounding.NEAREST_BUT_LOWEST_UP and floor == -layout.bias
    ):
        up = fraction > 1
    if way is ScaleRounding.DOWN:
        up = False
    too_large = code_beyond(layout, mode.overflow)
    if mode.scale_strict and floor < -layout.bias:
        return nan
    if mode.scale_strict and (floor, fraction) > (layout.largest - layout.bias, 1):
        return too_large
    code = floor + up + layout.bias
    return too_large if code > layout.largest else max(code, 0)


# --- To integers --------------------------------------------------------------------------------
# Whole numbers come as float64, which holds them, NaN and Inf; codes go as 64 bits, of which
# the low ones count.


def low_bits(whole: np.ndarray) -> np.ndarray:
    """Two's complement of numbers from -2**63 up to 2**64."""
    size = np.abs(whole).astype(np.uint64)
    return np.where(whole < 0, ~size + np.uint64(1), size)


def clamped(whole: np.ndarray, bits: int, signed: bool) -> np.ndarray:
    """The nearest end of the range; 0 for NaN."""
    low, beyond_it = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    codes = low_bits(np.where((whole >= low) & (whole < beyond_it), whole, 0))
    codes[whole >= beyond_it] = beyond_it - 1
    codes[whole < low] = low & (1 << 64) - 1
    return codes


def register(whole: np.ndarray, bits: int) -> np.ndarray:
    """cvttss2si: what it cannot hold, NaN among it, is the lowest number."""
    lowest = -(1 << bits - 1)
    return low_bits(np.where((whole >= lowest) & (whole < -lowest), whole, lowest))


def by_halves(whole: np.ndarray, bits: int) -> np.ndarray:
    """An unsigned register: from its middle on, less the middle, which is then toggled."""
    middle = 1 << bits - 1
    upper = whole >= middle
    lower_half = register(np.where(upper, whole - middle, whole), bits)
    return np.where(upper, lower_half ^ np.uint64(middle), lower_half)


ARM = (ToInteger.ARM64, ToInteger.ARM64_SCALAR)


def integers_of(whole: np.ndarray, source: DType, target: DType, way: ToInteger) -> np.ndarray:
    """Codes of truncated numbers."""
    bits, signed = target.bits, target.kind is Kind.INT
    if way is ToInteger.SATURATE:
        return clamped(whole, bits, signed)
    if way is ToInteger.ACLNN:
        if bits == 64 or (bits == 32 and signed):
            return clamped(whole, bits, signed)
        return clamped(whole, 32 if signed else 64, True)
    if way is ToInteger.TORCH_CUDA:
        through_int64 = target is dt.uint8
        width = 64 if bits == 64 or through_int64 else 32
        of_nan = 1 << width - 1 if 64 in (width, source.bits) else 0
        held = clamped(whole, width, signed or through_int64)
        return np.where(np.isnan(whole), np.uint64(of_nan), held)
    if way in ARM:
        like_float32 = source in (dt.float32, dt.bfloat16, dt.float8_e8m0fnu) and bits <= 16
        in_vectors = way is ToInteger.ARM64
        width = 64 if bits == 64 or (in_vectors and source is dt.float64) else 32
        signed_there = in_vectors and bits < 64 and (like_float32 or source is dt.float64)
        held = clamped(whole, width, signed or signed_there)
        own = np.isinf(whole) & (source.bits <= 8)
        return np.where(own, clamped(whole, max(bits, 8), signed), held)
    if way is ToInteger.TENSORFLOW and bits in (8, 16):
        held = register(whole, 32).view(np.int64).astype(np.float64)
        if bits == 8 and not signed and source in (dt.float16, dt.float64):
            held = clamped(held, 16, False).astype(np.float64)
            held -= np.where(held >= 0x8000, 0x10000, 0)
        return clamped(held, bits, signed)
    if way is ToInteger.TENSORFLOW and not signed and bits >= 32:
        return np.where(whole >= 2.0**bits, np.uint64(1 << bits - 1), by_halves(whole, bits))
    if way is ToInteger.NUMPY and source.bits <= 8:
        by_register = integers_of(whole, source, target, ToInteger.X86)
        return np.where(np.isfinite(whole), by_register, clamped(whole, max(bits, 8), signed))
    if bits == 64:
        return register(whole, 64) if signed else by_halves(whole, 64)
    if bits == 32 and not signed:
        wide = source in (dt.float32, dt.float64, dt.bfloat16)
        return by_halves(whole, 32) if wide else register(whole, 64)
    return register(whole, 64 if way is ToInteger.TORCH and bits == 8 and not signed else 32)


def to_integer(values: np.ndarray, source: DType, target: DType, mode: CastMode) -> np.ndarray:
    mask = (1 << target.bits) - 1
    if source.kind is not Kind.FLOAT:
        return np.array([int(v) & mask for v in values.tolist()], codes_of(target))
    with np.errstate(invalid="ignore"):  # signalling NaN
        codes = integers_of(np.trunc(values), source, target, mode.to_integer)
    return (codes & np.uint64(mask)).astype(codes_of(target))


def expected(codes: np.ndarray, source: DType, target: DType, mode: CastMode) -> np.ndarray:
    """The codes that a cast of codes must give, bit by bit; neither type is complex."""
    if source is target and source is not dt.bool:
        return codes & codes.dtype.type((1 << source.bits) - 1)
    values = values_of(codes, source)
    if target.kind is Kind.BOOL:
        return (values != 0).astype(np.uint8)
    if target.kind is Kind.FLOAT:
        return to_float(values, target, mode)
    return to_integer(values, source, target, mode)
