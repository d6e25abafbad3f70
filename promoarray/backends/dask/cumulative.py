"""Running sums and products: each block goes on from the last value of the one before it.

That is NumPy's own order, so floats get its bits; but the blocks along the axis wait for each
other. Those along other axes do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

import dask.array as da
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from promoarray.backends import backend_of
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.steps import Block, run_kernel
from promoarray.backends.dask.tree import Results, answers, few, meta_of
from promoarray.dtypes import DType


def accumulate(
    kernel: str,
    arrays: tuple[da.Array, ...],
    compute: DType,
    *,
    axis: int = 0,
    include_initial: bool = False,
) -> Results:
    """``call`` of the back ends for the kernels in ``GRAPHS``."""
    (x,) = arrays
    (made,) = answers(kernel, compute, (few(x),), axis=axis)
    axis %= x.ndim
    found = _executables(kernel, compute, made, axis, include_initial)
    first, following, last = (each.in_state() for each in found)
    name = f"{kernel}-{tokenize(x.name, first, following)}"
    carried = f"{kernel}-last-{tokenize(name)}"
    tasks: dict[Any, Any] = {}
    for place in product(*map(range, x.numblocks)):
        before = (carried, *place[:axis], place[axis] - 1, *place[axis + 1 :])
        here, block = (name, *place), (x.name, *place)
        tasks[here] = (following, block, before) if place[axis] else (first, block)
        if place[axis] + 1 < x.numblocks[axis]:
            tasks[carried, *place] = (last, here, before) if place[axis] else (last, here)
    chunks = list(x.chunks)
    if include_initial:
        chunks[axis] = (chunks[axis][0] + 1, *chunks[axis][1:])
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[x])
    return ((da.Array(graph, name, tuple(chunks), meta=meta_of(x.ndim, made)), made),)


@lru_cache(maxsize=1024)
def _executables(
    kernel: str, compute: DType, made: DType, axis: int, initial: bool
) -> tuple[BlockExecutable, BlockExecutable, BlockExecutable]:
    return (
        BlockExecutable(first_block, kernel, compute, axis, initial),
        BlockExecutable(following_block, kernel, compute, made, axis),
        BlockExecutable(last_of_block, axis),
    )


def first_block(kernel: str, compute: DType, axis: int, initial: bool) -> Callable[..., Block]:
    """Make what the first block goes through: the kernel."""
    return lambda block: run_kernel(kernel, block, compute, axis=axis, include_initial=initial)


def following_block(kernel: str, compute: DType, made: DType, axis: int) -> Callable[..., Block]:
    """Make what goes on from a value before the block, if there is one."""

    def run(block: Block, before: Block | None) -> Block:
        if before is None:
            return run_kernel(kernel, block, compute, axis=axis)
        backend = backend_of(block)
        block = backend.cast(block, compute, made)
        ((joined, _),) = backend.call("concat", (before, block), made, axis=axis)
        return _without_first(run_kernel(kernel, joined, made, axis=axis), axis)

    return run


def last_of_block(axis: int) -> Callable[..., Block | None]:
    """Make what hands the last value on; of an empty block what came to it."""

    def run(block: Block, before: Block | None = None) -> Block | None:
        return _along(block, axis, slice(-1, None)).copy() if block.shape[axis] else before

    return run


def _without_first(block: Block, axis: int) -> Block:
    return _along(block, axis, slice(1, None))


def _along(block: Block, axis: int, part: slice) -> Block:
    return block[(*(slice(None),) * axis, part)]


GRAPHS: dict[str, Callable[..., Results]] = dict.fromkeys(
    ("cumulative_sum", "cumulative_prod"), accumulate
)
