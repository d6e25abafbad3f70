"""Kernels of several steps that every library computes alike. ``xp`` is NumPy or CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np

Buffer = Any


def l1_loss(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.abs(_difference(xp, x, y))


def mse_loss(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    difference = _difference(xp, x, y)
    return xp.multiply(difference, difference)


def _difference(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """Of bools whether they differ, as NumPy subtracts none."""
    return (xp.bitwise_xor if x.dtype == bool else xp.subtract)(x, y)


def huber_loss(xp: Any, x: Buffer, y: Buffer, *, delta: float = 1.0) -> Buffer:
    """Half the square of the error up to ``delta``, linear beyond it."""
    error = l1_loss(xp, x, y)
    floating = np.result_type(error.dtype, 0.5)
    error = error.astype(floating, copy=False)
    half, most, least = (np.asarray(n, floating) for n in (0.5, delta, 0.5 * delta))
    squared = xp.multiply(xp.multiply(error, half), error)
    linear = xp.multiply(xp.subtract(error, least), most)
    return xp.where(xp.less_equal(error, most), squared, linear)


def poisson_nll_loss(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return xp.subtract(xp.exp(x), xp.multiply(y, x))


def outer(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"outer takes two vectors, not arrays of {x.ndim} and {y.ndim} axes")
    return xp.multiply(x[:, None], y[None, :])


def diff(xp: Any, x: Buffer, *, axis: int = -1) -> Buffer:
    """The gaps between neighbours along an axis; of bools whether they differ."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"an array of {x.ndim} axes has no axis {axis}")
    before = (slice(None),) * (axis % x.ndim)
    later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
    return (xp.not_equal if x.dtype == np.bool else xp.subtract)(later, earlier)
