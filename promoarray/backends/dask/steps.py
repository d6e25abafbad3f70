"""What the steps of reductions share: a kernel on a block, and trees of functions of blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import dask.array as da

from promoarray.backends import backend_of
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.storage import closed, opened
from promoarray.backends.dask.tree import tree
from promoarray.dtypes import DType

Block = Any
Axes = tuple[int, ...]


class Steps(NamedTuple):
    """The three functions of a tree."""

    step: BlockExecutable
    join: BlockExecutable
    finish: BlockExecutable


def run_kernel(kernel: str, block: Block, compute: DType, **options: Any) -> Block:
    """Run a kernel of one operand and one result on the codes of a block."""
    block = opened(block, compute)
    ((out, made),) = backend_of(block).call(kernel, (block,), compute, **options)
    return closed(out, made)


def stacked(parts: Sequence[Block]) -> Block:
    """Partial results of one shape along a new first axis."""
    return backend_of(parts[0]).xp.stack(list(parts))


def dropped(block: Block, axes: Axes, keepdims: bool) -> Block:
    """The result without the axes that are reduced, which have 1 element each."""
    if keepdims:
        return block
    return block.reshape([n for a, n in enumerate(block.shape) if a not in axes])


def grown(
    makers: tuple[Callable[..., Any], ...],
    kernel: str,
    x: da.Array,
    made: DType,
    axes: Axes,
    keepdims: bool,
    located: bool = False,
    **fields: Any,
) -> da.Array:
    """The tree of three functions that are made of the same fields."""
    values = tuple(fields.values())
    steps = _executables(makers, (kernel, axes, keepdims, *values))
    here = (each.in_state() for each in steps)
    return tree(x, axes, made, keepdims, kernel, *here, located=located)


@lru_cache(maxsize=1024)
def _executables(makers: tuple[Callable[..., Any], ...], fields: tuple[Any, ...]) -> Steps:
    return Steps(*(BlockExecutable(make, *fields) for make in makers))


def count_of(block: Block, axes: Axes) -> int:
    """The number of elements along axes."""
    return prod(block.shape[a] for a in axes)
