"""Chapter "manipulation functions": what moves values. Only ``concat`` and ``stack`` promote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from promoarray import _apply
from promoarray.array import PArray

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "take",
    "tile",
    "unstack",
]


def _moved(name: str, x: Any, *args: Any, **kwargs: Any) -> PArray:
    """Run a NumPy function that leaves the dtype alone."""
    array = _apply.as_array(x, name)
    return array._of(np.asarray(getattr(np, name)(array._buffer, *args, **kwargs)), array._type)


def concat(arrays: Sequence[Any], /, *, axis: int | None = 0) -> PArray:
    """Join arrays along an axis they have.

    Parameters
    ----------
    arrays : sequence of arrays
        Their dtypes promote as the policy says for ``concat``.
    axis : int or None
        None joins them flat.
    """
    operands = tuple(arrays)
    if axis is None:
        operands = tuple(reshape(x, (-1,)) for x in operands)
    return _apply.call("concat", *_some(operands, "concat"), axis=axis or 0)


def stack(arrays: Sequence[Any], /, *, axis: int = 0) -> PArray:
    """Join arrays of one shape along a new axis; dtypes promote as in ``concat``."""
    return _apply.call("stack", *_some(tuple(arrays), "stack"), axis=axis)


def _some(arrays: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    if not arrays:
        raise ValueError(f"{name} needs at least one array")
    return arrays


def reshape(x: Any, /, shape: tuple[int, ...], *, copy: bool | None = None) -> PArray:
    """Return the values in another shape."""
    return _moved("reshape", x, shape, copy=copy)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> PArray:
    """Return the array with its axes in another order."""
    return _moved("permute_dims", x, axes)


def matrix_transpose(x: Any, /) -> PArray:
    """Return the array with its last two axes swapped."""
    return _apply.as_array(x, "matrix_transpose").mT


def moveaxis(x: Any, source: Any, destination: Any, /) -> PArray:
    """Return the array with axes moved to other places."""
    return _moved("moveaxis", x, source, destination)


def expand_dims(x: Any, /, *, axis: int | tuple[int, ...] = 0) -> PArray:
    """Return the array with new axes of length 1.

    Raises
    ------
    IndexError
        If an axis is out of range.
    """
    try:
        return _moved("expand_dims", x, axis)
    except np.exceptions.AxisError as error:
        raise IndexError(str(error)) from None


def squeeze(x: Any, /, axis: int | tuple[int, ...]) -> PArray:
    """Return the array without axes of length 1."""
    return _moved("squeeze", x, axis)


def flip(x: Any, /, *, axis: int | tuple[int, ...] | None = None) -> PArray:
    """Return the values in reverse along axes."""
    return _moved("flip", x, axis=axis)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> PArray:
    """Return the values shifted round along axes."""
    return _moved("roll", x, shift, axis=axis)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> PArray:
    """Return each value repeated."""
    times = repeats._buffer if isinstance(repeats, PArray) else repeats
    return _moved("repeat", x, times, axis=axis)


def tile(x: Any, repetitions: tuple[int, ...], /) -> PArray:
    """Return the array repeated as tiles."""
    return _moved("tile", x, repetitions)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> PArray:
    """Return the elements at integer ``indices`` along an axis."""
    index = _apply.as_array(indices, "take")
    if axis is None and _apply.as_array(x, "take").ndim != 1:
        raise ValueError("take needs axis= for an array that is not one-dimensional")
    return _moved("take", x, index._decoded(), axis=axis)


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> PArray:
    """Return a view in a shape that ``x`` broadcasts to."""
    return _moved("broadcast_to", x, shape)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that shapes broadcast to."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays: Any) -> tuple[PArray, ...]:
    """Return views in the shape that all broadcast to; dtypes stay."""
    entered = [_apply.as_array(x, "broadcast_arrays") for x in arrays]
    shape = broadcast_shapes(*(x.shape for x in entered))
    return tuple(broadcast_to(x, shape) for x in entered)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[PArray, ...]:
    """Return the slices along an axis."""
    array = _apply.as_array(x, "unstack")
    return tuple(
        array._of(np.asarray(b), array._type) for b in np.unstack(array._buffer, axis=axis)
    )
