"""Chapter "sorting functions". Every dtype sorts by value; what an index is, the policy says."""

from __future__ import annotations

from typing import Any

from promoarray.core.dispatch import call
from promoarray.core.fast_path import fast_function
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.functions._docs import template
from promoarray.parray import AnyArray, PArray

__all__ = ["argsort", "sort"]


_sorting = template(
    """
    Parameters
    ----------
    x : array, shape (..., N)
        Of any dtype the policy sorts, float8 and int4 too.
    axis : int
        Default: the last.
    descending : bool
        Largest first. NaN counts as larger than every number, and -0.0 equals 0.0.
    stable : bool
        Keep equal elements in order, descending too.

    Returns
    -------
    PArray, shape (..., N)
        {result}

    Raises
    ------
    PromotionError
        If the policy does not sort the dtype: complex numbers outside NumPy and JAX, bools in
        TensorFlow, MindSpore, ONNX and under ``array_api``.
    ValueError
        If there is no such axis; a 0-d array has none.
    """
)


@_sorting(
    result="Of int64 under most policies, int32 in JAX without x64, TensorFlow and MindSpore."
)
@fast_function("argsort", axis=-1, descending=False, stable=True)
def argsort(
    x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> PArray:
    """Return the indices that sort an array along an axis.

    Examples
    --------
    >>> argsort(asarray([2.5, -1.0, 0.5]))
    PArray([1, 2, 0], dtype=int64)
    """
    array, axis = _along(x, axis, "argsort")
    return call("argsort", array, axis=axis, descending=descending, stable=stable)


@_sorting(
    result=(
        "Of the dtype of ``x``, the same bits. Complex numbers sort by real and then imaginary "
        "part."
    )
)
@fast_function("sort", axis=-1, descending=False, stable=True)
def sort(
    x: AnyArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> PArray:
    """Return the elements in order along an axis.

    Examples
    --------
    >>> sort(asarray([2.5, -1.0, nan, 0.5], dtype=float8_e4m3fn), descending=True)
    PArray([ nan,  2.5,  0.5, -1. ], dtype=float8_e4m3fn)
    """
    array, axis = _along(x, axis, "sort")
    return call("sort", array, axis=axis, descending=descending, stable=stable)


def _along(x: Any, axis: int, name: str) -> tuple[PArray, int]:
    """The array and its axis, counted from the first."""
    array = as_array(x, name)
    return array, axis_in(name, axis, array.ndim)
