"""``x[key]`` where arrays in the key are computed later: one mask, or any number of indices."""

from __future__ import annotations

from typing import Any, NamedTuple

import dask.array as da
import numpy as np

from promoarray.backends.dask.blocks import in_blocks_of_one
from promoarray.backends.dask.buffer import Buffer, known
from promoarray.backends.dask.keys import (
    axes_of,
    basic_shape,
    expanded,
    not_lazily,
    parted,
    plain,
    require_mask,
    require_one_shape,
    sliced,
    within,
)
from promoarray.backends.dask.reshaping import reshape

Blocks = Any


class Place(NamedTuple):
    """Where an array of a key stands: at which axis of x, and at which of what the rest leaves."""

    of_x: int
    of_rest: int


def read_lazily(x: Blocks, parts: tuple[Any, ...]) -> Blocks:
    """Take the integers and slices first, then what the arrays say."""
    parts = tuple(plain(part) for part in parts)
    every = expanded(parts, x.ndim)
    arrays = [part for part in every if _is_array(part)]
    mask = next((each for each in arrays if isinstance(each, bool) or each.dtype == np.bool), None)
    if mask is not None and len(arrays) > 1:
        raise not_lazily("several arrays, of which one is a mask,")
    places = _places(every)
    if mask is not None:
        require_mask(mask, x.shape, places[0].of_x)
    rest = in_blocks_of_one(_rest(x, every))
    if mask is not None:
        found, first, count = _masked(rest, mask, places[0].of_rest), places[0].of_rest, 1
    elif len(arrays) == 1:
        found, first, count = _taken(rest, arrays[0], places[0]), places[0].of_rest, arrays[0].ndim
    else:
        found, first, count = _pointwise(rest, arrays, places), 0, max(i.ndim for i in arrays)
    place = 0 if parted(parts) else places[0].of_rest
    return da.moveaxis(found, range(first, first + count), range(place, place + count))


def _is_array(part: Any) -> bool:
    return isinstance(part, (Buffer, np.ndarray, bool))


def _places(every: list[Any]) -> list[Place]:
    places, of_x, of_rest = [], 0, 0
    for part in every:
        if _is_array(part):
            places.append(Place(of_x, of_rest))
        of_x += axes_of(part)
        of_rest += len(_full(part)) if _is_array(part) else not isinstance(part, int)
    return places


def _rest(x: Blocks, every: list[Any]) -> Blocks:
    """What the integers and slices of a key leave for the arrays."""
    parts = tuple(p for part in every for p in (_full(part) if _is_array(part) else (part,)))
    basic_shape(x, parts)
    return sliced(x, parts)


def _full(part: Any) -> tuple[Any, ...]:
    """What stands for an array in the meantime; for one mask of no axes a new axis."""
    return (slice(None),) * axes_of(part) or (None,)


def _masked(x: Blocks, mask: Buffer, axis: int) -> Blocks:
    """Where a mask over axes from ``axis`` on, which become one, is true."""
    if mask.ndim < 2:
        line = mask.array if mask.ndim else mask.array[None]
    else:
        if None in (*known(x.shape), *mask.shape):
            raise not_lazily("a mask over axes of unknown lengths")
        x = reshape(x, (*x.shape[:axis], -1, *x.shape[axis + mask.ndim :]))
        line = reshape(mask.array, (-1,))
    if None not in known(line.shape):  # Dask would take its blocks for those of x
        line = line.rechunk((x.chunks[axis],))
    return x[(slice(None),) * axis + (line,)]


def _taken(x: Blocks, index: Buffer, place: Place) -> Blocks:
    """Indices along one axis."""
    axis = place.of_rest
    flat = index.array if index.ndim == 1 else reshape(index.array, (-1,))
    checked = flat.map_blocks(
        within, _length(x, axis), place.of_x, dtype=np.int64, name=None, meta=flat._meta
    )
    found = x[(slice(None),) * axis + (checked,)]
    if index.ndim == 1:
        return found
    return reshape(found, (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _pointwise(x: Blocks, arrays: list[Any], places: list[Place]) -> Blocks:
    """Indices along several axes, one task a block of them; theirs are the first axes."""
    axes = [place.of_rest for place in places]
    lengths = [_length(x, axis) for axis in axes]
    require_one_shape([index.shape for index in arrays])
    if any(x.numblocks[axis] > 1 for axis in axes):
        chunks = ", ".join(f"{place.of_x}: -1" for place in places)
        raise IndexError(
            "indices along several axes that are computed later need those axes in one block "
            f"each: write x.rechunk({{{chunks}}}) before, or the indices as i.compute()"
        )
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    indices = [
        index.array if isinstance(index, Buffer) else da.from_array(index, -1, name=False)
        for index in arrays
    ]
    ndim = max(index.ndim for index in indices)
    of_indices = range(ndim)
    of_rest = range(ndim, ndim + len(rest))
    operands = [e for i in indices for e in (i, of_indices[ndim - i.ndim :])]
    return da.blockwise(
        picked,
        (*of_indices, *of_rest),
        x.transpose((*axes, *rest)),
        (*(-1 - i for i in range(len(axes))), *of_rest),
        *operands,
        dtype=x.dtype,
        meta=np.empty((0,) * (ndim + len(rest)), x.dtype),
        concatenate=True,
        bounds=tuple(zip(lengths, (place.of_x for place in places), strict=True)),
    )


def picked(block: Any, *indices: Any, bounds: tuple[tuple[int, int], ...]) -> Any:
    """The elements at indices along the first axes."""
    return block[tuple(within(i, *bound) for i, bound in zip(indices, bounds, strict=True))]


def _length(x: Blocks, axis: int) -> int:
    (length,) = known(x.shape[axis : axis + 1])
    if length is None:
        raise not_lazily("indices along an axis of unknown length")
    return length
