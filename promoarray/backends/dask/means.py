"""Means and variances over many blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends.dask.steps import Block, Reduction, summed
from promoarray.dtypes import DType, Kind

# --- Means: sums, and how many they are of --------------------------------------------------------


class Way(NamedTuple):
    """How a mean is made: what its sum is divided by the number with, and what it is summed in."""

    divide: str
    wide: Callable[[DType], DType]


def _float_sum(compute: DType) -> DType:
    """NumPy's own choice."""
    if compute.kind in (Kind.BOOL, Kind.INT, Kind.UINT):
        return dt.float64
    return dt.float32 if compute is dt.float16 else compute


def _itself(compute: DType) -> DType:
    return compute


def _widest(compute: DType) -> DType:
    return dt.uint64 if compute.kind is Kind.UINT else dt.int64


WAYS = {
    "mean": Way("divide", _float_sum),
    "mean_or_zero": Way("divide", _itself),
    "exact_integer_mean": Way("truncated_divide", _itself),
    "truncated_mean": Way("truncated_divide", _widest),
}

Total = tuple[Block, int]
"""A sum, and of how many."""


@dataclass(frozen=True)
class Mean(Reduction):
    """The kernels in ``WAYS``."""

    @property
    def wide(self) -> DType:
        """What the sum is made in."""
        return WAYS[self.kernel].wide(self.compute)

    def step(self, block: Block) -> Total:
        wide = backend_of(block).cast(block, self.compute, self.wide)
        return self.sum(wide, self.wide), self.count(block)

    def join(self, parts: list[Total]) -> Total:
        totals, counts = zip(*parts, strict=True)
        return summed(totals, self.wide), sum(counts)

    def answer(self, part: Total) -> Block:
        total, count = part
        backend = backend_of(total)
        number = backend.from_numpy(np.full((), count, self.wide.storage), self.wide)
        ((mean, found),) = backend.call(WAYS[self.kernel].divide, (total, number), self.wide)
        return backend.cast(mean, found, self.made)


# --- Variances: Chan's update of number, mean and squares -----------------------------------------

Moments = tuple[int, Block, Block]
"""A number, the mean, and the sum of squared distances from it, computed as NumPy computes them
and kept in float64."""


@dataclass(frozen=True)
class Variance(Reduction):
    """``var`` and ``std``."""

    ddof: float

    @classmethod
    def own_fields(cls, x: da.Array, options: Mapping[str, Any]) -> tuple[Any, ...]:
        return (options.get("ddof", 0.0),)

    def step(self, block: Block) -> Moments:
        cast, floating = backend_of(block).cast, _float_sum(self.compute)
        wide = dt.complex128 if self.compute.kind is Kind.COMPLEX else dt.float64
        x = cast(block, self.compute, floating)
        count = self.count(block)
        if not count:  # 0, and no warning, for a block that a mask left empty
            nothing = x.sum(axis=self.axes, keepdims=True)
            return 0, cast(nothing, floating, wide), nothing.real.astype(np.float64)
        ((mean, _),) = backend_of(x).call("mean", (x,), floating, axis=self.axes, keepdims=True)
        squares = _squares(x - mean).sum(axis=self.axes, keepdims=True)
        return count, cast(mean, floating, wide), squares.astype(np.float64)

    def join(self, parts: list[Moments]) -> Moments:
        parts = [part for part in parts if part[0]] or parts[:1]
        count, mean, squares = parts[0]
        for more, other, distances in parts[1:]:
            gap, total = other - mean, count + more
            mean = mean + gap * (more / total)
            squares = squares + distances + _squares(gap) * (count * (more / total))
            count = total
        return count, mean, squares

    def answer(self, part: Moments) -> Block:
        count, _, squares = part
        out = squares / np.float64(max(count - self.ddof, 0))
        if self.kernel == "std":
            out = out**0.5
        return backend_of(out).cast(out, dt.float64, self.made)


def _squares(x: Any) -> Any:
    return x.real**2 + x.imag**2 if x.dtype.kind == "c" else x * x
