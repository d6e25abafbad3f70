"""Sums, extremes, means, variances, norms and positions of extremes, over blocks.

Where the axes to reduce lie in one block, the kernel itself runs on each block, with NumPy's own
bits. Where they lie in several, integers, bools, extremes and positions are exact still; floating
point sums add partial sums of the blocks in an order that only the chunks decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize

from promoarray import dtypes as dt
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.integer_variances import KERNELS, IntegerVariance
from promoarray.backends.dask.means import WAYS, Mean, Variance
from promoarray.backends.dask.norms import VectorNorm
from promoarray.backends.dask.positions import Position
from promoarray.backends.dask.steps import Axes, Block, Reduction, run_kernel, stacked
from promoarray.backends.dask.storage import storage
from promoarray.backends.dask.tree import Results, answers, few, meta_of, only
from promoarray.dtypes import DType, Kind


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
    if kernel in ("max", "min") and compute.kind is Kind.COMPLEX and len(axes) > 1:
        # The first with NaN is the answer: so the last axis first, as blocks come in another order.
        for axis in reversed(axes):
            ((x, _),) = reduce(kernel, (x,), compute, axis=axis, keepdims=options["keepdims"])
        return ((x, made),)
    kind = TREES[kernel]
    own = kind.own_fields(x, options)
    found = kind(kernel, axes, options["keepdims"], compute, made, *own)
    return ((found.over(x), made),)


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


@dataclass(frozen=True)
class Again(Reduction):
    """Sums, products, extremes and truth."""

    def step(self, block: Block) -> Block | None:
        if self.kernel in ("max", "min") and not self.count(block):
            return None  # one without elements, as masks leave some, has no extreme
        return run_kernel(self.kernel, block, self.compute, axis=self.axes, keepdims=True)

    def join(self, parts: list[Block | None]) -> Block | None:
        found = [part for part in parts if part is not None]
        if len(found) < 2:
            return found[0] if found else None
        kernel = self.kernel.removeprefix("real_")  # of whose results are bools
        return run_kernel(kernel, stacked(found), self.made, axis=0)

    def answer(self, part: Block | None) -> Block:
        if part is None:  # the kernel has words for it
            return run_kernel(self.kernel, np.empty(0, storage(self.compute)), self.compute)
        return part


# --- The trace ---------------------------------------------------------------


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


TREES: dict[str, type[Reduction]] = {
    **dict.fromkeys(("sum", "prod", "max", "min", "all", "any"), Again),
    **dict.fromkeys(("real_all", "real_any", "max_or_lowest", "min_or_highest"), Again),
    **dict.fromkeys(WAYS, Mean),
    **dict.fromkeys(("var", "std"), Variance),
    **dict.fromkeys(KERNELS, IntegerVariance),
    **dict.fromkeys(("argmax", "argmin"), Position),
    **dict.fromkeys(("argmax_without_nan", "argmin_without_nan"), Position),
    "vector_norm": VectorNorm,
}

GRAPHS: dict[str, Callable[..., Results]] = {**dict.fromkeys(TREES, reduce), "trace": trace}
