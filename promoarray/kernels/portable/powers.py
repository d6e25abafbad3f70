"""Powers by one exponent that some frameworks have a way of its own for: roots, squares.

NumPy's loops take a square root for every exponent 0.5 that they read over and over, of which -inf
is NaN and -0.0 is -0.0. C's ``pow`` has inf and 0.0 there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from promoarray.kernels.portable.complex_arithmetic import (
    fused_reciprocal,
    plain_multiply,
    plain_square,
)
from promoarray.kernels.portable.steps import is_zero, of_parts, quietly, unit

Buffer = Any
Way = Callable[[Any, Buffer], Buffer]


def plain_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    if y.size == 1:
        return _plain_root(xp, x, y) if y.item() == 0.5 else xp.power(x, y)
    power = xp.power(x, y)
    if y.shape == power.shape and 0 not in y.strides:  # no exponent is read twice
        return power
    root = y == 0.5
    if root.any():
        power = xp.where(root & is_zero(xp, x), xp.zeros_like(power), power)
        power = xp.where(root & (x == -np.inf), xp.full_like(power, np.inf), power)
    return power


def _plain_root(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    if x.size == 1 and x.item() not in (0, -np.inf):
        return xp.power(x, y)
    shape = np.broadcast_shapes(x.shape, y.shape)
    finite = xp.where(x == -np.inf, xp.full_like(x, np.inf), x)
    return xp.reshape(xp.sqrt(finite) + xp.zeros_like(x), shape)  # -0.0 + 0.0 is 0.0


def shortcut_log_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    power = xp.where(y == 1, x, log_pow(xp, x, y))
    return xp.where(y == 0, xp.ones_like(power), power)


@quietly
def log_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """``exp(y * log(x))`` with a product as C has it."""
    product = _standard_multiply(xp, y, xp.log(x))
    # x86's NaN has its sign set, which C's exp gives to the zero that it is the angle of.
    of_nan = (product.real == -np.inf) & xp.isnan(product.imag)
    zero = xp.conj(xp.zeros_like(product))
    return xp.where(of_nan, zero, xp.exp(product))


@quietly
def _standard_multiply(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """As C has it (Annex G): where both parts are NaN, the product with an infinity is one."""
    product = plain_multiply(xp, x, y)
    infinite = xp.isinf(x) | xp.isinf(y)
    boxed = plain_multiply(xp, _boxed(xp, x), _boxed(xp, y))
    found = of_parts(xp, np.inf * boxed.real, np.inf * boxed.imag)
    return xp.where(infinite & xp.isnan(product.real) & xp.isnan(product.imag), found, product)


def _boxed(xp: Any, x: Buffer) -> Buffer:
    """An infinity as a corner or the middle of a side of a square; without NaN."""
    corner = of_parts(xp, unit(xp, x.real), unit(xp, x.imag))
    return xp.where(xp.isinf(x), corner, of_parts(xp, _number(xp, x.real), _number(xp, x.imag)))


def _number(xp: Any, part: Buffer) -> Buffer:
    """0 for NaN."""
    return xp.where(xp.isnan(part), xp.zeros_like(part), part)


_ENDS: Mapping[complex, Way] = {0: lambda xp, x: xp.ones_like(x), 1: lambda xp, x: x.copy()}
_WHOLE: Mapping[complex, Way] = {-1: lambda xp, x: xp.reciprocal(x), 2: lambda xp, x: xp.square(x)}
_ROOT: Mapping[complex, Way] = {0.5: lambda xp, x: xp.sqrt(x)}
_ALL: Mapping[complex, Way] = {**_WHOLE, **_ROOT, **_ENDS}
_FACTORS: Mapping[complex, Way] = {
    **_ALL,
    -2: lambda xp, x: xp.reciprocal(xp.multiply(x, x)),
    -0.5: lambda xp, x: xp.reciprocal(xp.sqrt(x)),
    3: lambda xp, x: xp.multiply(xp.multiply(x, x), x),
}


_COMPLEX_FACTORS: Mapping[complex, Way] = {
    **_ALL,
    -2: lambda xp, x: fused_reciprocal(xp, plain_square(xp, x)),
    -1: fused_reciprocal,
    -0.5: lambda xp, x: fused_reciprocal(xp, xp.sqrt(x)),
    2: plain_square,
    3: lambda xp, x: plain_multiply(xp, plain_square(xp, x), x),
}


def _of_one(ways: Mapping[complex, Way], xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """The power by an exponent that may have a way of its own."""
    way = ways.get(y.item())
    return xp.power(x, y) if way is None else way(xp, x)


def whole_shortcut_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _of_one(_WHOLE, xp, x, y)


def root_shortcut_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _of_one(_ROOT, xp, x, y)


def shortcut_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _of_one(_ALL, xp, x, y)


def multiplied_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _of_one(_COMPLEX_FACTORS if x.dtype.kind == "c" else _FACTORS, xp, x, y)
