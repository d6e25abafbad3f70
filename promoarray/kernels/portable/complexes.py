"""Functions of two complex numbers that NumPy and CuPy have for real ones only, by definition.

``xp`` is either library. JAX has ``atan2`` and ``logaddexp`` of complex numbers, PyTorch the
latter, Paddle ``hypot``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Buffer = Any


def atan2(xp: Any, y: Buffer, x: Buffer) -> Buffer:
    """``-i log((x + iy) / sqrt(x**2 + y**2))``."""
    return -1j * xp.log((x + 1j * y) / hypot(xp, x, y))


def hypot(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """``sqrt(x**2 + y**2)``: no modulus is taken."""
    return xp.sqrt(x * x + y * y)


def logaddexp(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """``log(exp(x) + exp(y))`` from the one with the larger real part, which cannot overflow."""
    later = y.real > x.real
    large, small = xp.where(later, y, x), xp.where(later, x, y)
    equal = x == y  # infinite ones too, whose difference is NaN
    gap = xp.where(equal, x.dtype.type(0), small - xp.where(equal, small, large))
    return large + xp.log1p(xp.exp(gap))


def expm1(xp: Any, x: Buffer) -> Buffer:
    """``exp(x) - 1`` where nothing cancels, as NumPy has it; CuPy subtracts."""
    half = xp.sin(0.5 * x.imag)
    out = xp.empty_like(x)
    out.real = xp.expm1(x.real) * xp.cos(x.imag) - 2 * half * half
    out.imag = xp.exp(x.real) * xp.sin(x.imag)
    return out


def log1p(xp: Any, x: Buffer) -> Buffer:
    """``log(1 + x)`` by the modulus and the angle, as NumPy has it."""
    beside = x.real + 1
    out = xp.empty_like(x)
    out.real = xp.log(xp.hypot(beside, x.imag))
    out.imag = xp.atan2(x.imag, beside)
    return out


AS_NUMPY: dict[str, Callable[..., Buffer]] = {"expm1": expm1, "log1p": log1p}
"""What NumPy has of complex numbers by other formulas than CuPy."""

KERNELS: dict[str, Callable[..., Buffer]] = {"atan2": atan2, "hypot": hypot, "logaddexp": logaddexp}
