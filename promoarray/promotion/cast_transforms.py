"""Transforms of casts: what frameworks do with codes that no mode can say.

A transform takes the codes of the source (unsigned integers), both dtypes and the codes the kernel
gave; it returns the codes to give. Most belong to quirks, so they are written to be plain, not
fast. A transform calls functions of NumPy's that treat every element alike, since kernels of a GPU
are written of it, too
(``promoarray.kernels.cuda.symbolic``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.dtypes import DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, CastMode, ToInteger

Codes = np.ndarray[Any, Any]

X86 = DEFAULT._replace(to_integer=ToInteger.X86)
LOWEST_NORMAL = 2.0**-126
"""The smallest normal number of float32."""


def cast_codes(codes: Codes, source: DType, target: DType, rule: CastMode = DEFAULT) -> Codes:
    """Cast codes to codes by a rule of the kernels."""
    if not isinstance(codes, np.ndarray):  # a symbol, of which a kernel is written
        return codes.cast(source, target, rule)
    out = np.empty(codes.shape, f"u{target.storage.itemsize}")
    kernels.cast(codes, out, kernels.dtype_args(source), kernels.dtype_args(target), rule)
    return out


def single(codes: Codes, source: DType) -> Codes:
    """The values in float32, rounded to it if need be."""
    return cast_codes(codes, source, dt.float32).view(np.float32)


def double(codes: Codes, source: DType) -> Codes:
    """The values in float64."""
    return cast_codes(codes, source, dt.float64).view(np.float64)


def rounded(codes: Codes, source: DType) -> Codes:
    """The values in float64, rounded to float32 first."""
    return double(single(codes, source).view(np.uint32), dt.float32)


def sign_bits(codes: Codes, source: DType, target: DType) -> Codes:
    """The sign of each value, where the target has its own."""
    assert target.format is not None
    width = target.format.exponent + target.format.mantissa
    negative = np.signbit(single(codes, source))
    return (negative.astype(np.uint64) << np.uint64(width)).astype(f"u{target.storage.itemsize}")


@dataclass(frozen=True, slots=True)
class Between:
    """What lies between two magnitudes, the lower one included, becomes a code.

    ``signed``: with the sign of the value; else it is about positive values only. ``exact``: it is
    about the source's own values; else about those rounded to float32.
    """

    low: float
    code: int
    high: float = math.nan
    signed: bool = True
    exact: bool = False

    def __call__(self, codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
        x = double(codes, source) if self.exact else rounded(codes, source)
        size = np.abs(x) if self.signed else x
        inside = (size >= self.low) & ~(size >= self.high)
        return np.where(inside, _signed(self, codes, source, target, out), out)


@dataclass(frozen=True, slots=True)
class NanIs:
    """NaN becomes a code, with its sign if ``signed``."""

    code: int
    signed: bool = True

    def __call__(self, codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
        becomes = _signed(self, codes, source, target, out)
        return np.where(np.isnan(single(codes, source)), becomes, out)


def _signed(
    transform: Between | NanIs, codes: Codes, source: DType, target: DType, out: Codes
) -> Codes:
    code = out.dtype.type(transform.code)
    signed: Codes = sign_bits(codes, source, target) | code if transform.signed else code
    return signed


@dataclass(frozen=True, slots=True)
class CodeIs:
    """One code of the source becomes one of the target."""

    given: int
    code: int

    def __call__(self, codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
        return np.where(codes == self.given, out.dtype.type(self.code), out)


@dataclass(frozen=True, slots=True)
class Through:
    """A float goes through an integer dtype; of what that gives the low bits are kept."""

    middle: DType

    def __call__(self, codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
        return cast_codes(cast_codes(codes, source, self.middle, X86), self.middle, target)


def real_part_counts(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """A complex number is true if its real part is; only that is given to transforms."""
    return cast_codes(codes, source, target)


def packed_by_halves(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """The same, but by way of uint16, whose upper half is then taken for negative numbers."""
    half = packed(codes, source, dt.uint16, np.empty(0, np.uint16)).view(np.int16)
    return np.clip(half, 0, 255).astype(out.dtype)


def packed(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """A float goes through int32, whose lowest number stands for all it cannot hold; then saturate.

    That is how vectors of integers are packed on x86-64.
    """
    whole = cast_codes(codes, source, dt.int32, X86).view(np.int32)
    top = (1 << target.bits - (target.kind is Kind.INT)) - 1
    low = -top - 1 if target.kind is Kind.INT else 0
    return np.clip(whole, low, top).astype(np.int64).astype(out.dtype)


def half_away(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """Round half away from zero instead of truncating, then keep the low bits."""
    x = double(codes, source)
    few = np.abs(x) < 2.0**52
    inside = np.where(few, x, 0.0)
    exact = np.where(few, np.trunc(inside + np.copysign(0.5, inside)), x)
    return cast_codes(exact.view(np.uint64), dt.float64, target, X86)


@dataclass(frozen=True, slots=True)
class Flushed:
    """What is smaller than a limit becomes zero, with its sign where there is one.

    ``made``: it is about values rounded to float32, else about the source's own.
    """

    limit: float
    made: bool = False

    def __call__(self, codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
        x = double(codes, source)
        size = np.abs(rounded(codes, source) if self.made else x)
        zero = cast_codes(np.zeros(1, np.uint64), dt.float64, target)[0]
        layout = target.format
        if layout is not None and layout.negative_zero:
            zero = zero | sign_bits(codes, source, target)
        return np.where((size < self.limit) & (x != 0), zero, out)


def truncated_bfloat16(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """The upper half of the float32, without rounding."""
    bits = single(codes, source).view(np.uint32)
    return (bits >> np.uint32(16)).astype(np.uint16)


def by_halves(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """A short float goes through float32 to uint32."""
    return cast_codes(single(codes, source).view(np.uint32), dt.float32, target, X86)


def six_is_an_end(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """The largest value of float4 is taken for an infinity: it becomes an end of the integers."""
    top = (1 << target.bits - (target.kind is Kind.INT)) - 1
    low = (1 << target.bits - 1) if target.kind is Kind.INT else 0
    ends = np.where(codes == 0xF, out.dtype.type(low), out)
    return np.where(codes == 0x7, out.dtype.type(top), ends)


def paddle_2_float16(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """Truncate, and let all above 65504 be Inf."""
    x = single(codes, source)
    size = np.abs(rounded(codes, source))
    down = cast_codes(size.view(np.uint64), dt.float64, dt.float16)
    above = cast_codes(down, dt.float16, dt.float64).view(np.float64) > size
    down = np.where(above & np.isfinite(size), down - np.uint16(1), down)
    down = np.where(size > 65504.0, np.uint16(0x7C00), down)
    return np.where(np.isnan(x), out, down | sign_bits(codes, source, target))


def paddle_3_float16(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """Shift the significands of tiny numbers by too much, which x86-64 takes modulo 64."""
    bits = single(codes, source).view(np.uint32).astype(np.uint64)
    exponent = bits >> np.uint64(23) & np.uint64(0xFF)
    significand = bits & np.uint64(0x7FFFFF) | np.uint64(0x800000)
    shift = (np.uint64(113) - exponent) & np.uint64(63)
    wide = significand << np.uint64(_PRECISION) >> shift
    odd = wide >> np.uint64(_MANTISSA) & np.uint64(1)
    half = np.uint64((1 << _MANTISSA - 1) - 1)
    code = (wide + half + odd >> np.uint64(_MANTISSA)).astype(np.uint16)
    tiny = exponent < np.uint64(113 - 63)
    return np.where(tiny, code | sign_bits(codes, source, target), out)


_PRECISION, _MANTISSA = 40, 53
