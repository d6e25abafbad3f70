"""Chapter "manipulation functions", third part: arrays joined, which promotes, and split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from promoarray.backends import backend_of
from promoarray.core.dispatch import call
from promoarray.core.fast_path import fast_function
from promoarray.core.move import Move, copies, fast_move, moved, mover
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in, integers
from promoarray.parray import AnyArray, PArray

__all__ = ["concat", "stack", "unstack"]


@fast_function("concat", settings={"sequence": True}, axis=0)
def concat(arrays: Sequence[AnyArray], /, *, axis: int | None = 0) -> PArray:
    """Join arrays along an axis they have.

    Parameters
    ----------
    arrays : sequence of arrays
        Of shapes that differ along ``axis`` only. Their dtypes promote as the policy says for
        ``concat``.
    axis : int or None
        None joins them flat.

    Returns
    -------
    PArray
        Of the promoted dtype, and of the shape of the arrays but for the axis, which has the sum of
        their lengths.

    Raises
    ------
    PromotionError
        If the policy has no common dtype for them: ONNX and the array API for mixed kinds, say.
    ValueError
        If there are none, or their other axes differ.

    Examples
    --------
    >>> concat([asarray([1, 2]), asarray([0.5])])
    PArray([1. , 2. , 0.5], dtype=float64)
    """
    operands, along = tuple(arrays), integers("concat", "axis", 0 if axis is None else axis)
    if axis is None:
        operands = tuple(moved("reshape", as_array(x, "concat"), (-1,)) for x in operands)
    return call("concat", *_some(operands, "concat"), axis=along)


@fast_function("stack", settings={"sequence": True}, axis=0)
def stack(arrays: Sequence[AnyArray], /, *, axis: int = 0) -> PArray:
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of arrays
        Of one shape. Their dtypes promote as the policy says for ``concat``.
    axis : int
        Where the new axis is in the result.

    Returns
    -------
    PArray
        Of the promoted dtype, and of the shape of the arrays with the new axis, which is as long as
        there are arrays.

    Raises
    ------
    PromotionError
        If the policy has no common dtype for them, as for ``concat``.
    ValueError
        If there are none, or their shapes differ.

    Examples
    --------
    >>> x, y = asarray([1, 2], dtype=int8), asarray([3, 4], dtype=uint8)
    >>> stack([x, y])
    PArray([[1, 2],
            [3, 4]], dtype=int16)
    """
    along = integers("stack", "axis", axis)
    return call("stack", *_some(tuple(arrays), "stack"), axis=along)


def _some(arrays: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if not arrays:
        raise ValueError(f"{name} needs at least one array")
    return arrays


@fast_move
def unstack(x: AnyArray, /, *, axis: int = 0) -> Move[tuple[PArray, ...]]:
    """Return the slices along an axis.

    Parameters
    ----------
    x : array, any shape but ()
    axis : int

    Returns
    -------
    tuple of PArray
        Views of the shape of ``x`` without the axis, as many as it is long, of the dtype of ``x``.

    Raises
    ------
    ValueError
        If ``x`` is 0-d, or the axis out of bounds.

    Examples
    --------
    >>> unstack(asarray([[1, 2], [3, 4]], dtype=int8))
    (PArray([1, 2], dtype=int8), PArray([3, 4], dtype=int8))
    """
    array = as_array(x, "unstack")
    if not array.ndim:
        raise ValueError("unstack needs one axis or more, and x has none")
    to_front = mover(array, "moveaxis", axis_in("unstack", axis, array.ndim), 0)
    read, behind = backend_of(array._buffer).read, () if copies(array, "item") else (...,)

    def slices(buffer: Any) -> tuple[Any, ...]:
        front = to_front(buffer)
        return tuple([read(front, (i, *behind)) for i in range(front.shape[0])])

    return Move((array,), slices)
