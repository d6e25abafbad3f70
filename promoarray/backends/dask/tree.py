"""Reductions over many blocks: one step a block, and joins of a few partial results each.

The shape of the tree comes from the chunks alone. So floating-point sums of the same chunks have
the same bits whatever schedules them: threads, two workers or forty, with a worker lost on the way.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from math import ceil
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArraySliceDep

from promoarray import dtypes as dt
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask.storage import storage
from promoarray.dtypes import DType

FAN_IN = 8
"""Partial results that one task joins; Dask's own setting for it would change bits."""

Results = tuple[tuple[da.Array, DType], ...]


def meta_of(ndim: int, dtype: DType) -> Any:
    """What tells Dask the library, dtype and rank of blocks."""
    return np.empty((0,) * ndim, storage(dtype))


@lru_cache(maxsize=4096)
def answers(
    kernel: str, compute: DType, shapes: tuple[tuple[int, ...], ...], **options: Any
) -> tuple[DType, ...]:
    """The dtypes a kernel answers in, and its errors for axes: asked of ones.

    Raises
    ------
    ValueError, TypeError
        What the kernel raises of these axes, or of axes without elements.
    """
    ones = tuple(numpy_backend.cast(np.ones(shape, np.bool), dt.bool, compute) for shape in shapes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = numpy_backend.call(kernel, ones, compute, **options)
    return tuple(dtype for _, dtype in found)


def few(x: da.Array) -> tuple[int, ...]:
    """A shape of one element, or of none as the array has none, to ask a kernel of."""
    return tuple(int(n != 0) for n in x.shape)


def tree(
    x: da.Array,
    axes: tuple[int, ...],
    dtype: DType,
    keepdims: bool,
    name: str,
    step: Callable[..., Any],
    join: Callable[..., Any],
    finish: Callable[..., Any],
    *,
    located: bool = False,
) -> da.Array:
    """Reduce axes of an array that have more than one block.

    Parameters
    ----------
    x : da.Array
    axes : tuple of int
        Counted from the first.
    dtype : DType
        What ``finish`` answers in.
    keepdims : bool
    name : str
        What the tasks are called.
    step : callable
        From a block, and the slices it is at if ``located``, to its partial result.
    join : callable
        From a list of partial results, in the order of their blocks, to one.
    finish : callable
        The same for the last of them, to a block with 1 in the place of each axis if ``keepdims``.
    located : bool
    """
    index = tuple(range(x.ndim))
    where = (ArraySliceDep(x.chunks), index) if located else ()
    partial = da.blockwise(
        step,
        index,
        x,
        index,
        *where,
        name=f"{name}-step-{tokenize(x.name, step, axes)}",
        adjust_chunks=dict.fromkeys(axes, 1),
        align_arrays=False,
        meta=meta_of(x.ndim, dtype),
    )
    each = max(2, int(FAN_IN ** (1 / len(axes)) + 1e-9))
    while any(partial.numblocks[a] > each for a in axes):
        partial = _joined(partial, axes, each, dtype, True, f"{name}-join", join)
    return _joined(partial, axes, each, dtype, keepdims, name, finish)


def _joined(
    partial: da.Array,
    axes: tuple[int, ...],
    each: int,
    dtype: DType,
    keepdims: bool,
    name: str,
    function: Callable[..., Any],
) -> da.Array:
    """One level: ``each`` neighbours along every axis become one."""
    name = f"{name}-{tokenize(partial.name, function, axes, each, keepdims)}"
    every = range(partial.ndim)
    groups = [
        [range(at, min(at + each, n)) for at in range(0, n, each)] if a in axes else _ones(n)
        for a, n in zip(every, partial.numblocks, strict=True)
    ]
    kept = [a for a in every if keepdims or a not in axes]
    tasks = {}
    for place in product(*map(range, map(len, groups))):
        members = product(*(groups[a][i] for a, i in zip(every, place, strict=True)))
        key = (name, *(place[a] for a in kept))
        tasks[key] = (function, [(partial.name, *member) for member in members])
    chunks = tuple(
        (1,) * ceil(partial.numblocks[a] / each) if a in axes else partial.chunks[a] for a in kept
    )
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[partial])
    return da.Array(graph, name, chunks, meta=meta_of(len(kept), dtype))


def _ones(count: int) -> list[range]:
    return [range(i, i + 1) for i in range(count)]


def only(block: Any) -> Any:
    """The one block in the lists that Dask gives for an axis that is not in the result."""
    while isinstance(block, list):
        (block,) = block
    return block


def in_one_block(name: str, x: da.Array, axes: tuple[int, ...]) -> str:
    """What to write where axes have to lie in one block each."""
    axis = next(a for a in axes if x.numblocks[a] > 1)
    chunks = ", ".join(f"{a}: -1" for a in axes)
    return (
        f"{name} needs axis {axis} in one block, and it lies in {x.numblocks[axis]}: write "
        f"x.rechunk({{{chunks}}}), or x.to_device('cpu')"
    )
