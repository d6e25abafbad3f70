"""Chapter "indexing functions". Nothing promotes: the values keep their dtype."""

from __future__ import annotations

from promoarray.core.index_keys import picking
from promoarray.core.move import Move, fast_move, mover
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.parray import AnyArray, PArray

__all__ = ["take", "take_along_axis"]


@fast_move
def take(x: AnyArray, indices: AnyArray, /, *, axis: int | None = None) -> Move[PArray]:
    """Return the elements at some indices along an axis.

    Parameters
    ----------
    x : array, any shape
        Of any dtype, which the result keeps under every policy.
    indices : array of integers, any shape
        Negative ones count from the end.
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
    PromotionError
        If the policy takes indices of fewer dtypes: PyTorch int64, and for ``take`` int32.
    ValueError
        If ``axis`` is left out for an array of several axes, there is no such axis, or the result
        would have more than 64 axes.

    Examples
    --------
    >>> take(asarray([10, 20, 30]), asarray([2, 0]))
    PArray([30, 10], dtype=int64)
    """
    array, index = as_array(x, "take"), as_array(indices, "take")
    if axis is None and array.ndim != 1:
        raise ValueError("take needs axis= for an array that is not one-dimensional")
    axes = array.ndim - 1 + index.ndim
    if axes > 64:  # of which NumPy 2.4 ends the process
        raise ValueError(f"take: {axes} axes are more than the 64 an array may have")
    return _picked("take", array, index, axis=0 if axis is None else axis)


@fast_move
def take_along_axis(x: AnyArray, indices: AnyArray, /, *, axis: int = -1) -> Move[PArray]:
    """Return the elements that indices pick along an axis, each in its own row.

    Parameters
    ----------
    x : array, any shape
        Of any dtype, which the result keeps under every policy.
    indices : array of integers
        With as many axes as ``x``, and lengths that broadcast except along ``axis``: what
        ``argsort`` returns, say.
    axis : int
        Default: the last.

    Returns
    -------
    PArray
        Of the shape of ``indices``, broadcast.

    Raises
    ------
    IndexError
        If an index is out of bounds, or the indices are no integers.
    PromotionError
        If the policy takes indices of fewer dtypes: PyTorch int64, and for ``take`` int32.
    ValueError
        If the arrays differ in their number of axes, or there is no such axis.

    Examples
    --------
    >>> x = asarray([[3, 1], [5, 7]])
    >>> take_along_axis(x, argsort(x))
    PArray([[1, 3],
            [5, 7]], dtype=int64)
    """
    array, index = (as_array(a, "take_along_axis") for a in (x, indices))
    if array.ndim != index.ndim:
        raise ValueError(
            f"take_along_axis: x has {array.ndim} axes, indices have {index.ndim}; they must agree"
        )
    return _picked("take_along_axis", array, index, axis=axis)


def _picked(name: str, array: PArray, index: PArray, *, axis: int) -> Move[PArray]:
    along = axis_in(name, axis, array.ndim)
    return picking(mover(array, name, axis=along), array, index)
