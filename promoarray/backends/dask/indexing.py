"""``x[key]`` and ``x[key] = value`` over Dask arrays of codes, with the answers of NumPy's.

Arrays in a key are NumPy's where they are known, and buffers where they are computed later. Of the
latter Dask takes one at a time; of the former any, as NumPy does: those are found pointwise, and
their axes put where NumPy puts them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

from promoarray.backends.dask.buffer import Buffer, known
from promoarray.errors import clipped

Blocks = Any
Shape = tuple[int, ...]


# --- Reading -------------------------------------------------------------------------------------


def read(buffer: Buffer, key: Any) -> Buffer:
    """``buffer[key]``, which is a view where NumPy's is one."""
    x, parts = buffer.array, key if isinstance(key, tuple) else (key,)
    if any(isinstance(part, Buffer) for part in parts):
        return Buffer(_read_lazily(x, parts))
    parts = tuple(_plain(part) for part in parts)
    if not any(isinstance(part, (np.ndarray, bool)) for part in parts):
        _basic_shape(x, parts)
        return Buffer(_sliced(x, parts), buffer)
    found = _points(x.shape, parts)
    y = _basic(x, found)
    if found.lone:
        (axis,), (index,) = found.axes, found.indices
        return Buffer(da.take(y, index, axis=axis))
    order = (*found.axes, *found.rest)
    front = y.transpose(order)
    count = found.indices[0].size
    shape = (*found.shape, *front.shape[len(found.axes) :])
    if count:
        full = (slice(None),) * len(found.rest)
        picked = front.vindex[(*(index.ravel() for index in found.indices), *full)]
    else:
        picked = da.zeros((0, *shape[len(found.shape) :]), dtype=x.dtype)
    picked = picked.reshape(shape)
    axes = range(len(found.shape))
    return Buffer(da.moveaxis(picked, tuple(axes), tuple(found.place + axis for axis in axes)))


def _plain(part: Any) -> Any:
    """A part of a key with the arrays of no axes as what they are: an integer, a bool."""
    return part.item() if isinstance(part, np.ndarray) and not part.ndim else part


def _basic_shape(x: Blocks, parts: tuple[Any, ...]) -> Shape:
    """The shape of ``x[parts]``, of ints, slices, None and Ellipsis; errors are NumPy's."""
    if None in known(x.shape):
        return _unknown_shape(x, parts)
    dummy = np.broadcast_to(np.empty((), np.int8), x.shape)
    shape: Shape = dummy[parts].shape
    return shape


def _unknown_shape(x: Blocks, parts: tuple[Any, ...]) -> Shape:
    """Where a length is not known, what cuts that axis cannot be."""
    axis = 0
    for part in _expanded(parts, x.ndim):
        if part is None:
            continue
        if part != slice(None) and math.isnan(x.shape[axis]):
            raise IndexError(
                f"the length of axis {axis} is not known before the array is computed; write "
                "x.compute_chunk_sizes() before x[...]"
            )
        axis += 1
    return ()


def _expanded(parts: tuple[Any, ...], ndim: int) -> list[Any]:
    """The parts with full slices in place of the Ellipsis, and behind the last of them."""
    taken = sum(_axes(part) for part in parts)
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


def _axes(part: Any) -> int:
    """How many axes a part of a key stands for."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    is_mask = isinstance(part, (np.ndarray, Buffer)) and part.dtype == np.bool
    return part.ndim if is_mask else 1


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


def _points(shape: tuple[float, ...], parts: tuple[Any, ...]) -> Points:
    """Take a key with arrays apart."""
    if None in known(shape):
        raise IndexError(
            f"the shape {known(shape)} is not known before the array is computed; write "
            "x.compute_chunk_sizes() before x[...] with arrays"
        )
    basic: list[Any] = []
    found: dict[int, Any] = {}
    axis = 0
    for part in _expanded(parts, len(shape)):
        if isinstance(part, bool):  # a new axis, of one element or none
            found[len(basic)] = np.zeros(int(part), np.int64)
            basic.append(None)
        elif isinstance(part, np.ndarray) and part.dtype == np.bool:
            for index in _nonzero(part, shape, axis):
                found[len(basic)] = index
                basic.append(slice(None))
            axis += part.ndim
        elif isinstance(part, (int, np.ndarray)):
            found[len(basic)] = _within(np.asarray(part, np.int64), int(shape[axis]), axis)
            basic.append(slice(None))
            axis += 1
        else:
            basic.append(part)
            axis += part is not None
    try:
        indices = np.broadcast_arrays(*found.values())
    except ValueError:
        shapes = " ".join(f"({','.join(map(str, i.shape))})" for i in found.values())
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            f"{clipped(shapes)}"
        ) from None
    rest = tuple(axis for axis in range(len(basic)) if axis not in found)
    return Points(
        tuple(basic), tuple(found), rest, tuple(indices), indices[0].shape, _place(parts, found)
    )


def _place(parts: tuple[Any, ...], found: dict[int, Any]) -> int:
    """Where NumPy puts the axes of arrays: where they stand side by side, else in front."""
    arrays = [isinstance(part, (int, np.ndarray)) for part in parts]  # bools are ints, too
    first, last = arrays.index(True), len(arrays) - 1 - arrays[::-1].index(True)
    return min(found) if all(arrays[first : last + 1]) else 0


def _nonzero(mask: Any, shape: tuple[float, ...], axis: int) -> tuple[Any, ...]:
    for i, length in enumerate(mask.shape):
        if length != shape[axis + i]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size of axis "
                f"is {shape[axis + i]} but size of corresponding boolean axis is {length}"
            )
    return tuple(np.nonzero(mask))


def _within(index: Any, length: int, axis: int) -> Any:
    """Indices from 0 on; those that lead nowhere are an IndexError."""
    beyond = (index < -length) | (index >= length)
    if beyond.any():
        raise IndexError(
            f"index {index[beyond].ravel()[0] if index.ndim else index} is out of bounds for axis "
            f"{axis} with size {length}"
        )
    return np.where(index < 0, index + length, index)


def _basic(x: Blocks, found: Points) -> Blocks:
    return _sliced(x, found.basic)


def _sliced(x: Blocks, parts: tuple[Any, ...]) -> Blocks:
    """``x[parts]``, of ints, slices, None and Ellipsis, with the slices as Dask gets them right:
    those that begin beyond an end it takes for others."""
    key, axis = [], 0
    for part in _expanded(parts, x.ndim):
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


def _read_lazily(x: Blocks, parts: tuple[Any, ...]) -> Blocks:
    """With one array that is computed later: a mask, or indices along one axis."""
    lazy = [part for part in parts if isinstance(part, Buffer)]
    if len(lazy) > 1 or any(isinstance(part, (np.ndarray, bool)) for part in parts):
        raise _not_lazily("several arrays")
    (index,) = lazy
    expanded = _expanded(parts, x.ndim)
    place = next(i for i, part in enumerate(expanded) if part is index)
    axis = sum(part is not None for part in expanded[:place])
    if index.dtype == np.bool:
        if index.ndim not in (1, x.ndim) or not index.ndim:
            raise _not_lazily(f"a mask of {index.ndim} axes of {x.ndim}")
        _masks(index, x.shape, axis)
        if index.ndim > 1 and None in (*known(x.shape), *index.shape):
            raise _not_lazily("a mask over axes of unknown lengths")
        mask = index.array
        if index.ndim == 1:  # Dask would take its blocks for those of x
            mask = mask.rechunk((x.chunks[axis],)) if None not in index.shape else mask
        if len(expanded) == 1:
            return x[mask]
        left = sum(not isinstance(part, int) for part in expanded[:place])
        others = tuple(slice(None) if part is index else part for part in expanded)
        return _sliced(x, others)[(slice(None),) * left + (mask,)]
    if index.ndim > 1:
        raise _not_lazily(f"indices of {index.ndim} axes")
    if math.isnan(x.shape[axis]):
        raise _not_lazily("indices along an axis of unknown length")
    checked = index.array.map_blocks(
        _within, int(x.shape[axis]), axis, dtype=np.int64, name=None, meta=index.array._meta
    )
    others = tuple(slice(None) if part is index else part for part in expanded)
    y = _sliced(x, others)
    left = sum(not isinstance(part, int) for part in expanded[:place])
    return y[(slice(None),) * left + (checked,)]


def _not_lazily(what: str) -> IndexError:
    return IndexError(
        f"a lazy array is not indexed by {what} that is computed later; "
        "write the index as i.compute()"
    )


def _masks(index: Buffer, shape: tuple[float, ...], axis: int) -> None:
    for i, length in enumerate(index.shape):
        if length is not None and length != shape[axis + i] and shape[axis + i] == shape[axis + i]:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size of axis "
                f"is {shape[axis + i]} but size of corresponding boolean axis is {length}"
            )


def positions_within(x: Blocks, index: Blocks, axis: int) -> Blocks:
    """``take_along_axis`` of arrays that have the axis in one chunk; other axes broadcast."""
    axes = tuple(range(x.ndim))
    picked = tuple(x.ndim if a == axis else a for a in axes)
    return da.blockwise(
        _along, picked, x, axes, index, picked, axis=axis, concatenate=True, dtype=x.dtype,
        meta=np.empty((0,) * x.ndim, x.dtype),
    )  # fmt: skip


def _along(block: Any, index: Any, *, axis: int) -> Any:
    found = _within(np.asarray(index), block.shape[axis], axis)
    shape = list(np.broadcast_shapes(*(_without(b.shape, axis) for b in (block, found))))
    ours, theirs = shape.copy(), shape.copy()
    ours[axis], theirs[axis] = block.shape[axis], found.shape[axis]
    return np.take_along_axis(
        np.broadcast_to(block, ours), np.broadcast_to(found, theirs), axis=axis
    )


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], 1, *shape[axis + 1 :])


# --- Writing -------------------------------------------------------------------------------------


def write(buffer: Buffer, key: Any, value: Any) -> None:
    """``buffer[key] = value``, both of one dtype: another Dask array takes the place."""
    parts = tuple(_plain(part) for part in (key if isinstance(key, tuple) else (key,)))
    held = value.array if isinstance(value, Buffer) else np.asarray(value).view(buffer.dtype)
    buffer.array = _written(parts)(buffer.array, parts, held)


def _written(parts: tuple[Any, ...]) -> Any:
    """How what a key leads to is written."""
    if any(isinstance(part, Buffer) for part in parts):
        return _masked
    if not all(_is_basic(part) for part in parts) or None in parts:
        return _scattered
    everything = all(part is Ellipsis or part == slice(None) for part in parts)
    return _filled if parts and everything else _cut


def _is_basic(part: Any) -> bool:
    return not isinstance(part, (np.ndarray, bool, Buffer))


def _require_known(x: Blocks) -> None:
    if None in known(x.shape):
        raise IndexError(
            f"the shape {known(x.shape)} is not known before the array is computed; write "
            "x.compute_chunk_sizes() before x[...] = y"
        )


def _cut(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """Written where integers and slices lead, as Dask does."""
    room = _basic_shape(x, parts)
    _require_known(x)
    if not room and value.ndim:
        raise ValueError("setting an array element with a sequence")
    value = _shaped(value, room)
    if not parts:
        return _filled(x, parts, value)
    if not math.prod(room):
        return x
    forward, turned, axis = [], [slice(None)] * len(room), 0
    for part, length in zip(_expanded(parts, x.ndim), x.shape, strict=True):
        if isinstance(part, slice):
            places = range(*part.indices(length))
            if places.step < 0:  # which Dask gets wrong
                part = slice(places[-1], places[0] + 1, -places.step)
                turned[axis] = slice(None, None, -1)
            axis += 1
        forward.append(part)
    new = x.copy()
    new[tuple(forward)] = value[tuple(turned[len(room) - value.ndim :])]
    return new


def _filled(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """All of an array written over."""
    if isinstance(value, da.Array) and known(value.shape) == known(x.shape):
        return value
    _require_known(x)
    return da.broadcast_to(_shaped(value, x.shape), x.shape).rechunk(x.chunks)


def _shaped(value: Any, room: Shape) -> Any:
    """A value without the leading axes of length 1 that are too many.

    Raises
    ------
    ValueError
        If it does not broadcast to the shape.
    """
    while value.ndim > len(room) and value.shape[0] == 1:
        value = value[0]
    if value.ndim > len(room):
        raise ValueError(f"shape {value.shape} has more axes than {room}")
    np.broadcast_to(np.broadcast_to(np.empty((), np.int8), value.shape), room)
    return value


def _masked(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """Where a mask that is computed later is true: one value, or one for the axes behind it."""
    if len(parts) != 1 or parts[0].dtype != np.bool:
        raise _not_lazily("indices in an assignment")
    (mask,) = parts
    if mask.ndim > x.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but {mask.ndim} were "
            "indexed"
        )
    _masks(mask, x.shape, 0)
    behind = x.ndim - mask.ndim
    while value.ndim > behind and value.shape[0] == 1:
        value = value[0]
    if value.ndim > behind:
        raise _not_lazily("a mask, where an element is assigned to each place,")
    spread = mask.array[(..., *(None,) * behind)]
    return da.where(spread, value, x)


def _scattered(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """Where arrays say; of several values for one place the last one stays, as in NumPy.

    NumPy itself answers where: each axis, as an array that takes no memory, is asked with the key.
    """
    _require_known(x)
    if not x.ndim:
        return _scattered(x.reshape(1), (0, *parts), value).reshape(())
    where = [
        np.broadcast_to(np.arange(n).reshape(-1, *(1,) * (x.ndim - 1 - axis)), x.shape)[parts]
        for axis, n in enumerate(x.shape)
    ]
    if not where[0].size:
        _shaped(value, where[0].shape)
        return x
    spread = _spread(_shaped(value, where[0].shape), where[0].shape)
    places = tuple(each.ravel() for each in where)
    return x.map_blocks(
        _replaced, spread, places, dtype=x.dtype, meta=np.empty((0,) * x.ndim, x.dtype)
    )


def _spread(value: Any, shape: Shape) -> Any:
    """A value for each place, flat; of a Dask array as one block that every task gets."""
    if isinstance(value, da.Array):
        return da.broadcast_to(value, shape).reshape(-1).rechunk(-1).to_delayed().item()
    return np.broadcast_to(value, shape).ravel()


def _replaced(block: Any, values: Any, places: Any, block_info: Any = None) -> Any:
    """A block with the values whose places are in it."""
    bounds = block_info[0]["array-location"]
    inside = np.logical_and.reduce(
        [(low <= at) & (at < high) for at, (low, high) in zip(places, bounds, strict=True)]
    )
    if not inside.any():
        return block
    new = block.copy()
    new[tuple(at[inside] - low for at, (low, _) in zip(places, bounds, strict=True))] = values[
        inside
    ]
    return new
