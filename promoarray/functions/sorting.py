"""Chapter "sorting functions". Every dtype sorts by value; what an index is, the policy says."""

from __future__ import annotations

from typing import Any

from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.parray import PArray

__all__ = ["argsort", "sort"]


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> PArray:
    """Return the indices that sort an array along an axis.

    Parameters
    ----------
    x : array
        Of any dtype the policy sorts; NaN counts as larger than every number, and -0.0 as 0.0.
    axis : int
    descending : bool
        Largest first.
    stable : bool
        Keep equal elements in order, descending too.

    Returns
    -------
    PArray
        Of the shape of ``x``.

    Raises
    ------
    PromotionError
        If the policy does not sort the dtype.
    ValueError
        If ``x`` has no axis ``axis``; a 0-d array has none.

    Notes
    -----
    Indices are int64 under most policies, int32 in JAX without x64, TensorFlow and MindSpore.
    Complex numbers sort in NumPy and JAX only, by real and then by imaginary part.
    """
    array, axis = _along(x, axis, "argsort")
    return call("argsort", array, axis=axis, descending=descending, stable=stable)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> PArray:
    """Return the elements in order along an axis.

    Parameters
    ----------
    x : array
        Of any dtype the policy sorts, float8 and int4 too.
    axis : int
    descending : bool
        Largest first. NaN counts as larger than every number, so it comes first then, and else
        last; -0.0 and 0.0 are equal.
    stable : bool
        Keep equal elements in order, descending too.

    Returns
    -------
    PArray
        Of the shape and dtype of ``x``, the same bits.

    Raises
    ------
    PromotionError
        If the policy does not sort the dtype: complex numbers in PyTorch, TensorFlow and Paddle,
        bools in TensorFlow and under ``array_api``.
    ValueError
        If ``x`` has no axis ``axis``; a 0-d array has none.

    Examples
    --------
    >>> sort(asarray([2.5, -1.0, nan, 0.5], dtype=float8_e4m3fn), descending=True)
    PArray([nan, 2.5, 0.5, -1. ], dtype=float8_e4m3fn)
    """
    array, axis = _along(x, axis, "sort")
    return call("sort", array, axis=axis, descending=descending, stable=stable)


def _along(x: Any, axis: int, name: str) -> tuple[PArray, int]:
    """The array and its axis, counted from the first."""
    array = as_array(x, name)
    return array, axis_in(name, axis, array.ndim)
