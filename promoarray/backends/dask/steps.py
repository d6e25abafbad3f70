"""What reductions over many blocks are: a step on a block, a join of partial results, an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, ClassVar

import dask.array as da

from promoarray.backends import backend_of
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.storage import closed, opened
from promoarray.backends.dask.tree import tree
from promoarray.dtypes import DType

Block = Any
Axes = tuple[int, ...]


@dataclass(frozen=True)
class Reduction(ABC):
    """A reduction over many blocks. It travels in its tasks, so its fields can be pickled.

    Attributes
    ----------
    kernel : str
    axes : tuple of int
        Counted from the first.
    keepdims : bool
    compute : DType
        What the blocks hold.
    made : DType
        What the kernel answers in.
    """

    kernel: str
    axes: Axes
    keepdims: bool
    compute: DType
    made: DType

    located: ClassVar[bool] = False
    """Whether ``step`` is told the slices that a block is at, too."""

    @classmethod
    def own_fields(cls, x: da.Array, options: Mapping[str, Any]) -> tuple[Any, ...]:
        """What a kind of reductions has besides, of the array and the kernel's options."""
        return ()

    def refusal(self, x: da.Array) -> str:
        """Why an array has no tree, and what to write; "" where it has one."""
        return ""

    @abstractmethod
    def step(self, block: Block, /) -> Any:
        """Make a block a partial result, with 1 element along each axis."""

    @abstractmethod
    def join(self, parts: list[Any], /) -> Any:
        """Make several partial results one."""

    @abstractmethod
    def answer(self, part: Any, /) -> Block:
        """Make the last partial result codes of what the kernel answers in."""

    def finish(self, parts: list[Any], /) -> Block:
        """Join the last, answer, and drop the axes."""
        return dropped(self.answer(self.join(parts)), self.axes, self.keepdims)

    def over(self, x: da.Array) -> da.Array:
        """The graph of an array."""
        if refused := self.refusal(x):
            raise ValueError(refused)
        here = (each.in_state() for each in _executables(self))
        told = x, self.axes, self.made, self.keepdims, self.kernel
        return tree(*told, *here, located=self.located)

    def sum(self, block: Block, dtype: DType) -> Block:
        """Sum a block of a dtype along the axes."""
        return run_kernel("sum", block, dtype, axis=self.axes, keepdims=True)

    def count(self, block: Block) -> int:
        """The number of elements of a block along the axes."""
        return prod(block.shape[a] for a in self.axes)


@lru_cache(maxsize=1024)
def _executables(
    reduction: Reduction,
) -> tuple[BlockExecutable, BlockExecutable, BlockExecutable]:
    step, join, finish = (
        BlockExecutable(method_of, reduction, name) for name in ("step", "join", "finish")
    )
    return step, join, finish


def method_of(reduction: Reduction, name: str) -> Callable[..., Any]:
    """One of the three functions, for ``BlockExecutable``."""
    found: Callable[..., Any] = getattr(reduction, name)
    return found


def run_kernel(kernel: str, block: Block, compute: DType, **options: Any) -> Block:
    """Run a kernel of one operand and one result on the codes of a block."""
    block = opened(block, compute)
    ((out, made),) = backend_of(block).call(kernel, (block,), compute, **options)
    return closed(out, made)


def stacked(parts: Sequence[Block]) -> Block:
    """Partial results of one shape along a new first axis."""
    return backend_of(parts[0]).xp.stack(list(parts))


def summed(parts: Sequence[Block], dtype: DType) -> Block:
    """The sum of partial results of one shape."""
    return run_kernel("sum", stacked(parts), dtype, axis=0)


def dropped(block: Block, axes: Axes, keepdims: bool) -> Block:
    """The result without the axes that are reduced, which have 1 element each."""
    if keepdims:
        return block
    return block.reshape([n for a, n in enumerate(block.shape) if a not in axes])
