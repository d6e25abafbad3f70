"""``x[key]`` over Dask arrays of codes, with the answers of NumPy's.

Arrays in a key are NumPy's where they are known, and found pointwise, and their axes put where
NumPy puts them. Those that are buffers are computed later (``reading_lazily``).
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from promoarray.backends.dask.buffer import Buffer
from promoarray.backends.dask.keys import Points, basic_shape, plain, points, sliced, within
from promoarray.backends.dask.reading_lazily import read_lazily
from promoarray.backends.dask.reshaping import reshape

Blocks = Any
Shape = tuple[int, ...]


def read(buffer: Buffer, key: Any) -> Buffer:
    """``buffer[key]``, which is a view where NumPy's is one."""
    x, parts = buffer.array, key if isinstance(key, tuple) else (key,)
    if any(isinstance(part, Buffer) for part in parts):
        return Buffer(read_lazily(x, parts))
    parts = tuple(plain(part) for part in parts)
    if not any(isinstance(part, (np.ndarray, bool)) for part in parts):
        basic_shape(x, parts)
        return Buffer(sliced(x, parts), buffer)
    found = points(x.shape, parts)
    y = _basic(x, found)
    if found.lone:
        (axis,), (index,) = found.axes, found.indices
        return Buffer(da.take(_without_empty(y, axis), index, axis=axis))
    order = (*found.axes, *found.rest)
    front = y.transpose(order)
    count = found.indices[0].size
    shape = (*found.shape, *front.shape[len(found.axes) :])
    if count:
        full = (slice(None),) * len(found.rest)
        picked = front.vindex[(*(index.ravel() for index in found.indices), *full)]
    else:
        picked = da.zeros((0, *shape[len(found.shape) :]), dtype=x.dtype, chunks=-1)
    picked = reshape(picked, shape)
    axes = range(len(found.shape))
    return Buffer(da.moveaxis(picked, tuple(axes), tuple(found.place + axis for axis in axes)))


def _without_empty(x: Blocks, axis: int) -> Blocks:
    """Without the empty blocks along an axis, by whose mean length Dask would divide."""
    along = tuple(n for n in x.chunks[axis] if n) or (0,)
    return x if along == x.chunks[axis] else x.rechunk({axis: along})


def _basic(x: Blocks, found: Points) -> Blocks:
    return sliced(x, found.basic)


def positions_within(x: Blocks, index: Blocks, axis: int) -> Blocks:
    """``take_along_axis`` of arrays that have the axis in one chunk; other axes broadcast."""
    axes = tuple(range(x.ndim))
    picked = tuple(x.ndim if a == axis else a for a in axes)
    return da.blockwise(
        _along, picked, x, axes, index, picked, axis=axis, concatenate=True, dtype=x.dtype,
        meta=np.empty((0,) * x.ndim, x.dtype),
    )  # fmt: skip


def _along(block: Any, index: Any, *, axis: int) -> Any:
    found = within(np.asarray(index), block.shape[axis], axis)
    shape = list(np.broadcast_shapes(*(_without(b.shape, axis) for b in (block, found))))
    ours, theirs = shape.copy(), shape.copy()
    ours[axis], theirs[axis] = block.shape[axis], found.shape[axis]
    return np.take_along_axis(
        np.broadcast_to(block, ours), np.broadcast_to(found, theirs), axis=axis
    )


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], 1, *shape[axis + 1 :])
