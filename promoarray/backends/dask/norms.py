"""Norms of vectors over many blocks: extremes, counts, and sums of powers with a root at the end.

The largest, the smallest and the number of elements that are not 0 are NumPy's, bit for bit. Others
are sums of floats, and off by as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import dask.array as da
import numpy as np

from promoarray.backends import backend_of
from promoarray.backends.dask.steps import Block, Reduction, run_kernel, stacked
from promoarray.backends.dask.storage import opened
from promoarray.dtypes import Kind

JOINED = {inf: "max", -inf: "min", 0: "sum", 1: "sum"}
"""How norms of blocks are joined to the norm of all, where that can be done."""


@dataclass(frozen=True)
class VectorNorm(Reduction):
    """``vector_norm``."""

    ord: float

    @classmethod
    def own_fields(cls, x: da.Array, options: Mapping[str, Any]) -> tuple[Any, ...]:
        return (options["ord"],)

    def step(self, block: Block) -> Block | None:
        if self.ord < 0 and not self.count(block):
            return None  # the smallest of none; of other orders the norm of none is 0
        if self.ord in JOINED:
            options = {"axis": self.axes, "keepdims": True, "ord": self.ord}
            return run_kernel(self.kernel, block, self.compute, **options)
        x = opened(block, self.compute)
        backend = backend_of(x)
        if self.compute.kind not in (Kind.FLOAT, Kind.COMPLEX):
            x = backend.cast(x, self.compute, self.made)
        powers = (x.conj() * x).real if self.ord == 2 else backend.xp.abs(x) ** self.ord
        return self.sum(powers, self.made)

    def join(self, parts: list[Block | None]) -> Block | None:
        found = [part for part in parts if part is not None]
        if len(found) < 2:
            return found[0] if found else None
        return run_kernel(JOINED.get(self.ord, "sum"), stacked(found), self.made, axis=0)

    def answer(self, part: Block | None) -> Block:
        if part is None:  # the kernel has words for it
            nothing = np.empty(0, self.compute.storage)
            return run_kernel(self.kernel, nothing, self.compute, axis=(0,), ord=self.ord)
        if self.ord in JOINED:
            return part
        if self.ord == 2:
            return backend_of(part).xp.sqrt(part)
        return part ** np.reciprocal(self.ord, dtype=part.dtype)
