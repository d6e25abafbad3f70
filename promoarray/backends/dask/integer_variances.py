"""Variances of integers around a mean that is an integer, over many blocks, with NumPy's bits.

They are Paddle 2.6's. All but the last division is of integers that wrap around. The squares of the
gaps to the mean add up to ``squares - 2 * mean * total + count * mean ** 2`` then, and need no
second pass over the values.
"""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from promoarray.backends import backend_of
from promoarray.backends.dask.steps import (
    Axes,
    Block,
    count_of,
    dropped,
    grown,
    run_kernel,
    stacked,
)
from promoarray.dtypes import DType

Sums = tuple[int, Block, Block]
"""A number, the sum, and the sum of the squares, both in the dtype of the values."""


def var_around_integer(
    kernel: str, x: da.Array, compute: DType, made: DType, axes: Axes, options: dict[str, Any]
) -> da.Array:
    makers, ddof = (sums_step, sums_join, sums_finish), options.get("ddof", 0.0)
    return grown(makers, kernel, x, made, axes, options["keepdims"], compute=compute, ddof=ddof)


def sums_step(kernel: str, axes: Axes, keepdims: bool, compute: DType, ddof: float) -> Any:
    """Make what sums up a block."""

    def step(block: Block) -> Sums:
        total, squares = (
            run_kernel("sum", each, compute, axis=axes, keepdims=True)
            for each in (block, block * block)
        )
        return count_of(block, axes), total, squares

    return step


def sums_join(kernel: str, axes: Axes, keepdims: bool, compute: DType, ddof: float) -> Any:
    """Make what adds up sums."""

    def join(parts: list[Sums]) -> Sums:
        counts, totals, squares = zip(*parts, strict=True)
        total, square = (run_kernel("sum", stacked(s), compute, axis=0) for s in (totals, squares))
        return sum(counts), total, square

    return join


def sums_finish(kernel: str, axes: Axes, keepdims: bool, compute: DType, ddof: float) -> Any:
    """Make what divides by the degrees of freedom, and takes the root for ``std``."""
    join = sums_join(kernel, axes, keepdims, compute, ddof)

    def finish(parts: list[Sums]) -> Block:
        count, total, squares = join(parts)
        backend = backend_of(total)
        number = backend.from_numpy(np.full((), count, compute.storage), compute)
        ((mean, _),) = backend.call("truncated_divide", (total, number), compute)
        gaps = squares - 2 * mean * total + number * mean * mean
        out = gaps.astype("float32") / np.float32(max(count - ddof, 0))
        if kernel == "std_around_integer":
            out = backend.xp.sqrt(out)
        return dropped(out, axes, keepdims)

    return finish
