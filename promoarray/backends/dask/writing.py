"""``x[key] = value`` over Dask arrays of codes: another graph takes the place of the old one."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from promoarray.backends.dask.buffer import Buffer, known
from promoarray.backends.dask.keys import (
    basic_shape,
    expanded,
    is_basic,
    not_lazily,
    plain,
    require_known,
    require_mask,
)

Blocks = Any
Shape = tuple[int, ...]


def write(buffer: Buffer, key: Any, value: Any) -> None:
    """``buffer[key] = value``, both of one dtype: another Dask array takes the place."""
    parts = tuple(plain(part) for part in (key if isinstance(key, tuple) else (key,)))
    held = value.array if isinstance(value, Buffer) else np.asarray(value).view(buffer.dtype)
    if held.ndim > 1 and _is_full_mask(parts, buffer.ndim):
        raise ValueError("NumPy takes one value at a mask of all axes, or a line of them")
    buffer.array = _written(parts)(buffer.array, parts, held)


def _is_full_mask(parts: tuple[Any, ...], ndim: int) -> bool:
    """Whether a key is one mask over all axes."""
    (part, *others) = parts or (None,)
    is_mask = isinstance(part, bool) or getattr(part, "dtype", None) == np.bool
    return is_mask and not others and getattr(part, "ndim", 0) == ndim


def _written(parts: tuple[Any, ...]) -> Any:
    """How what a key leads to is written."""
    if any(isinstance(part, Buffer) for part in parts):
        return _masked
    if not all(is_basic(part) for part in parts) or None in parts:
        return _scattered
    everything = all(part is Ellipsis or part == slice(None) for part in parts)
    return _filled if parts and everything else _cut


def _cut(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """Written where integers and slices lead, as Dask does."""
    room = basic_shape(x, parts)
    require_known(x)
    if not room and value.ndim and not (x.dtype == np.bool and value.size == 1):
        raise ValueError("setting an array element with a sequence")  # NumPy asks bool(value)
    value = _shaped(value, room)
    if not parts:
        return _filled(x, parts, value)
    if not math.prod(room):
        return x
    forward, turned, axis = [], [slice(None)] * len(room), 0
    for part, length in zip(expanded(parts, x.ndim), x.shape, strict=True):
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
    require_known(x)
    value = _shaped(value, x.shape)
    if not value.ndim:  # each block makes its own
        return da.broadcast_to(value, x.shape, chunks=x.chunks)
    return da.broadcast_to(value, x.shape).rechunk(x.chunks)


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
        raise not_lazily("indices in an assignment")
    (mask,) = parts
    if mask.ndim > x.ndim:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but {mask.ndim} were "
            "indexed"
        )
    require_mask(mask, x.shape, 0)
    behind = x.ndim - mask.ndim
    while value.ndim > behind and value.shape[0] == 1:
        value = value[0]
    if value.ndim > behind:
        raise not_lazily("a mask, where an element is assigned to each place,")
    spread = mask.array[(..., *(None,) * behind)]
    return da.where(spread, value, x)


def _scattered(x: Blocks, parts: tuple[Any, ...], value: Any) -> Blocks:
    """Where arrays say; of several values for one place the last one stays, as in NumPy.

    NumPy itself answers where: each axis, as an array that takes no memory, is asked with the key.
    """
    require_known(x)
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
