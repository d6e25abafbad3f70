"""Sums, extremes, means, variances and positions of extremes, over blocks.

Where the axes to reduce lie in one block, the kernel itself runs on each block, with NumPy's own
bits. Where they lie in several, integers, bools, extremes and positions are exact still; floating
point sums add partial sums of the blocks in an order that only the chunks decide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize

from promoarray import dtypes as dt
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.integer_variances import var_around_integer
from promoarray.backends.dask.means import MEANS, mean, var
from promoarray.backends.dask.positions import position
from promoarray.backends.dask.steps import (
    Axes,
    Block,
    count_of,
    dropped,
    grown,
    run_kernel,
    stacked,
)
from promoarray.backends.dask.storage import storage
from promoarray.backends.dask.tree import Results, answers, few, in_one_block, meta_of, only
from promoarray.dtypes import DType


def reduce(kernel: str, arrays: tuple[da.Array, ...], compute: DType, **options: Any) -> Results:
    """Reduce an array: ``call`` of the back ends for the kernels in ``GRAPHS``."""
    (x,) = arrays
    options = {"axis": None, "keepdims": False, **options}
    axes = _axes(options["axis"], x.ndim)
    if 0 in x.shape:  # what the kernels make of nothing, they make of it in one piece
        x = x.rechunk(-1)
    # The divisor of ``var`` has no say in dtypes, and 1 would warn of one element.
    told = {name: value for name, value in options.items() if name != "ddof"}
    (made,) = answers(kernel, compute, (few(x),), **told)
    if all(x.numblocks[a] == 1 for a in axes):
        return ((_in_one(kernel, x, compute, made, axes, options), made),)
    found = TREES[kernel](kernel, x, compute, made, axes, options)
    return ((found, made),)


def _axes(axis: Any, ndim: int) -> Axes:
    """The axes to reduce; what NumPy lets pass of no axes, and its errors, are left to it."""
    if axis is None:
        return tuple(range(ndim))
    named = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted({a % ndim for a in named})) if ndim else ()


def _in_one(
    kernel: str, x: da.Array, compute: DType, made: DType, axes: Axes, options: dict[str, Any]
) -> da.Array:
    """The kernel itself on each block."""
    kept = tuple(a for a in range(x.ndim) if options["keepdims"] or a not in axes)
    given = {name: value for name, value in options.items() if name != "keepdims" or value}
    run = _whole(kernel, compute, tuple(sorted(given.items()))).in_state()
    return da.blockwise(
        run,
        kept,
        x,
        tuple(range(x.ndim)),
        name=f"{kernel}-{tokenize(x.name, run)}",
        adjust_chunks=dict.fromkeys(axes, 1),
        align_arrays=False,
        meta=meta_of(len(kept), made),
    )


@lru_cache(maxsize=1024)
def _whole(kernel: str, compute: DType, options: tuple[tuple[str, Any], ...]) -> BlockExecutable:
    return BlockExecutable(whole_block, kernel, compute, options)


def whole_block(
    kernel: str, compute: DType, options: tuple[tuple[str, Any], ...]
) -> Callable[..., Block]:
    """Make what reduces a block by the kernel itself."""

    def run(block: Any) -> Block:
        return run_kernel(kernel, only(block), compute, **dict(options))

    return run


# --- Sums, products, extremes, truth: partial results go through the kernel again ----------------


def _again(
    kernel: str, x: da.Array, compute: DType, made: DType, axes: Axes, options: dict[str, Any]
) -> da.Array:
    makers = again_step, again_join, again_finish
    return grown(
        makers, kernel, x, made, axes, options["keepdims"], compute=compute, joined_in=made
    )


def again_step(kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType) -> Any:
    """Make what reduces a block; one without elements, as masks leave some, has no extreme."""

    def step(block: Block) -> Block | None:
        if kernel in ("max", "min") and not count_of(block, axes):
            return None
        return run_kernel(kernel, block, compute, axis=axes, keepdims=True)

    return step


def again_join(kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType) -> Any:
    """Make what reduces reduced blocks; of ``real_all`` those are bools."""
    kernel = kernel.removeprefix("real_")

    def join(parts: list[Block | None]) -> Block | None:
        found = [part for part in parts if part is not None]
        if len(found) < 2:
            return found[0] if found else None
        return run_kernel(kernel, stacked(found), made, axis=0)

    return join


def again_finish(kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType) -> Any:
    """Make what joins the last and drops the axes."""
    join = again_join(kernel, axes, keepdims, compute, made)

    def finish(parts: list[Block | None]) -> Block:
        found = join(parts)
        if found is None:  # the kernel has words for it
            found = run_kernel(kernel, np.empty(0, storage(compute)), compute, axis=None)
        return dropped(found, axes, keepdims)

    return finish


# --- The trace, and what has no tree --------------------------------------------------------------


def trace(kernel: str, arrays: tuple[da.Array, ...], compute: DType, **options: Any) -> Results:
    """Sum diagonals: in one step where the matrices lie in one block each."""
    (x,) = arrays
    (made,) = answers(kernel, compute, (few(x),), **options)
    axes = tuple(options[axis] % x.ndim for axis in ("axis1", "axis2"))
    if all(x.numblocks[a] == 1 for a in axes):
        return ((_in_one(kernel, x, compute, made, axes, {**options, "keepdims": False}), made),)
    if compute is dt.bool:
        x = x.view("i1")  # its kernel counts them
    line = da.diagonal(x, options["offset"], *axes)
    return reduce("sum", (line,), made, axis=-1)


def _refused(
    kernel: str, x: da.Array, compute: DType, made: DType, axes: Axes, options: dict[str, Any]
) -> da.Array:
    """The variances of Paddle 3.3 of integers: the mean they are around is rounded to float32."""
    raise ValueError(in_one_block(kernel, x, axes))


TREES: dict[str, Callable[..., da.Array]] = {
    **dict.fromkeys(("sum", "prod", "max", "min", "all", "any"), _again),
    **dict.fromkeys(("real_all", "real_any", "max_or_lowest", "min_or_highest"), _again),
    **dict.fromkeys(MEANS, mean),
    **dict.fromkeys(("var", "std"), var),
    **dict.fromkeys(("var_around_integer", "std_around_integer"), var_around_integer),
    **dict.fromkeys(("integer_var", "integer_std"), _refused),
    **dict.fromkeys(("argmax", "argmin"), position),
    **dict.fromkeys(("argmax_without_nan", "argmin_without_nan"), position),
}

GRAPHS: dict[str, Callable[..., Results]] = {**dict.fromkeys(TREES, reduce), "trace": trace}
