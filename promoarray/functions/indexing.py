"""Chapter "indexing functions". Nothing promotes: the values keep their dtype."""

from __future__ import annotations

from typing import Any

from promoarray.backends import backend_of
from promoarray.core.index_keys import positions
from promoarray.core.move import moved
from promoarray.core.operands import as_array, require_one_namespace
from promoarray.core.shapes import axis_in
from promoarray.parray import PArray

__all__ = ["take", "take_along_axis"]


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> PArray:
    """Return the elements at some indices along an axis.

    Parameters
    ----------
    x : array
        Of any dtype, which the result keeps under every policy.
    indices : array
        Of integers; negative ones count from the end.
    axis : int, optional
        May be left out for one-dimensional arrays only.

    Returns
    -------
    PArray
        Of the shape of ``x`` with that of ``indices`` in place of the axis.

    Raises
    ------
    IndexError
        If an index is out of bounds, or the indices are no integers.
    ValueError
        If ``axis`` is left out for an array of several axes, or there is no such axis.

    Examples
    --------
    >>> take(asarray([10, 20, 30]), asarray([2, 0]))
    PArray([30, 10], dtype=int64)
    """
    array, index = as_array(x, "take"), as_array(indices, "take")
    if axis is None and array.ndim != 1:
        raise ValueError("take needs axis= for an array that is not one-dimensional")
    return _picked("take", array, index, axis=0 if axis is None else axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> PArray:
    """Return the elements that indices pick along an axis, each in its own row.

    Parameters
    ----------
    x : array
        Of any dtype, which the result keeps under every policy.
    indices : array
        Of integers, as many axes as ``x``, of shapes that broadcast but for ``axis``. What
        ``argsort`` returns, say.
    axis : int

    Returns
    -------
    PArray
        Of the shape of ``indices``, broadcast.

    Raises
    ------
    IndexError
        If an index is out of bounds, or the indices are no integers.
    ValueError
        If the arrays have not as many axes, or there is no such axis.
    """
    array, index = (as_array(a, "take_along_axis") for a in (x, indices))
    if array.ndim != index.ndim:
        raise ValueError(
            f"take_along_axis: x has {array.ndim} axes, indices have {index.ndim}; they must agree"
        )
    return _picked("take_along_axis", array, index, axis=axis)


def _picked(name: str, array: PArray, index: PArray, *, axis: int) -> PArray:
    require_one_namespace(array, index)
    along = axis_in(name, axis, array.ndim)
    return moved(name, array, positions(index, backend_of(array._buffer)), axis=along)
