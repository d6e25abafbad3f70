"""Transforms of casts: what frameworks do with codes that no mode can say.

A transform takes the codes of the source (unsigned integers), both dtypes and the codes the kernel
gave; it returns the codes to give. Most belong to quirks, so they are written to be plain, not
fast. A transform calls functions of NumPy's that treat every element alike, since kernels of a GPU
are written of it, too
(``promoarray.kernels.cuda.symbolic``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.dtypes import DType
from promoarray.kernels.cast_mode import DEFAULT, CastMode, ToInteger, Way

Codes = np.ndarray[Any, Any]

X86 = DEFAULT._replace(to_integer=ToInteger.X86)
LOWEST_NORMAL = 2.0**-126
"""The smallest normal number of float32."""


def cast_codes(codes: Codes, source: DType, target: DType, mode: CastMode = DEFAULT) -> Codes:
    """Cast codes to codes in a mode of the kernels."""
    if not isinstance(codes, np.ndarray):  # a symbol, of which a kernel is written
        return codes.cast(source, target, mode)
    out = np.empty(codes.shape, f"u{target.storage.itemsize}")
    kernels.cast(codes, out, kernels.dtype_args(source), kernels.dtype_args(target), mode)
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


def has_loop(way: Way) -> Callable[[Any], Any]:
    """Say by which way the kernels do a transform from float32, float64 and wide integers."""

    def marked(transform: Any) -> Any:
        transform.way = way
        return transform

    return marked


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
    mode: CastMode = X86

    @property
    def way(self) -> Way | None:
        """The way of the kernels, if there is one."""
        return Way.THROUGH_INT64 if self.middle is dt.int64 and self.mode is X86 else None

    def __call__(self, codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
        return cast_codes(cast_codes(codes, source, self.middle, self.mode), self.middle, target)


def real_part_counts(codes: Codes, source: DType, target: DType, out: Codes) -> Codes:
    """A complex number is true if its real part is; only that is given to transforms."""
    return cast_codes(codes, source, target)


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


def thresholds(transform: Any) -> tuple[float, ...] | None:
    """The magnitudes that a transform compares with; None if that is not known.

    Between them, but for zero, Inf and NaN, it treats all numbers of one sign alike.
    """
    if isinstance(transform, Between):
        return (transform.low,) if math.isnan(transform.high) else (transform.low, transform.high)
    if isinstance(transform, Flushed):
        return (transform.limit,)
    return () if isinstance(transform, NanIs) else None
