"""Keys of ``x[key]`` over Dask arrays, taken apart as NumPy takes them, with its errors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from promoarray.backends.dask.buffer import Buffer, known
from promoarray.errors import clipped

Blocks = Any
Shape = tuple[int, ...]


def plain(part: Any) -> Any:
    """A part of a key with the arrays of no axes as what they are: an integer, a bool."""
    return part.item() if isinstance(part, np.ndarray) and not part.ndim else part


def is_basic(part: Any) -> bool:
    return not isinstance(part, (np.ndarray, bool, Buffer))


def expanded(parts: tuple[Any, ...], ndim: int) -> list[Any]:
    """The parts with full slices in place of the Ellipsis, and behind the last of them."""
    taken = sum(axes_of(part) for part in parts)
    if taken > ndim:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but {taken} were indexed"
        )
    if sum(part is Ellipsis for part in parts) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not any(part is Ellipsis for part in parts):
        parts = (*parts, Ellipsis)
    return [
        each
        for part in parts
        for each in ([slice(None)] * (ndim - taken) if part is Ellipsis else [part])
    ]


def axes_of(part: Any) -> int:
    """How many axes a part of a key stands for."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    is_mask = isinstance(part, (np.ndarray, Buffer)) and part.dtype == np.bool
    return part.ndim if is_mask else 1


# --- Integers and slices --------------------------------------------------------------------------


def basic_shape(x: Blocks, parts: tuple[Any, ...]) -> Shape:
    """The shape of ``x[parts]``, of ints, slices, None and Ellipsis; errors are NumPy's."""
    if None in known(x.shape):
        return _unknown_shape(x, parts)
    dummy = np.broadcast_to(np.empty((), np.int8), x.shape)
    shape: Shape = dummy[parts].shape
    return shape


def _unknown_shape(x: Blocks, parts: tuple[Any, ...]) -> Shape:
    """Where a length is not known, what cuts that axis cannot be."""
    axis = 0
    for part in expanded(parts, x.ndim):
        if part is None:
            continue
        if part != slice(None) and math.isnan(x.shape[axis]):
            raise IndexError(
                f"the length of axis {axis} is not known before the array is computed; write "
                "x.compute_chunk_sizes() before x[...]"
            )
        axis += 1
    return ()


def sliced(x: Blocks, parts: tuple[Any, ...]) -> Blocks:
    """``x[parts]``, of ints, slices, None and Ellipsis, with the slices as Dask gets them right:
    those that begin beyond an end it takes for others."""
    key, axis = [], 0
    for part in expanded(parts, x.ndim):
        if isinstance(part, slice) and part != slice(None):
            part = _normal(part, int(x.shape[axis]))
        key.append(part)
        axis += part is not None
    return x[tuple(key)] if any(part != slice(None) for part in key) else x


def _normal(part: slice, length: int) -> slice:
    """The same slice with its ends inside."""
    places = range(*part.indices(length))
    if not places:
        return slice(0, 0, 1)
    return slice(places.start, places.stop if places.stop >= 0 else None, places.step)


# --- Arrays ---------------------------------------------------------------------------------------


class Points(NamedTuple):
    """A key with arrays, taken apart.

    Attributes
    ----------
    basic : tuple
        A slice or None for each axis that is left, slices of all where arrays stand.
    axes, rest : tuple of int
        Which of these axes the arrays index, and which not.
    indices : tuple of numpy.ndarray
        Of the former, from 0 on, broadcast to one shape.
    shape : tuple of int
        That shape.
    place : int
        Where its axes are in the result.
    """

    basic: tuple[Any, ...]
    axes: tuple[int, ...]
    rest: tuple[int, ...]
    indices: tuple[Any, ...]
    shape: Shape
    place: int

    @property
    def lone(self) -> bool:
        """Whether it is one list of indices along one axis."""
        return len(self.axes) == 1 and len(self.shape) == 1


def points(shape: tuple[float, ...], parts: tuple[Any, ...]) -> Points:
    """Take a key with arrays apart."""
    if None in known(shape):
        raise IndexError(
            f"the shape {known(shape)} is not known before the array is computed; write "
            "x.compute_chunk_sizes() before x[...] with arrays"
        )
    basic: list[Any] = []
    found: dict[int, Any] = {}
    axis = 0
    for part in expanded(parts, len(shape)):
        if isinstance(part, bool):  # a new axis, of one element or none
            found[len(basic)] = np.zeros(int(part), np.int64)
            basic.append(None)
        elif isinstance(part, np.ndarray) and part.dtype == np.bool:
            for index in _nonzero(part, shape, axis):
                found[len(basic)] = index
                basic.append(slice(None))
            axis += part.ndim
        elif isinstance(part, (int, np.ndarray)):
            found[len(basic)] = within(np.asarray(part, np.int64), int(shape[axis]), axis)
            basic.append(slice(None))
            axis += 1
        else:
            basic.append(part)
            axis += part is not None
    require_one_shape([index.shape for index in found.values()])
    indices = np.broadcast_arrays(*found.values())
    rest = tuple(axis for axis in range(len(basic)) if axis not in found)
    place = 0 if parted(parts) else min(found)
    return Points(tuple(basic), tuple(found), rest, tuple(indices), indices[0].shape, place)


def parted(parts: tuple[Any, ...]) -> bool:
    """Whether the arrays of a key stand apart: then NumPy puts their axes in front of the others,
    else where they stand."""
    arrays = [isinstance(part, (int, np.ndarray, Buffer)) for part in parts]  # bools are ints, too
    first, last = arrays.index(True), len(arrays) - 1 - arrays[::-1].index(True)
    return not all(arrays[first : last + 1])


def require_one_shape(shapes: list[Any]) -> None:
    """Refuse arrays of indices that do not broadcast, in NumPy's words."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        told = "".join(f"{tuple(shape)} ".replace(", ", ",") for shape in shapes if shape)
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            f"{clipped(told)}"
        ) from None


def _nonzero(mask: Any, shape: tuple[float, ...], axis: int) -> tuple[Any, ...]:
    for i, length in enumerate(mask.shape):
        if length != shape[axis + i]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size of axis "
                f"is {shape[axis + i]} but size of corresponding boolean axis is {length}"
            )
    return tuple(np.nonzero(mask))


def within(index: Any, length: int, axis: int) -> Any:
    """Indices from 0 on; those that lead nowhere are an IndexError."""
    beyond = (index < -length) | (index >= length)
    if beyond.any():
        raise IndexError(
            f"index {index[beyond].ravel()[0] if index.ndim else index} is out of bounds for axis "
            f"{axis} with size {length}"
        )
    return np.where(index < 0, index + length, index)


def require_mask(index: Buffer, shape: tuple[float, ...], axis: int) -> None:
    for i, length in enumerate(index.shape):
        if length is not None and length != shape[axis + i] and shape[axis + i] == shape[axis + i]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size of axis "
                f"is {shape[axis + i]} but size of corresponding boolean axis is {length}"
            )


def require_known(x: Blocks) -> None:
    if None in known(x.shape):
        raise IndexError(
            f"the shape {known(x.shape)} is not known before the array is computed; write "
            "x.compute_chunk_sizes() before x[...] = y"
        )


def not_lazily(what: str) -> IndexError:
    return IndexError(
        f"a lazy array is not indexed by {what} that is computed later; "
        "write the index as i.compute()"
    )
