"""Steps that several kernels share. ``xp`` is NumPy or CuPy.

NumPy rounds once in a sum of two products where the machine can (a fused multiply-add), by the
widest instructions it finds. Over NumPy's buffers that is traced, and C++ has it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

Buffer = Any

quietly = np.errstate(all="ignore")
"""Of kernels that go through infinities and NaN on their way to an answer."""


def kernels_of(module: ModuleType) -> dict[str, Callable[..., Buffer]]:
    """Return the kernels that a module defines: its functions but those behind an underscore."""
    return {
        name: function
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    }


def is_zero(xp: Any, x: Buffer) -> Buffer:
    """Where ``x`` is 0 or -0; CuPy's own ``==`` takes float32 subnormals for it, too."""
    return xp.equal(x, xp.zeros_like(x))


# --- Integers ------------------------------------------------------------------------------------


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


def ends(dtype: Any) -> tuple[Any, Any]:
    """The lowest and the highest number."""
    if dtype.kind == "f":
        return -np.inf, np.inf
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def whole(xp: Any, x: Buffer, dtype: Any) -> Buffer:
    """Floats as x86 makes them integers."""
    top = 2.0 ** (63 if dtype.itemsize == 8 else 31)
    within = (x >= -top) & (x < top)
    whole = xp.where(within, x, xp.zeros_like(x)).astype("int64").astype(dtype)
    return xp.where(within, whole, xp.full_like(whole, beyond(dtype)))


# --- Complex numbers, and products that are not rounded ------------------------------------------


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


def unit(xp: Any, part: Buffer) -> Buffer:
    """1 with its sign for an infinity, else 0 with its sign."""
    return xp.copysign(xp.where(xp.isinf(part), xp.ones_like(part), xp.zeros_like(part)), part)
