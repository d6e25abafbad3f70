"""Where the largest and smallest elements are, over many blocks: the first of equals."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends.dask.steps import Axes, Block, dropped, grown, run_kernel, stacked
from promoarray.dtypes import DType

# --- Positions: values and where they are, the first of equals ------------------------------------


def position(
    kernel: str, x: da.Array, compute: DType, made: DType, axes: Axes, options: dict[str, Any]
) -> da.Array:
    if any(isnan(n) for a in axes for n in x.chunks[a]):
        raise ValueError(f"{kernel} over blocks of unknown length: write x.compute_chunk_sizes()")
    shape = x.shape if options["axis"] is None else None
    makers = position_step, position_join, position_finish
    return grown(
        makers, kernel, x, made, axes, options["keepdims"], True, compute=compute, shape=shape
    )


Found = tuple[Block, Block]
"""Values, and the indices they are at: along the axis, or of all elements in rows."""


def position_step(
    kernel: str, axes: Axes, keepdims: bool, compute: DType, shape: tuple[int, ...] | None
) -> Any:
    """Make what finds the extremes of a block, and says where they are in the whole array."""

    def step(block: Block, at: tuple[slice, ...]) -> Found | None:
        if 0 in (block.shape[a] for a in axes):
            return None
        if shape is None:
            (axis,) = axes
            index = run_kernel(kernel, block, compute, axis=axis, keepdims=True)
            values = backend_of(block).xp.take_along_axis(block, index, axis=axis)
            return values, index + at[axis].start
        index = int(run_kernel(kernel, block, compute, axis=None))
        place = np.unravel_index(index, block.shape)
        flat = np.ravel_multi_index([s.start + i for s, i in zip(at, place, strict=True)], shape)
        one = (1,) * len(axes)
        values = block.reshape(-1)[index : index + 1].reshape(one)
        return values, backend_of(block).from_numpy(np.full(one, flat, np.int64), dt.int64)

    return step


def position_join(
    kernel: str, axes: Axes, keepdims: bool, compute: DType, shape: tuple[int, ...] | None
) -> Any:
    """Make what takes the extreme of several, by the kernel; of equals the one that is first."""

    def join(parts: list[Found | None]) -> Found | None:
        found = list(_there(parts))
        if len(found) < 2:
            return found[0] if found else None
        if shape is not None:  # blocks do not come in the order of their elements
            found.sort(key=lambda part: int(part[1].reshape(-1)[0]))
        values, indices = (stacked(list(each)) for each in zip(*found, strict=True))
        best = run_kernel(kernel, values, compute, axis=0, keepdims=True)
        take = backend_of(values).xp.take_along_axis
        return take(values, best, axis=0)[0], take(indices, best, axis=0)[0]

    return join


def _there(parts: list[Found | None]) -> Iterator[Found]:
    return (part for part in parts if part is not None)


def position_finish(
    kernel: str, axes: Axes, keepdims: bool, compute: DType, shape: tuple[int, ...] | None
) -> Any:
    """Make what gives the indices."""
    join = position_join(kernel, axes, keepdims, compute, shape)
    return lambda parts: dropped(join(parts)[1], axes, keepdims)
