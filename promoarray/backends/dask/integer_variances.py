"""Variances of integers around a mean that is an integer, over many blocks, with NumPy's bits.

They are Paddle's. All but the mean and the last division is of integers that wrap around. The
squares of the gaps to the mean add up to ``squares - 2 * mean * total + count * mean ** 2`` then,
and need no second pass over the values.

Paddle 2.6's mean is a quotient of integers. Paddle 3.3's is one of float32, whose sum has the same
bits in any order only where it is exact: where no sum of so many can go beyond 24 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends.dask.steps import Block, Reduction, summed
from promoarray.backends.dask.tree import in_one_block
from promoarray.kernels.portable.statistics import whole

Sums = tuple[int, Block, Block]
"""A number, the sum in int64, and the sum of the squares in the dtype of the values."""


@dataclass(frozen=True)
class IntegerVariance(Reduction):
    """``var_around_integer`` and ``integer_var``, and their roots."""

    ddof: float

    @classmethod
    def own_fields(cls, x: da.Array, options: Mapping[str, Any]) -> tuple[Any, ...]:
        return (options.get("ddof", 0.0),)

    def refusal(self, x: da.Array) -> str:
        if self.kernel not in IN_FLOAT32:
            return ""
        info = np.iinfo(self.compute.storage)
        most = max(-int(info.min), int(info.max))
        exact = prod(x.shape[a] for a in self.axes) * most <= 1 << 24  # not if it is not known
        return "" if exact else in_one_block(self.kernel.removeprefix("integer_"), x, self.axes)

    def step(self, block: Block) -> Sums:
        wide = backend_of(block).cast(block, self.compute, dt.int64)
        squares = self.sum(block * block, self.compute)
        return self.count(block), self.sum(wide, dt.int64), squares

    def join(self, parts: list[Sums]) -> Sums:
        counts, totals, squares = zip(*parts, strict=True)
        return sum(counts), summed(totals, dt.int64), summed(squares, self.compute)

    def answer(self, part: Sums) -> Block:
        count, wide, squares = part
        backend = backend_of(wide)
        total = backend.cast(wide, dt.int64, self.compute)
        number = backend.from_numpy(np.full((), count, self.compute.storage), self.compute)
        if self.kernel in IN_FLOAT32:
            mean = (wide.astype("float32") / np.float32(count)).astype(squares.dtype)
        else:
            ((mean, _),) = backend.call("truncated_divide", (total, number), self.compute)
        gaps = squares - 2 * mean * total + number * mean * mean
        out = gaps.astype("float32") / np.float32(max(count - self.ddof, 0))
        if self.kernel in IN_FLOAT32:
            out = whole(backend.xp, out, squares.dtype)
        return backend.xp.sqrt(out.astype("float32")) if self.kernel in ROOTS else out


IN_FLOAT32 = frozenset({"integer_var", "integer_std"})
ROOTS = frozenset({"integer_std", "std_around_integer"})
KERNELS = ("var_around_integer", "std_around_integer", *IN_FLOAT32)
