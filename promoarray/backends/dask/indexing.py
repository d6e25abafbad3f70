"""``x[key]``, ``x[key] = y`` and ``reshape`` over Dask arrays of codes, with NumPy's answers.

Dask slices, takes and sets. Keys are taken apart for it as NumPy takes them, with NumPy's errors,
and the axes of arrays in a key put where NumPy puts them. Where arrays lead, NumPy is asked: by
arrays of positions, which take no memory.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

from promoarray.backends.dask.blocks import in_blocks_of_one, memoryless
from promoarray.backends.dask.buffer import Blocks, Buffer, Shape, known
from promoarray.errors import clipped

# --- Keys -----------------------------------------------------------------------------------------


def _parts(key: Any) -> tuple[Any, ...]:
    """The parts of a key, with the arrays of no axes as what they are: an integer, a bool."""
    return tuple(
        part.item() if isinstance(part, np.ndarray) and not part.ndim else part
        for part in (key if isinstance(key, tuple) else (key,))
    )


def _is_array(part: Any) -> bool:
    return isinstance(part, (np.ndarray, bool, Buffer))


def _is_mask(part: Any) -> bool:
    return isinstance(part, bool) or getattr(part, "dtype", None) == np.bool


def _axes_of(part: Any) -> int:
    """How many axes a part of a key stands for."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return int(part.ndim) if _is_mask(part) else 1


def _expanded(parts: tuple[Any, ...], ndim: int) -> list[Any]:
    """The parts with full slices in place of the Ellipsis, and behind the last of them."""
    plain = [p for part in parts for p in (_left(part) if _is_array(part) else (part,))]
    memoryless((1,) * ndim)[tuple(p if p is None or p is Ellipsis else slice(None) for p in plain)]
    taken = sum(map(_axes_of, parts))
    if not any(part is Ellipsis for part in parts):
        parts = (*parts, Ellipsis)
    return [
        each
        for part in parts
        for each in ([slice(None)] * (ndim - taken) if part is Ellipsis else [part])
    ]


def _basic_shape(x: Blocks, every: list[Any]) -> Shape:
    """The shape that integers, slices and None lead to; errors are NumPy's. Where a length is not
    known, what cuts that axis cannot be."""
    if None not in known(x.shape):
        room: Shape = memoryless(x.shape)[tuple(every)].shape
        return room
    cuts = (part for part in every if part is not None)
    for axis, (part, length) in enumerate(zip(cuts, x.shape, strict=True)):
        if part != slice(None) and math.isnan(length):
            raise IndexError(
                f"the length of axis {axis} is not known before the array is computed; write "
                "x.compute_chunk_sizes() before x[...]"
            )
    return ()


def _require_known(x: Blocks, what: str) -> None:
    if None in known(x.shape):
        raise IndexError(
            f"the shape {known(x.shape)} is not known before the array is computed; write "
            f"x.compute_chunk_sizes() before {what}"
        )


def _require_mask(mask: Buffer, shape: tuple[float, ...], axis: int) -> None:
    for i, (length, mine) in enumerate(zip(mask.shape, shape[axis:], strict=False), axis):
        if length is not None and length != mine and mine == mine:
            raise IndexError(
                f"boolean index did not match indexed array along axis {i}; size of axis is "
                f"{mine} but size of corresponding boolean axis is {length}"
            )


def _not_lazily(what: str) -> IndexError:
    return IndexError(
        f"a lazy array is not indexed by {what} that is computed later; "
        "write the index as i.compute()"
    )


def within(index: Any, length: int, axis: int) -> Any:
    """Indices from 0 on; those that lead nowhere are an IndexError."""
    beyond = (index < -length) | (index >= length)
    if beyond.any():
        raise IndexError(
            f"index {index[beyond].ravel()[0] if index.ndim else index} is out of bounds for axis "
            f"{axis} with size {length}"
        )
    return np.where(index < 0, index + length, index)


def without_empty(x: Blocks) -> Blocks:
    """The same without the empty blocks, which Dask's own functions do not always allow for."""
    chunks = tuple(tuple(n for n in along if n) or (0,) for along in x.chunks)
    return x if chunks == x.chunks else x.rechunk(chunks)


def _positions(shape: Shape, key: tuple[Any, ...]) -> list[Any]:
    """Where a key leads: of each axis the positions, in the shape of ``x[key]``."""
    ndim = len(shape)
    return [
        np.broadcast_to(np.arange(n).reshape(-1, *(1,) * (ndim - 1 - axis)), shape)[key]
        for axis, n in enumerate(shape)
    ]


# --- Reading --------------------------------------------------------------------------------------


class Place(NamedTuple):
    """Where an array of a key stands: at which axis of x, and at which of what the rest leaves."""

    of_x: int
    of_rest: int


def read(buffer: Buffer, key: Any) -> Buffer:
    """``buffer[key]``, which is a view where NumPy's is one."""
    x, parts = buffer.array, _parts(key)
    every = _expanded(parts, x.ndim)
    if not any(map(_is_array, every)):
        return Buffer(_sliced(x, every), buffer)
    is_later = any(isinstance(part, Buffer) for part in every)
    found, at, count = (_read_later if is_later else _read_here)(x, every)
    place = 0 if _are_apart(parts) else _places(every)[0].of_rest
    return Buffer(da.moveaxis(found, range(at, at + count), range(place, place + count)))


def _sliced(x: Blocks, every: list[Any]) -> Blocks:
    """``x[every]``, of ints, slices and None; Dask takes slices that begin beyond an end for
    others."""
    _basic_shape(x, every)
    key, axis = [], 0
    for part in every:
        if isinstance(part, slice) and part != slice(None):
            places = range(*part.indices(int(x.shape[axis])))
            stop = places.stop if places.stop >= 0 else None
            part = slice(places.start, stop, places.step) if places else slice(0, 0, 1)
        key.append(part)
        axis += part is not None
    return x[tuple(key)] if any(part != slice(None) for part in key) else x


def _places(every: list[Any]) -> list[Place]:
    places, of_x, of_rest = [], 0, 0
    for part in every:
        if _is_array(part):
            places.append(Place(of_x, of_rest))
        of_x += _axes_of(part)
        of_rest += len(_left(part))
    return places


def _left(part: Any) -> tuple[Any, ...]:
    """What stands for a part in the rest: no axis for an integer, a new one for a bool."""
    if _is_array(part):
        return (slice(None),) * _axes_of(part) or (None,)
    return () if isinstance(part, int) else (part,)


def _rest(x: Blocks, every: list[Any]) -> Blocks:
    """What the integers and slices of a key leave for the arrays."""
    return _sliced(x, [p for part in every for p in _left(part) or (part,)])


def _are_apart(parts: tuple[Any, ...]) -> bool:
    """Whether the arrays of a key stand apart: then NumPy puts their axes in front of the others,
    else where they stand."""
    arrays = [isinstance(part, (int, np.ndarray, Buffer)) for part in parts]  # bools are ints, too
    first, last = arrays.index(True), len(arrays) - 1 - arrays[::-1].index(True)
    return not all(arrays[first : last + 1])


def _read_here(x: Blocks, every: list[Any]) -> tuple[Blocks, int, int]:
    """Arrays that are known. Give what they lead to, at which axis theirs begin, and how many."""
    _require_known(x, "x[...] with arrays")
    lengths: list[Any] = []
    asked: list[Any] = []
    for part in every:  # NumPy is asked for the axes that arrays index; all others are one long
        taken = x.shape[len(lengths) : len(lengths) + _axes_of(part)]
        lengths += taken if _is_array(part) else [1] * len(taken)
        asked += [part] if _is_array(part) else [0] * len(taken)
    shape = memoryless(tuple(lengths))[tuple(asked)].shape
    where = _positions(tuple(lengths), tuple(asked))
    rest, indices = _rest(x, every), {}
    for part, (of_x, of_rest) in zip(filter(_is_array, every), _places(every), strict=True):
        indices[of_rest] = np.zeros(shape, np.int64)  # of a bool, which is a new axis
        indices |= {of_rest + i: where[of_x + i] for i in range(_axes_of(part))}
    (axis, index), *others = indices.items()
    if not others and len(shape) == 1:
        return da.take(without_empty(rest), index, axis=axis), axis, 1
    last = [axis for axis in range(rest.ndim) if axis not in indices]
    front = rest.transpose((*indices, *last))
    behind = front.shape[len(indices) :]
    if 0 in shape:
        return da.zeros((*shape, *behind), dtype=x.dtype, chunks=-1), 0, len(shape)
    points = front.vindex[(*map(np.ravel, indices.values()), *(slice(None) for _ in last))]
    return reshape(points, (*shape, *behind)), 0, len(shape)


# --- Arrays in a key that are computed later ------------------------------------------------------


def _read_later(x: Blocks, every: list[Any]) -> tuple[Blocks, int, int]:
    """One mask, or any number of indices; the same as of those that are known."""
    arrays, places = list(filter(_is_array, every)), _places(every)
    at = places[0].of_rest
    if not any(map(_is_mask, arrays)):
        return _taken(in_blocks_of_one(_rest(x, every)), arrays, places)
    if len(arrays) > 1:
        raise _not_lazily("several arrays, of which one is a mask,")
    _require_mask(arrays[0], x.shape, places[0].of_x)
    return _masked(in_blocks_of_one(_rest(x, every)), arrays[0], at), at, 1


def _masked(x: Blocks, mask: Buffer, axis: int) -> Blocks:
    """Where a mask over axes from ``axis`` on, which become one, is true."""
    if mask.ndim < 2:
        line = mask.array if mask.ndim else mask.array[None]
    else:
        if None in (*known(x.shape), *mask.shape):
            raise _not_lazily("a mask over axes of unknown lengths")
        x = reshape(x, (*x.shape[:axis], -1, *x.shape[axis + mask.ndim :]))
        line = reshape(mask.array, (-1,))
    if None not in known(line.shape):  # Dask would take its blocks for those of x
        line = line.rechunk((x.chunks[axis],))
    return x[(slice(None),) * axis + (line,)]


def _taken(x: Blocks, arrays: list[Any], places: list[Place]) -> tuple[Blocks, int, int]:
    """Indices along one axis, or along several that are made one, the first."""
    axes = [place.of_rest for place in places]
    at = axes[0] if len(axes) == 1 else 0
    x = da.moveaxis(x, axes, range(at, at + len(axes)))
    lengths, behind = x.shape[at : at + len(axes)], x.shape[at + len(axes) :]
    if any(map(math.isnan, lengths)):
        raise _not_lazily("indices along an axis of unknown length")
    _require_one_shape([index.shape for index in arrays])
    flat: Any = 0
    for index, length, place in zip(arrays, lengths, places, strict=True):
        index = index.array if isinstance(index, Buffer) else da.from_array(index, -1, name=False)
        flat = flat * length + index.map_blocks(
            within, int(length), place.of_x, dtype=np.int64, name=None, meta=index._meta
        )
    if len(axes) > 1:
        x = reshape(x, (*x.shape[:at], -1, *behind))
    line = flat if flat.ndim == 1 else reshape(flat, (-1,))
    found = x[(slice(None),) * at + (line,)]
    if flat.ndim != 1:
        found = reshape(found, (*x.shape[:at], *flat.shape, *behind))
    return found, at, flat.ndim


def _require_one_shape(shapes: list[Any]) -> None:
    """Refuse arrays of indices that do not broadcast, in NumPy's words."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        told = "".join(f"{tuple(shape)} ".replace(", ", ",") for shape in shapes if shape)
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            f"{clipped(told)}"
        ) from None


# --- Writing: another graph takes the place of the old one ----------------------------------------


def write(buffer: Buffer, key: Any, value: Any) -> None:
    """``buffer[key] = value``, both of one dtype."""
    parts = _parts(key)
    held = value.array if isinstance(value, Buffer) else np.asarray(value).view(buffer.dtype)
    is_one_mask = len(parts) == 1 and _is_mask(parts[0])
    if held.ndim > 1 and is_one_mask and getattr(parts[0], "ndim", 0) == buffer.ndim:
        raise ValueError("NumPy takes one value at a mask of all axes, or a line of them")
    if any(isinstance(part, Buffer) for part in parts):
        written = _where_masked
    elif any(map(_is_array, parts)) or None in parts:
        written = _scattered
    elif parts and all(part is Ellipsis or part == slice(None) for part in parts):
        written = _filled
    else:
        written = _cut
    buffer.array = written(buffer.array, parts, held)


def _cut(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """Written where integers and slices lead, as Dask does."""
    every = _expanded(parts, x.ndim)
    room = _basic_shape(x, every)
    _require_known(x, "x[...] = y")
    if not room and value.ndim and not (x.dtype == np.bool and value.size == 1):
        raise ValueError("setting an array element with a sequence")  # NumPy asks bool(value)
    value = _shaped(value, room)
    if not parts:
        return _filled(x, parts, value)
    if not math.prod(room):
        return x
    forward, turned = [], []
    for part, length in zip(every, x.shape, strict=True):
        if isinstance(part, slice):
            places = range(*part.indices(length))
            turned.append(slice(None, None, -1 if places.step < 0 else None))
            if places.step < 0:  # which Dask gets wrong
                part = slice(places[-1], places[0] + 1, -places.step)
        forward.append(part)
    new = x.copy()
    new[tuple(forward)] = value[tuple(turned[len(room) - value.ndim :])]
    return new


def _filled(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """All of an array written over."""
    if isinstance(value, da.Array) and known(value.shape) == known(x.shape):
        return value
    _require_known(x, "x[...] = y")
    value = _shaped(value, x.shape)
    if not value.ndim:  # each block makes its own
        return da.broadcast_to(value, x.shape, chunks=x.chunks)
    return da.broadcast_to(value, x.shape).rechunk(x.chunks)


def _shaped(value: Any, room: Shape) -> Any:
    """A value without the leading axes of length 1 that are too many; a ValueError in NumPy's
    words, if it does not broadcast to the shape."""
    value = _without_leading(value, len(room))
    try:
        np.broadcast_to(memoryless(value.shape), room)
    except ValueError:
        shapes = (str(shape).replace(", ", ",") for shape in (value.shape, room))
        words = "could not broadcast input array from shape {} into shape {}"
        raise ValueError(words.format(*shapes)) from None
    return value


def _without_leading(value: Any, ndim: int) -> Any:
    while value.ndim > ndim and value.shape[0] == 1:
        value = value[0]
    return value


def _where_masked(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """Where a mask that is computed later is true: one value, or one for the axes behind it."""
    mask, *others = parts
    if others or not _is_mask(mask):
        raise _not_lazily("indices in an assignment")
    _expanded(parts, x.ndim)
    _require_mask(mask, x.shape, 0)
    behind = x.ndim - mask.ndim
    value = _without_leading(value, behind)
    if value.ndim > behind:
        raise _not_lazily("a mask, where an element is assigned to each place,")
    return da.where(mask.array[(..., *(None,) * behind)], value, x)


def _scattered(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """Where arrays say; of several values for one place the last one stays, as in NumPy."""
    _require_known(x, "x[...] = y")
    if not x.ndim:
        return _scattered(x.reshape(1), (0, *parts), value).reshape(())
    where = _positions(x.shape, parts)
    shape = where[0].shape
    value = _shaped(value, shape)
    if not where[0].size:
        return x
    if isinstance(value, da.Array):  # flat, as one block that every task gets
        values = da.broadcast_to(value, shape).reshape(-1).rechunk(-1).to_delayed().item()
    else:
        values = np.broadcast_to(value, shape).ravel()
    places = tuple(map(np.ravel, where))
    return x.map_blocks(_replaced, values, places, dtype=x.dtype, meta=x._meta)


def _replaced(block: Any, values: Any, places: Any, block_info: Any = None) -> Any:
    """A block with the values whose places are in it."""
    bounds = block_info[0]["array-location"]
    pairs = list(zip(places, bounds, strict=True))
    inside = np.logical_and.reduce([(low <= at) & (at < high) for at, (low, high) in pairs])
    if not inside.any():
        return block
    new = block.copy()
    new[tuple(at[inside] - low for at, (low, _) in pairs)] = values[inside]
    return new


# --- Reshaping ------------------------------------------------------------------------------------


def reshape(x: Blocks, shape: Any, *, copy: bool | None = None) -> Blocks:
    """In another shape; where the chunks do not go through it, they are made to."""
    wanted = _reshaped(known(x.shape), (shape,) if isinstance(shape, int) else tuple(shape))
    if 0 in wanted:  # which Dask's own cannot always
        return da.zeros(wanted, dtype=x.dtype, chunks=-1)
    x = without_empty(x)
    try:
        return x.reshape(wanted)
    except NotImplementedError:
        # A flat array can be cut at whole rows of the new shape; the old one has to be cut at
        # whole rows of its own first.
        flat = x.rechunk(dict.fromkeys(range(1, x.ndim), -1)).reshape(-1)
        row = max(math.prod(wanted[1:]), 1)
        rows = max(max(flat.chunks[0]) // row, 1)
        return flat.rechunk(rows * row).reshape(wanted)


def _reshaped(shape: tuple[int | None, ...], wanted: Shape) -> Shape:
    """The new shape, with the length that -1 stands for; NumPy's own ValueError, if the shapes
    differ in their number of elements, or if that is not known."""
    if None in shape:
        raise ValueError(
            f"reshape: the shape {shape} is not known before the array is computed; "
            "write x.compute_chunk_sizes() before"
        )
    found: Shape = memoryless(shape).reshape(wanted).shape  # type: ignore[arg-type]
    return found
