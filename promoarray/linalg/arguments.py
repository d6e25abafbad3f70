"""Checks of the operands of linear algebra: matrices, square ones, tolerances."""

from __future__ import annotations

from typing import Any

from promoarray.core.operands import as_array, require_one_namespace
from promoarray.functions.data_types import astype
from promoarray.parray import AnyArray, PArray


def matrices(x: AnyArray, name: str) -> PArray:
    """A stack of matrices, or a ValueError."""
    array = as_array(x, name)
    if array.ndim < 2:
        raise ValueError(f"{name} takes matrices, not an array of shape {array.shape}")
    return array


def square(x: AnyArray, name: str) -> PArray:
    """A stack of square matrices, or a ValueError."""
    array = matrices(x, name)
    if array.shape[-1] != array.shape[-2]:
        raise ValueError(f"{name} takes square matrices, not an array of shape {array.shape}")
    return array


def tolerance(rtol: Any, x: PArray) -> Any:
    """A tolerance for ``x`` as kernels take it: Python's number, or the buffer of an array."""
    if not isinstance(rtol, PArray):
        return rtol
    require_one_namespace(x, rtol)
    wide = astype(rtol, "float64", copy=False)
    return wide._buffer
