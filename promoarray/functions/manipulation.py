"""Chapter "manipulation functions": what moves values. Nothing promotes."""

from __future__ import annotations

from typing import Any

from promoarray.backends import backend_of
from promoarray.core.array_base import storage_dtype
from promoarray.core.move import Move, copies, fast_move, move, mover
from promoarray.core.operands import as_array, as_operand, require_one_namespace
from promoarray.core.shapes import axes_in, axis_in, integers
from promoarray.dtypes import INTEGERS
from promoarray.errors import quoted
from promoarray.parray import AnyArray, PArray

__all__ = ["expand_dims", "flip", "moveaxis", "permute_dims", "repeat", "reshape", "roll"]
__all__ += ["squeeze", "tile"]

Axis = int | tuple[int, ...]


@fast_move
def reshape(
    x: AnyArray, /, shape: int | tuple[int, ...], *, copy: bool | None = None
) -> Move[PArray]:
    """Return the values in another shape.

    Parameters
    ----------
    x : array, any shape
    shape : tuple of int
        One of them may be -1: what is left over.
    copy : bool, optional
        True copies; None copies only where it must; False raises where it must.

    Returns
    -------
    PArray, shape ``shape``
        Of the dtype of ``x``.

    Raises
    ------
    ValueError
        If the shape has another number of elements, or ``copy=False`` and a copy is needed.

    Examples
    --------
    >>> reshape(asarray([1, 2, 3, 4], dtype=int8), (2, -1))
    PArray([[1, 2],
            [3, 4]], dtype=int8)
    """
    array, lengths = as_array(x, "reshape"), integers("reshape", "shape", shape)
    return move("reshape", array, lengths, copy=copy)


@fast_move
def permute_dims(x: AnyArray, /, axes: tuple[int, ...]) -> Move[PArray]:
    """Return the array with its axes in another order.

    Parameters
    ----------
    x : array, any shape
    axes : tuple of int
        A permutation of ``range(x.ndim)``.

    Returns
    -------
    PArray
        A view with the axes in that order, of the dtype of ``x``.

    Raises
    ------
    ValueError
        If it is no permutation.

    Examples
    --------
    >>> permute_dims(zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    array, order = as_array(x, "permute_dims"), integers("permute_dims", "axes", axes)
    if not isinstance(order, tuple) or len(order) != array.ndim:
        raise ValueError(
            f"permute_dims: {quoted(axes)} is not a permutation of the {array.ndim} axes of x"
        )
    return move("permute_dims", array, axes_in("permute_dims", order, array.ndim))


@fast_move
def moveaxis(x: AnyArray, source: Axis, destination: Axis, /) -> Move[PArray]:
    """Return the array with some axes moved, the others in their order.

    Parameters
    ----------
    x : array, any shape
    source, destination : int or tuple of int
        Where the axes are in ``x``, and where in the result.

    Returns
    -------
    PArray
        A view with the axes in that order, of the dtype of ``x``.

    Raises
    ------
    ValueError
        If an axis is out of bounds or repeated, or the two differ in length.

    Examples
    --------
    >>> moveaxis(zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    array = as_array(x, "moveaxis")
    named = (integers("moveaxis", "axes", axes) for axes in (source, destination))
    places = [axes_in("moveaxis", axes, array.ndim) for axes in named]
    if len(places[0]) != len(places[1]):
        raise ValueError(
            f"moveaxis: source {source} and destination {destination} differ in length"
        )
    return move("moveaxis", array, *places)


@fast_move
def expand_dims(x: AnyArray, /, axis: Axis) -> Move[PArray]:
    """Return the array with new axes of length 1.

    Parameters
    ----------
    x : array, any shape
    axis : int or tuple of int
        Where the new axes are in the result.

    Returns
    -------
    PArray
        A view of the shape of ``x`` with the new axes, of the dtype of ``x``.

    Raises
    ------
    IndexError
        If an axis is out of bounds.
    ValueError
        If one is repeated.

    Examples
    --------
    >>> expand_dims(zeros((2, 3)), axis=(0, -1)).shape
    (1, 2, 3, 1)
    """
    array, named = as_array(x, "expand_dims"), integers("expand_dims", "axis", axis)
    more = len(named) if isinstance(named, tuple) else 1
    if more > 64:  # NumPy's own error for them takes the square of the time
        raise ValueError(f"expand_dims: {more} axes are more than the 64 an array may have")
    axes = axes_in("expand_dims", named, array.ndim + more)
    return move("expand_dims", array, axis=axes)


@fast_move
def squeeze(x: AnyArray, /, axis: Axis) -> Move[PArray]:
    """Return the array without some axes of length 1.

    Parameters
    ----------
    x : array, any shape
    axis : int or tuple of int

    Returns
    -------
    PArray
        A view of the shape of ``x`` without the axes, of the dtype of ``x``.

    Raises
    ------
    ValueError
        If an axis is out of bounds, or of another length.

    Examples
    --------
    >>> squeeze(asarray([[1.5, 2.5]], dtype=bfloat16), axis=0)
    PArray([1.5, 2.5], dtype=bfloat16)
    """
    array = as_array(x, "squeeze")
    axes = axes_in("squeeze", integers("squeeze", "axis", axis), array.ndim)
    for each in axes:
        if array.shape[each] != 1:
            raise ValueError(
                f"squeeze: axis {each} of shape {array.shape} has length {array.shape[each]}, not 1"
            )
    return move("squeeze", array, axis=axes)


@fast_move
def flip(x: AnyArray, /, *, axis: Axis | None = None) -> Move[PArray]:
    """Return the values in reverse along axes.

    Parameters
    ----------
    x : array, any shape
    axis : int or tuple of int, optional
        Default: all.

    Returns
    -------
    PArray
        Of the shape and dtype of ``x``.

    Raises
    ------
    ValueError
        If an axis is out of bounds.

    Examples
    --------
    >>> flip(asarray([1.5, 2.0, 3.0], dtype=float4_e2m1fn))
    PArray([3. , 2. , 1.5], dtype=float4_e2m1fn)
    """
    array = as_array(x, "flip")
    view = mover(array, "flip", axis=axes_in("flip", axis, array.ndim))
    if not copies(array, "flip"):
        return Move((array,), view)
    copy = backend_of(array._buffer).copy
    return Move((array,), lambda buffer: copy(view(buffer)))


@fast_move
def roll(x: AnyArray, /, shift: Axis, *, axis: Axis | None = None) -> Move[PArray]:
    """Return the values shifted along axes; those shifted beyond the end come in at the front.

    Parameters
    ----------
    x : array, any shape
    shift : int or tuple of int
        By how many places; to the front if negative.
    axis : int or tuple of int, optional
        Along which, as many as shifts. Default: the flattened array is shifted, and its shape kept.

    Returns
    -------
    PArray
        Of the shape and dtype of ``x``.

    Raises
    ------
    TypeError
        If a shift is no integer.
    ValueError
        If an axis is out of bounds, or there are not as many shifts.

    Examples
    --------
    >>> roll(asarray([1, 2, 3]), 1)
    PArray([3, 1, 2], dtype=int64)
    """
    array, shifts = as_array(x, "roll"), integers("roll", "shift", shift)
    if axis is None:
        return move("roll", array, shifts, axis=None)
    named = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_in("roll", each, array.ndim) for each in named)  # one may be named twice
    if isinstance(shifts, tuple) and len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise ValueError(f"roll: there are {len(shifts)} shifts for {len(axes)} axes")
    return move("roll", array, shifts, axis=axes)


@fast_move
def repeat(x: AnyArray, repeats: Any, /, *, axis: int | None = None) -> Move[PArray]:
    """Return each value repeated.

    Parameters
    ----------
    x : array, any shape
    repeats : int or array of integers, shape (N,)
        How often: one number for all values, or one for each of the N along the axis.
    axis : int, optional
        Default: the array is flattened first.

    Returns
    -------
    PArray
        Of the shape of ``x`` with the axis as long as the sum of ``repeats``; of shape (K,) without
        an axis. Of the dtype of ``x``.

    Raises
    ------
    TypeError
        If ``repeats`` are no integers.
    ValueError
        If one is negative, or there are not as many as values.

    Examples
    --------
    >>> repeat(asarray([1, 2, 3]), asarray([2, 0, 1]))
    PArray([1, 1, 3], dtype=int64)
    """
    array = as_array(x, "repeat")
    require_one_namespace(array, repeats)
    times = as_operand(repeats)
    if not isinstance(times, PArray):
        times = integers("repeat", "repeats", repeats)
    elif storage_dtype(times).kind not in INTEGERS:
        raise TypeError(f"repeat takes integers as repeats, not {times.dtype.name}")
    along = None if axis is None else axis_in("repeat", axis, array.ndim)
    if isinstance(times, PArray):
        from promoarray.core.index_keys import picking

        return picking(mover(array, "repeat", axis=along), array, times)
    return move("repeat", array, times, axis=along)


@fast_move
def tile(x: AnyArray, repetitions: tuple[int, ...], /) -> Move[PArray]:
    """Return the array repeated as tiles.

    Parameters
    ----------
    x : array, any shape
    repetitions : tuple of int
        How often along each axis, from the last axis on.

    Returns
    -------
    PArray
        Of the shape of ``x`` with each axis as many times as long; axes of length 1 come first
        where ``x`` has fewer than there are repetitions. Of the dtype of ``x``.

    Raises
    ------
    TypeError
        If ``repetitions`` are no integers.
    ValueError
        If one is negative.

    Examples
    --------
    >>> tile(asarray([1, 2], dtype=int8), (2, 2))
    PArray([[1, 2, 1, 2],
            [1, 2, 1, 2]], dtype=int8)
    """
    array, times = as_array(x, "tile"), integers("tile", "repetitions", repetitions)
    if (min(times, default=0) if isinstance(times, tuple) else times) < 0:
        raise ValueError(f"tile: repetitions are 0 or more, not {quoted(repetitions)}")
    return move("tile", array, times)
