"""Products of matrices and vectors whose zeros have the signs of single frameworks.

A sum that begins with 0.0 is never -0.0; a product of one term may be one where no sum is made.
``xp`` is NumPy or CuPy.
"""

from __future__ import annotations

from typing import Any

Buffer = Any


def one_term_matmul(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    return _product(xp, x, y) if _has_one_term(x, y) else xp.matmul(x, y)


def one_term_vecdot(xp: Any, x: Buffer, y: Buffer, *, axis: int = -1) -> Buffer:
    if x.ndim and y.ndim and x.shape[axis] == y.shape[axis] == 1:
        return xp.squeeze(xp.multiply(xp.conj(x), y), axis=axis)
    return xp.vecdot(x, y, axis=axis)


def one_term_tensordot(xp: Any, x: Buffer, y: Buffer, *, axes: Any = 2) -> Buffer:
    found = xp.tensordot(x, y, axes=axes)
    return _outer(xp, x, y, found) if found.size == x.size * y.size else found


def blas_matmul(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    is_outer = x.ndim > 1 and y.ndim == 2 and x.size > 1 and y.size > 1
    if is_outer and _has_one_term(x, y):
        return _product(xp, x, y)
    return xp.add(xp.matmul(x, y), 0)


def blas_tensordot(xp: Any, x: Buffer, y: Buffer, *, axes: Any = 2) -> Buffer:
    found = xp.tensordot(x, y, axes=axes)
    if found.size == x.size * y.size and x.size > 1 and y.size > 1:
        return _outer(xp, x, y, found)
    return xp.add(found, 0)


def _has_one_term(x: Buffer, y: Buffer) -> bool:
    return bool(x.ndim and y.ndim and x.shape[-1] == y.shape[-2 if y.ndim > 1 else 0] == 1)


def _product(xp: Any, x: Buffer, y: Buffer) -> Buffer:
    """The matrix product over an axis of length 1."""
    if y.ndim == 1:
        return xp.multiply(x, y)[..., 0]
    if x.ndim == 1:
        return xp.multiply(x[:, None], y)[..., 0, :]
    return xp.multiply(x, y)


def _outer(xp: Any, x: Buffer, y: Buffer, like: Buffer) -> Buffer:
    """Every element of one times every one of another, in the shape of ``like``."""
    return xp.multiply(x.reshape(-1, 1), y.reshape(1, -1)).reshape(like.shape)
