"""Chapter "manipulation functions": what moves values. Only ``concat`` and ``stack`` promote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from promoarray import _apply
from promoarray._keys import positions
from promoarray._shapes import axis_in, integers
from promoarray.array import PArray
from promoarray.backends import backend_of

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]

Axis = int | tuple[int, ...]


def _moved(name: str, x: Any, *args: Any, **kwargs: Any) -> PArray:
    """Run a function that moves values: dtype and weakness stay, whatever the policy."""
    array = _apply.as_array(x, name)
    out = backend_of(array._buffer).move(name, array._buffer, *args, **kwargs)
    return array._of(out, array._type)


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> PArray:
    """Join arrays along an axis they have.

    Parameters
    ----------
    arrays : sequence of arrays
        Their dtypes promote as the policy says for ``concat``.
    axis : int or None
        None joins them flat.

    Returns
    -------
    PArray

    Raises
    ------
    PromotionError
        If the policy has no common dtype for them: ONNX and the array API for mixed kinds, say.
    ValueError
        If there are none, or their other axes differ.
    """
    operands, along = tuple(arrays), integers("concat", "axis", 0 if axis is None else axis)
    if axis is None:
        operands = tuple(reshape(x, (-1,)) for x in operands)
    return _apply.call("concat", *_some(operands, "concat"), axis=along)


def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> PArray:
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of arrays
        Their dtypes promote as the policy says for ``concat``.
    axis : int
        Where the new axis lies in the result.

    Returns
    -------
    PArray

    Raises
    ------
    PromotionError
        If the policy has no common dtype for them.
    ValueError
        If there are none, or their shapes differ.
    """
    along = integers("stack", "axis", axis)
    return _apply.call("stack", *_some(tuple(arrays), "stack"), axis=along)


def _some(arrays: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if not arrays:
        raise ValueError(f"{name} needs at least one array")
    return arrays


def reshape(x: Any, /, shape: int | tuple[int, ...], *, copy: bool | None = None) -> PArray:
    """Return the values in another shape.

    Parameters
    ----------
    x : array
    shape : tuple of int
        One -1 among them is what is left over.
    copy : bool, optional
        True copies; None copies only where it must; False raises where it must.

    Returns
    -------
    PArray

    Raises
    ------
    ValueError
        If the shape has another number of elements, or ``copy=False`` and a copy is needed.
    """
    return _moved("reshape", x, integers("reshape", "shape", shape), copy=copy)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> PArray:
    """Return the array with its axes in another order.

    Parameters
    ----------
    x : array
    axes : tuple of int
        A permutation of ``range(x.ndim)``.

    Returns
    -------
    PArray
        A view.

    Raises
    ------
    ValueError
        If it is no permutation.
    """
    return _moved("permute_dims", x, integers("permute_dims", "axes", axes))


def moveaxis(x: Any, source: Axis, destination: Axis, /) -> PArray:
    """Return the array with axes moved to other places, the others in their order.

    Parameters
    ----------
    x : array
    source, destination : int or tuple of int
        Where axes are, and where they shall be.

    Returns
    -------
    PArray
        A view.

    Raises
    ------
    ValueError
        If an axis is out of range or named twice, or not as many are named.
    """
    places = [integers("moveaxis", "axes", axes) for axes in (source, destination)]
    return _moved("moveaxis", x, *places)


def expand_dims(x: Any, /, axis: Axis) -> PArray:
    """Return the array with new axes of length 1.

    Parameters
    ----------
    x : array
    axis : int or tuple of int
        Where the new axes lie in the result.

    Returns
    -------
    PArray
        A view.

    Raises
    ------
    IndexError
        If an axis is out of range.
    ValueError
        If one is named twice.
    """
    try:
        return _moved("expand_dims", x, axis=integers("expand_dims", "axis", axis))
    except np.exceptions.AxisError as error:
        raise IndexError(str(error)) from None


def squeeze(x: Any, /, axis: Axis) -> PArray:
    """Return the array without axes of length 1.

    Parameters
    ----------
    x : array
    axis : int or tuple of int

    Returns
    -------
    PArray
        A view.

    Raises
    ------
    ValueError
        If an axis is out of range, or of another length.
    """
    return _moved("squeeze", x, axis=integers("squeeze", "axis", axis))


def flip(x: Any, /, *, axis: Axis | None = None) -> PArray:
    """Return the values in reverse along axes.

    Parameters
    ----------
    x : array
    axis : int or tuple of int, optional
        By default all.

    Returns
    -------
    PArray

    Raises
    ------
    ValueError
        If an axis is out of range.
    """
    axes = axis if axis is None else integers("flip", "axis", axis)
    return _moved("flip", x, axis=axes)


def roll(x: Any, /, shift: Axis, *, axis: Axis | None = None) -> PArray:
    """Return the values shifted round along axes.

    Parameters
    ----------
    x : array
    shift : int or tuple of int
        How far; to the front if negative.
    axis : int or tuple of int, optional
        Along which, as many as shifts. By default through the array as if it were flat.

    Returns
    -------
    PArray

    Raises
    ------
    TypeError
        If a shift is no integer.
    ValueError
        If an axis is out of range, or there are not as many shifts.
    """
    shifts = integers("roll", "shift", shift)
    axes = axis if axis is None else integers("roll", "axis", axis)
    return _moved("roll", x, shifts, axis=axes)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> PArray:
    """Return each value repeated.

    Parameters
    ----------
    x : array
    repeats : int or array of integers
        How often: all alike, or one number for each element along the axis.
    axis : int, optional
        By default the array is flattened first.

    Returns
    -------
    PArray

    Raises
    ------
    TypeError
        If ``repeats`` are no integers.
    ValueError
        If one is negative, or there are not as many as elements.
    """
    array = _apply.as_array(x, "repeat")
    _apply.array_class((array, repeats))  # two bindings do not mix
    times = _times(repeats, backend_of(array._buffer))
    if axis is not None:
        axis = integers("repeat", "axis", axis)
    return _moved("repeat", array, times, axis=axis)


def _times(repeats: Any, backend: Any) -> Any:
    """How often, as an int or a buffer of int64."""
    array = _apply.enter(repeats)
    if isinstance(array, PArray):
        try:
            return positions(array, backend)
        except IndexError:
            raise TypeError(f"repeat takes integers as repeats, not {array.dtype.name}") from None
    return integers("repeat", "repeats", repeats)


def tile(x: Any, repetitions: tuple[int, ...], /) -> PArray:
    """Return the array repeated as tiles.

    Parameters
    ----------
    x : array
    repetitions : tuple of int
        How often along each axis, from the last axis on.

    Returns
    -------
    PArray
    """
    return _moved("tile", x, integers("tile", "repetitions", repetitions))


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> PArray:
    """Return a view in a shape that an array broadcasts to.

    Parameters
    ----------
    x : array
    shape : tuple of int

    Returns
    -------
    PArray
        Not to be written to.

    Raises
    ------
    ValueError
        If it does not broadcast.
    """
    return _moved("broadcast_to", x, integers("broadcast_to", "shape", shape))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that shapes broadcast to.

    Parameters
    ----------
    *shapes : tuple of int

    Returns
    -------
    tuple of int
        ``()`` of no shapes.

    Raises
    ------
    ValueError
        If they do not broadcast.
    """
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays: Any) -> tuple[PArray, ...]:
    """Return views in the shape that all arrays broadcast to.

    Parameters
    ----------
    *arrays : array
        Nothing promotes, under any policy: each keeps its dtype.

    Returns
    -------
    tuple of PArray

    Raises
    ------
    ValueError
        If they do not broadcast.
    """
    entered = [_apply.as_array(x, "broadcast_arrays") for x in arrays]
    _apply.array_class(tuple(entered))  # two bindings do not mix
    shape = broadcast_shapes(*(x.shape for x in entered))
    return tuple(broadcast_to(x, shape) for x in entered)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[PArray, ...]:
    """Return the slices along an axis.

    Parameters
    ----------
    x : array
    axis : int

    Returns
    -------
    tuple of PArray
        Views, as many as the axis is long.

    Raises
    ------
    ValueError
        If ``x`` is 0-d, or the axis out of range.
    """
    array = _apply.as_array(x, "unstack")
    if not array.ndim:
        raise ValueError("unstack needs one axis or more, and x has none")
    front = moveaxis(array, axis_in("unstack", axis, array.ndim), 0)
    return tuple(front[i] for i in range(front.shape[0]))
