"""Means and variances over many blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
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
from promoarray.dtypes import DType, Kind

# --- Means: sums, and how many they are of --------------------------------------------------------


class Mean(NamedTuple):
    """How a mean is made: what its sum is divided by the number with, and what it is summed in."""

    divide: str
    summed: Callable[[DType], DType]


def _float_sum(compute: DType) -> DType:
    """NumPy's own choice."""
    if compute.kind in (Kind.BOOL, Kind.INT, Kind.UINT):
        return dt.float64
    return dt.float32 if compute is dt.float16 else compute


def _itself(compute: DType) -> DType:
    return compute


def _widest(compute: DType) -> DType:
    return dt.uint64 if compute.kind is Kind.UINT else dt.int64


MEANS = {
    "mean": Mean("divide", _float_sum),
    "mean_or_zero": Mean("divide", _itself),
    "exact_integer_mean": Mean("truncated_divide", _itself),
    "truncated_mean": Mean("truncated_divide", _widest),
}


def mean(
    kernel: str, x: da.Array, compute: DType, made: DType, axes: Axes, options: dict[str, Any]
) -> da.Array:
    makers = mean_step, mean_join, mean_finish
    return grown(makers, kernel, x, made, axes, options["keepdims"], compute=compute, made_in=made)


def mean_step(kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType) -> Any:
    """Make what sums up a block and counts it."""
    summed = MEANS[kernel].summed(compute)

    def step(block: Block) -> tuple[Block, int]:
        wide = backend_of(block).cast(block, compute, summed)
        return run_kernel("sum", wide, summed, axis=axes, keepdims=True), count_of(block, axes)

    return step


def mean_join(kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType) -> Any:
    """Make what adds up sums and numbers."""
    summed = MEANS[kernel].summed(compute)

    def join(parts: list[tuple[Block, int]]) -> tuple[Block, int]:
        totals, counts = zip(*parts, strict=True)
        return run_kernel("sum", stacked(totals), summed, axis=0), sum(counts)

    return join


def mean_finish(kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType) -> Any:
    """Make what divides."""
    divide, summed = MEANS[kernel].divide, MEANS[kernel].summed(compute)
    join = mean_join(kernel, axes, keepdims, compute, made)

    def finish(parts: list[tuple[Block, int]]) -> Block:
        total, count = join(parts)
        backend = backend_of(total)
        number = backend.from_numpy(np.full((), count, summed.storage), summed)
        ((mean, found),) = backend.call(divide, (total, number), summed)
        return dropped(backend.cast(mean, found, made), axes, keepdims)

    return finish


# --- Variances: Chan's update of number, mean and squares -----------------------------------------


def var(
    kernel: str, x: da.Array, compute: DType, made: DType, axes: Axes, options: dict[str, Any]
) -> da.Array:
    makers = var_step, var_join, var_finish
    ddof = options.get("ddof", 0.0)
    return grown(
        makers, kernel, x, made, axes, options["keepdims"], compute=compute, made_in=made, ddof=ddof
    )


Moments = tuple[int, Block, Block]
"""A number, the mean, and the sum of squared distances from it."""


def var_step(
    kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType, ddof: float
) -> Any:
    """Make what gives the moments of a block, computed as NumPy computes them, kept in float64."""
    floating = _float_sum(compute)
    wide = dt.complex128 if compute.kind is Kind.COMPLEX else dt.float64

    def step(block: Block) -> Moments:
        cast = backend_of(block).cast
        x = cast(block, compute, floating)
        count = count_of(block, axes)
        if not count:  # 0, and no warning, for a block that a mask left empty
            nothing = x.sum(axis=axes, keepdims=True)
            return 0, cast(nothing, floating, wide), nothing.real.astype(np.float64)
        mean = run_kernel("mean", x, floating, axis=axes, keepdims=True)
        squares = _squares(x - mean).sum(axis=axes, keepdims=True)
        return count, cast(mean, floating, wide), squares.astype(np.float64)

    return step


def _squares(x: Block) -> Block:
    return x.real**2 + x.imag**2 if x.dtype.kind == "c" else x * x


def var_join(
    kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType, ddof: float
) -> Any:
    """Make what joins moments."""

    def join(parts: list[Moments]) -> Moments:
        parts = [part for part in parts if part[0]] or parts[:1]
        count, mean, squares = parts[0]
        for more, other, distances in parts[1:]:
            gap, total = other - mean, count + more
            mean = mean + gap * (more / total)
            squares = squares + distances + _squares(gap) * (count * (more / total))
            count = total
        return count, mean, squares

    return join


def var_finish(
    kernel: str, axes: Axes, keepdims: bool, compute: DType, made: DType, ddof: float
) -> Any:
    """Make what divides by the degrees of freedom, and takes the root for ``std``."""
    join = var_join(kernel, axes, keepdims, compute, made, ddof)

    def finish(parts: list[Moments]) -> Block:
        count, _, squares = join(parts)
        out = squares / np.float64(max(count - ddof, 0))
        if kernel == "std":
            out = out**0.5
        return dropped(backend_of(out).cast(out, dt.float64, made), axes, keepdims)

    return finish
