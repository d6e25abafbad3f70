"""Products, quotients and sums of complex numbers as single frameworks make them of their parts.

NumPy rounds once in a sum of two products where the machine can (a fused multiply-add), by the
widest instructions it finds; PyTorch rounds every product, XLA one of two. ``xp`` is NumPy or CuPy.
Over NumPy's buffers they are traced, and C++ has the fused multiply-add.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Buffer = Any

quietly = np.errstate(all="ignore")
"""Of kernels that go through infinities and NaN on their way to an answer."""


def of_parts(xp: Any, real: Buffer, imag: Buffer | int) -> Buffer:
    """Complex numbers of their parts: a sum would turn an infinite part into a NaN."""
    out = xp.empty(real.shape, f"c{2 * real.itemsize}")
    out.real, out.imag = real, imag
    return out


def fused(xp: Any, x: Buffer, y: Buffer, z: Buffer) -> Buffer:
    """``x * y + z``, rounded once, as one instruction of most machines makes it."""
    if xp is not np:  # a GPU has it, and CuPy's own casts and products flush float32 subnormals
        return xp.fma(x, y, z)
    if x.dtype == np.float32:  # whose products float64 has exactly
        product = x.astype("float64") * y.astype("float64")
        return _odd_sum(xp, product, z.astype("float64")).astype("float32")
    # S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms
    # using rounding to odd (2008), after Dekker's product and Knuth's sum.
    product = x * y
    (a, b), (c, d) = _halves(x), _halves(y)
    lost = ((a * c - product) + a * d + b * c) + b * d
    low, lower = _sum(z, lost)
    high, beside = _sum(product, low)
    found, plain = high + _odd_sum(xp, beside, lower), product + z
    # A finite product beside an infinity, and one too small beside a zero, whose sign is its own.
    plain = xp.where(xp.isinf(z) & xp.isfinite(x) & xp.isfinite(y), z, plain)
    plain = xp.where((product == 0) & (x != 0) & (y != 0) & (z == 0), product, plain)
    return xp.where(xp.isnan(found) | ((found == 0) & (plain == 0)), plain, found)


def _sum(x: Buffer, y: Buffer) -> tuple[Buffer, Buffer]:
    """A sum, and what its rounding lost."""
    total = x + y
    back = total - x
    return total, (x - (total - back)) + (y - back)


def _odd_sum(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """A sum of float64 that is odd in its last bit where it is rounded: to round it once more, to
    fewer bits, is then to round the sum itself."""
    total, lost = _sum(x, y)
    even = (total.view("int64") & 1) == 0
    towards = xp.copysign(xp.full_like(total, np.inf), lost)
    inexact = xp.isfinite(lost) & (lost != 0)
    return xp.where(even & inexact, xp.nextafter(total, towards), total)


def _halves(x: Buffer) -> tuple[Buffer, Buffer]:
    """The upper half of the bits of float64, and the lower half."""
    large = x * 134217729.0  # 2**27 + 1
    upper = large - (large - x)
    return upper, x - upper


def plain_multiply(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    (a, b), (c, d) = (x.real, x.imag), (y.real, y.imag)
    return of_parts(xp, a * c - b * d, a * d + b * c)


@quietly
def standard_multiply(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """As C has it (Annex G): where both parts are NaN, the product with an infinity is one."""
    product = plain_multiply(xp, x, y)
    infinite = xp.isinf(x) | xp.isinf(y)
    boxed = plain_multiply(xp, _boxed(xp, x), _boxed(xp, y))
    found = of_parts(xp, np.inf * boxed.real, np.inf * boxed.imag)
    return xp.where(infinite & xp.isnan(product.real) & xp.isnan(product.imag), found, product)


def _boxed(xp: Any, x: Buffer) -> Buffer:
    """An infinity as a corner or the middle of a side of a square; without NaN."""
    unit = of_parts(xp, _unit(xp, x.real), _unit(xp, x.imag))
    return xp.where(xp.isinf(x), unit, of_parts(xp, _number(xp, x.real), _number(xp, x.imag)))


def _number(xp: Any, part: Buffer) -> Buffer:
    """0 for NaN."""
    return xp.where(xp.isnan(part), xp.zeros_like(part), part)


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
    return xp.where(_is_zero(xp, y), by_zero, quotient)


def fused_reciprocal(xp: Any, x: Buffer) -> Buffer:
    return fused_divide(xp, xp.ones_like(x), x)


@quietly
def nan_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    quotient = _fused_quotient(xp, x, y, fuses_divisor=False)
    nan = xp.full_like(quotient.real, np.nan)
    return xp.where(_is_zero(xp, y), of_parts(xp, nan, nan), quotient)


@quietly
def nan_reciprocal(xp: Any, x: Buffer) -> Buffer:
    found = nan_divide(xp, xp.ones_like(x), x)
    infinite = xp.isinf(x.real) | xp.isinf(x.imag)
    return xp.where(infinite, of_parts(xp, xp.abs(found.real), xp.abs(found.imag)), found)


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
    (e, f), (g, h) = (_unit(xp, a), _unit(xp, b)), (_unit(xp, c), _unit(xp, d))
    x_finite, y_finite = xp.isfinite(a) & xp.isfinite(b), xp.isfinite(c) & xp.isfinite(d)
    x_infinite, y_infinite = xp.isinf(a) | xp.isinf(b), xp.isinf(c) | xp.isinf(d)
    end = xp.copysign(xp.full_like(c, np.inf), c)
    cases = (
        (x_finite & y_infinite, _along(xp, a, b, g, h, 0)),
        (x_infinite & y_finite, _along(xp, e, f, c, d, np.inf)),
        (_is_zero(xp, y) & ~(xp.isnan(a) & xp.isnan(b)), (end * a, end * b)),
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


def _unit(xp: Any, part: Buffer) -> Buffer:
    """1 with its sign for an infinity, else 0 with its sign."""
    return xp.copysign(xp.where(xp.isinf(part), xp.ones_like(part), xp.zeros_like(part)), part)


def _is_zero(xp: Any, x: Buffer) -> Buffer:
    return xp.equal(x, xp.zeros_like(x))


KERNELS = (
    plain_multiply,
    plain_square,
    add_scaled,
    subtract_scaled,
    fused_divide,
    fused_reciprocal,
    scaled_add,
    scaled_subtract,
    nan_divide,
    nan_reciprocal,
    xla_multiply,
    xla_square,
    xla_complex_divide,
    xla_reciprocal,
)
