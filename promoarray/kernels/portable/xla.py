"""Kernels whose values are those of jax.numpy, as XLA rewrites and computes it.

Written with what NumPy and CuPy have in common: ``xp`` is either. Where a float32 subnormal
decides, functions of ``xp`` compare, as in ``variants``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from promoarray.kernels.portable.complex_arithmetic import xla_multiply, xla_reciprocal
from promoarray.kernels.portable.steps import is_zero, quietly

Buffer = Any


@quietly
def integer_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    given = y.item().real
    exponent = int(given) if math.isfinite(given) else 0
    multiply = partial(xla_multiply, xp) if x.dtype.kind == "c" else xp.multiply
    count, square, factors = abs(exponent), x, []
    while count:
        factors += [square] if count & 1 else []
        count >>= 1
        square = multiply(square, square) if count else square
    if exponent == 3:  # x * x * x
        factors.reverse()
    power = reduce(multiply, factors) if factors else xp.ones_like(x)
    if exponent >= 0:
        return power
    return (
        xla_reciprocal(xp, power) if x.dtype.kind == "c" else xp.true_divide(xp.ones_like(x), power)
    )


@quietly
def polar_pow(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """A power by a length and an angle, but for what has none."""
    size, turn = xp.hypot(x.real, x.imag), xp.arctan2(x.imag, x.real)
    length = xp.power(size, y.real) * xp.exp(-y.imag * turn)
    angle = y.real * turn + y.imag * xp.log(size)
    power = xp.empty(length.shape, x.dtype)
    power.real, power.imag = length * xp.cos(angle), length * xp.sin(angle)
    return _polar_ends(xp, power, x, y)


def _polar_ends(xp: Any, power: Buffer, x: Buffer, y: Buffer) -> Buffer:
    """Powers of 0 and infinity by real numbers, of 1 and by 0, in place."""
    infinite = (x.real == np.inf) & (x.imag == 0)
    real = y.imag == 0
    none = xp.where(infinite, y.real < 0, (xp.hypot(x.real, x.imag) == 0) & (y.real >= 0))
    power[real & none] = 0
    power[real & infinite & (y.real > 0)] = np.inf
    power[(y == 0) | (x == 1)] = 1
    return power


def reciprocal_divide(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    if _is_spread(y, x):
        return _times_reciprocal(xp, xp.multiply, x, y)
    return xp.true_divide(x, y)


def selected_reciprocal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    if _is_spread(y, x):
        return _times_reciprocal(xp, partial(first_selects, xp), x, y)
    return xp.true_divide(x, y)


@quietly
def _times_reciprocal(xp: Any, multiply: Callable[..., Buffer], x: Buffer, y: Buffer) -> Buffer:
    return multiply(x, xp.true_divide(xp.ones_like(y), y))


def first_selects(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.multiply(x, y) if _is_spread(x, y) else xp.where(is_zero(xp, x), xp.zeros_like(y), y)


def second_selects(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return first_selects(xp, y, x)


def _is_spread(x: Buffer, other: Buffer) -> bool:
    """Whether broadcasting repeats elements of the first."""
    return bool(x.size < math.prod(np.broadcast_shapes(x.shape, other.shape)))


ASKING_SHAPES = frozenset(
    {"reciprocal_divide", "selected_reciprocal", "first_selects", "second_selects", "float_divmod"}
)
"""The kernels that ask whether an operand is spread; of blocks they would be told otherwise."""


@quietly
def float_divmod(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    mod = xp.fmod(x, y)
    quotient = reciprocal_divide(xp, xp.where(is_zero(xp, y), x, xp.subtract(x, mod)), y)
    across = ~is_zero(xp, mod) & (xp.sign(y) != xp.sign(mod))
    return xp.rint(xp.where(across, quotient - 1, quotient))


def lexical_greater(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    (a, b), (c, d) = (x.real, x.imag), (y.real, y.imag)
    alike = xp.bitwise_and(xp.equal(a, c), xp.greater(b, d))
    return xp.bitwise_or(xp.greater(a, c), alike)


def lexical_greater_equal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    (a, b), (c, d) = (x.real, x.imag), (y.real, y.imag)
    alike = xp.bitwise_and(xp.equal(a, c), xp.greater_equal(b, d))
    return xp.bitwise_or(xp.greater(a, c), alike)


def lexical_less(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return lexical_greater(xp, y, x)


def lexical_less_equal(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return lexical_greater_equal(xp, y, x)


def lexical_maximum(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.where(lexical_greater(xp, x, y), x, y)


def lexical_minimum(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.where(lexical_less(xp, x, y), x, y)


@quietly
def wrapped_logaddexp(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    greater = lexical_maximum(xp, x, y)
    total = greater + xp.log1p(xp.exp(x + y - 2 * greater))
    return total.real + 1j * (xp.remainder(total.imag + np.pi, 2 * np.pi) - np.pi)


def real_all(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.all(x.real, **options)


def real_any(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.any(x.real, **options)
