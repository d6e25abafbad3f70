"""Where the largest and smallest elements are, over many blocks: the first of equals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends.dask.steps import Block, Reduction, run_kernel, stacked

Found = tuple[Block, Block]
"""Values, and the indices they are at: along the axis, or of all elements in rows."""


@dataclass(frozen=True)
class Position(Reduction):
    """``argmax``, ``argmin`` and those that pass over NaN.

    Attributes
    ----------
    shape : tuple of int or None
        That of the whole array, where its elements are counted in rows.
    """

    shape: tuple[int, ...] | None

    located = True

    @classmethod
    def own_fields(cls, x: da.Array, options: Mapping[str, Any]) -> tuple[Any, ...]:
        return (x.shape if options["axis"] is None else None,)

    def refusal(self, x: da.Array) -> str:
        if any(isnan(n) for a in self.axes for n in x.chunks[a]):
            return f"{self.kernel} over blocks of unknown length: write x.compute_chunk_sizes()"
        return ""

    def step(self, block: Block, at: tuple[slice, ...]) -> Found | None:  # type: ignore[override]
        if not self.count(block):
            return None
        if self.shape is None:
            (axis,) = self.axes
            index = run_kernel(self.kernel, block, self.compute, axis=axis, keepdims=True)
            values = backend_of(block).xp.take_along_axis(block, index, axis=axis)
            return values, index + at[axis].start
        index = int(run_kernel(self.kernel, block, self.compute, axis=None))
        place = np.unravel_index(index, block.shape)
        starts = [s.start + i for s, i in zip(at, place, strict=True)]
        flat = np.ravel_multi_index(starts, self.shape)
        one = (1,) * len(self.axes)
        values = block.reshape(-1)[index : index + 1].reshape(one)
        return values, backend_of(block).from_numpy(np.full(one, flat, np.int64), dt.int64)

    def join(self, parts: list[Found | None]) -> Found | None:
        """Take the extreme of several, by the kernel; of equals the one that is first."""
        found = [part for part in parts if part is not None]
        if len(found) < 2:
            return found[0] if found else None
        if self.shape is not None:  # blocks do not come in the order of their elements
            found.sort(key=lambda part: int(part[1].reshape(-1)[0]))
        values, indices = (stacked(list(each)) for each in zip(*found, strict=True))
        best = run_kernel(self.kernel, values, self.compute, axis=0, keepdims=True)
        take = backend_of(values).xp.take_along_axis
        return take(values, best, axis=0)[0], take(indices, best, axis=0)[0]

    def answer(self, part: Found) -> Block:
        return part[1]
