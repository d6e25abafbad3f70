"""Products, quotients and sums of complex numbers as single frameworks make them of their parts.

PyTorch rounds every product of a sum of two, XLA one of them. ``xp`` is NumPy or CuPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.kernels.portable.steps import fused, is_zero, of_parts, quietly, unit

Buffer = Any


def plain_multiply(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    (a, b), (c, d) = (x.real, x.imag), (y.real, y.imag)
    return of_parts(xp, a * c - b * d, a * d + b * c)


def plain_square(xp: Any, x: Buffer) -> Buffer:
    return plain_multiply(xp, x, x)


def add_scaled(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _add_scaled(xp, x, y, 1)


def subtract_scaled(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _add_scaled(xp, x, y, -1)


@quietly
def _add_scaled(xp: Any, x: Buffer, y: Buffer, one: int) -> Buffer:
    zeros, ones = xp.zeros_like(y.real), xp.full_like(y.real, one)
    real, imag = y.real * ones - y.imag * zeros, y.real * zeros + y.imag * ones
    return of_parts(xp, x.real + real, x.imag + imag)


def scaled_add(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _scaled_add(xp, x, y, 1)


def scaled_subtract(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _scaled_add(xp, x, y, -1)


@quietly
def _scaled_add(xp: Any, x: Buffer, y: Buffer, sign: int) -> Buffer:
    """``1 * x + y`` or ``1 * x - y`` of a real number ``y``: its imaginary part is 0 in both."""
    zeros, ones = xp.zeros_like(x.real), xp.ones_like(x.real)
    real, imag = x.real * ones - x.imag * zeros, x.real * zeros + x.imag * ones
    return of_parts(xp, real + (y.real if sign > 0 else -y.real), imag + y.imag)


@quietly
def fused_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    quotient = _fused_quotient(xp, x, y, fuses_divisor=True)
    by_zero = of_parts(xp, x.real / xp.abs(y.real), x.imag / xp.abs(y.imag))
    return xp.where(is_zero(xp, y), by_zero, quotient)


def fused_reciprocal(xp: Any, x: Buffer) -> Buffer:
    return fused_divide(xp, xp.ones_like(x), x)


@quietly
def nan_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    quotient = _fused_quotient(xp, x, y, fuses_divisor=False)
    nan = xp.full_like(quotient.real, np.nan)
    return xp.where(is_zero(xp, y), of_parts(xp, nan, nan), quotient)


@quietly
def nan_reciprocal(xp: Any, x: Buffer) -> Buffer:
    found = nan_divide(xp, xp.ones_like(x), x)
    infinite = xp.isinf(x.real) | xp.isinf(x.imag)
    return xp.where(infinite, of_parts(xp, xp.abs(found.real), xp.abs(found.imag)), found)


@quietly
def sign_of_parts(xp: Any, x: Buffer) -> Buffer:
    return xp.where(is_zero(xp, x), xp.zeros_like(x), _by_modulus(xp, x))


@quietly
def sign_of_parts_keeping_zero(xp: Any, x: Buffer) -> Buffer:
    return xp.where(is_zero(xp, x), x, _by_modulus(xp, x))


@quietly
def sign_of_quotient(xp: Any, x: Buffer) -> Buffer:
    quotient = _fused_quotient(xp, x, of_parts(xp, xp.abs(x), 0), fuses_divisor=True)
    return xp.where(is_zero(xp, x), xp.zeros_like(x), quotient)


def _by_modulus(xp: Any, x: Buffer) -> Buffer:
    modulus = xp.abs(x)
    return of_parts(xp, x.real / modulus, x.imag / modulus)


def _fused_quotient(xp: Any, x: Buffer, y: Buffer, *, fuses_divisor: bool) -> Buffer:
    """NumPy's quotient, of whose sums of products one is not rounded."""
    by_real = xp.abs(y.real) >= xp.abs(y.imag)
    large, small = xp.where(by_real, y.real, y.imag), xp.where(by_real, y.imag, y.real)
    ratio = small / large
    size = fused(xp, small, ratio, large) if fuses_divisor else small * ratio + large
    one = size.dtype.type(1)
    first, second = xp.where(by_real, x.real, x.imag), xp.where(by_real, x.imag, x.real)
    real = fused(xp, second, ratio, first)
    imag = xp.where(by_real, fused(xp, -first, ratio, second), fused(xp, first, ratio, -second))
    return of_parts(xp, real * (one / size), imag * (one / size))


@quietly
def xla_multiply(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    (a, b), (c, d) = (x.real, x.imag), (y.real, y.imag)
    return of_parts(xp, fused(xp, a, c, -(b * d)), fused(xp, b, c, a * d))


@quietly
def xla_square(xp: Any, x: Buffer) -> Buffer:
    a, b = x.real, x.imag
    alike = xp.isfinite(a) & (xp.abs(a) == xp.abs(b))
    return of_parts(xp, xp.where(alike, xp.zeros_like(a), (a - b) * (a + b)), a * b + a * b)


@quietly
def xla_complex_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    # 1. Smith's quotient, by the larger part of the divisor.
    (a, b), (c, d) = (x.real, x.imag), (y.real, y.imag)
    by_imag = xp.abs(c) < xp.abs(d)
    large, small = xp.where(by_imag, d, c), xp.where(by_imag, c, d)
    ratio = small / large
    size = fused(xp, ratio, small, large)
    of_imag = fused(xp, a, ratio, b) / size, fused(xp, b, ratio, -a) / size
    of_real = fused(xp, b, ratio, a) / size, fused(xp, -a, ratio, b) / size
    real, imag = (xp.where(by_imag, *both) for both in zip(of_imag, of_real, strict=True))
    # 2. Where both parts are NaN: something by zero, infinite by finite, finite by infinite.
    lost = xp.isnan(real) & xp.isnan(imag)
    (e, f), (g, h) = (unit(xp, a), unit(xp, b)), (unit(xp, c), unit(xp, d))
    x_finite, y_finite = xp.isfinite(a) & xp.isfinite(b), xp.isfinite(c) & xp.isfinite(d)
    x_infinite, y_infinite = xp.isinf(a) | xp.isinf(b), xp.isinf(c) | xp.isinf(d)
    end = xp.copysign(xp.full_like(c, np.inf), c)
    cases = (
        (x_finite & y_infinite, _along(xp, a, b, g, h, 0)),
        (x_infinite & y_finite, _along(xp, e, f, c, d, np.inf)),
        (is_zero(xp, y) & ~(xp.isnan(a) & xp.isnan(b)), (end * a, end * b)),
    )
    for condition, parts in cases:
        real = xp.where(lost & condition, parts[0], real)
        imag = xp.where(lost & condition, parts[1], imag)
    return of_parts(xp, real, imag)


def xla_reciprocal(xp: Any, x: Buffer) -> Buffer:
    return xla_complex_divide(xp, xp.ones_like(x), x)


def _along(
    xp: Any, a: Buffer, b: Buffer, c: Buffer, d: Buffer, scale: float
) -> tuple[Buffer, Buffer]:
    """``a + bi`` times the conjugate of ``c + di``, and a number."""
    factor = xp.full_like(a, scale)
    return factor * fused(xp, a, c, b * d), factor * fused(xp, b, c, -(a * d))
