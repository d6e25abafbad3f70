"""Chapter "linear algebra functions": the matrix products of the main namespace.

Narrow floats accumulate in float32 and are rounded once.
"""

from __future__ import annotations

from typing import Any

from promoarray import _apply
from promoarray.array import PArray

__all__ = ["matmul", "outer", "tensordot", "vecdot"]


def matmul(x1: Any, x2: Any, /) -> PArray:
    """Multiply matrices, ``x1 @ x2``; dtypes promote as the policy says for ``matmul``."""
    return _apply.call("matmul", x1, x2)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> PArray:
    """Multiply vectors along an axis, the first conjugated."""
    return _apply.call("vecdot", x1, x2, axis=axis)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> PArray:
    """Contract axes of two arrays."""
    return _apply.call("tensordot", x1, x2, axes=axes)


def outer(x1: Any, x2: Any, /) -> PArray:
    """Multiply every element of one vector with every one of another."""
    return _apply.call("outer", x1, x2)
