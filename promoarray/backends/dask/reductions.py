"""Sums, extremes, means, variances, norms and positions of extremes, over blocks.

Where the axes to reduce lie in one block, the kernel itself runs on each block, with NumPy's own
bits. Where they lie in several, partial results are joined in the tree of ``da.reduction``, up to
eight neighbours a task. Integers, bools, extremes and positions are exact still; sums of floats add
partial sums in an order that only the chunks decide. So they have the same bits whatever schedules
them: threads, two workers or forty, with a worker lost on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, isnan, prod
from typing import Any

import dask.array as da
import numpy as np
from dask.layers import ArraySliceDep

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask import whole
from promoarray.backends.dask.block_executable import executable
from promoarray.backends.dask.blocks import (
    Results,
    answers,
    cast_each,
    each,
    few,
    in_one_block,
    kernel_each,
    meta_of,
    on_blocks,
    run_kernel,
)
from promoarray.backends.dask.buffer import Blocks, opened, storage
from promoarray.dtypes import DType, Kind
from promoarray.kernels.portable.steps import whole as whole_numbers

FAN_IN = 8
"""Partial results that one task joins; Dask's own setting for it would change bits."""

INTEGERS = (Kind.BOOL, Kind.INT, Kind.UINT)

Axes = tuple[int, ...]
Block = Any


def reduce(
    kernel: str,
    arrays: tuple[Blocks, ...],
    compute: DType,
    *,
    axis: Any = None,
    keepdims: bool = False,
    **options: Any,
) -> Results:
    """Reduce an array by one of the kernels in ``TREES``."""
    (x,) = arrays
    axes = _axes(axis, x.ndim)
    if 0 in x.shape:  # what the kernels make of nothing, they make of it in one piece
        x = x.rechunk(-1)
    # The divisor of ``var`` has no say in dtypes, and 1 would warn of one element.
    told = {name: value for name, value in options.items() if name != "ddof"}
    made = answers(kernel, compute, (few(x),), axis=axis, keepdims=keepdims, **told)
    if all(x.numblocks[a] == 1 for a in axes):
        given = {**options, "axis": axis} | ({"keepdims": True} if keepdims else {})
        return _in_one(kernel, x, compute, made, axes, given)
    if kernel in ("max", "min") and compute.kind is Kind.COMPLEX and len(axes) > 1:
        # The first with NaN is the answer: so the last axis first, as blocks come in another order.
        for one in reversed(axes):
            ((x, _),) = reduce(kernel, (x,), compute, axis=one, keepdims=keepdims)
        return ((x, made[0]),)
    kind = TREES[kernel]
    if not isinstance(kind, type):
        return ((kind(kernel, x, axes, compute, made[0], keepdims, **options), made[0]),)
    if kind is Position:
        options = {"shape": x.shape if axis is None else None}
    return ((kind(kernel, axes, compute, made[0], **options).over(x, keepdims), made[0]),)


def _axes(axis: Any, ndim: int) -> Axes:
    """The axes to reduce; what NumPy lets pass of no axes, and its errors, are left to it."""
    if axis is None:
        return tuple(range(ndim))
    named = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted({a % ndim for a in named})) if ndim else ()


def _in_one(
    kernel: str,
    x: Blocks,
    compute: DType,
    made: tuple[DType, ...],
    axes: Axes,
    options: dict[str, Any],
) -> Results:
    """The kernel itself on each block."""
    every = whole.axes_of(x.ndim)
    left = tuple(f"reduced {a}" if a in axes else every[a] for a in range(x.ndim))
    out = left if options.get("keepdims") else tuple(each for each in left if each in every)
    lengths = dict.fromkeys(left, 1)
    signature = whole.Signature([every], [out], frozenset(every[a] for a in axes), lengths)
    return whole.run(kernel, (x,), compute, signature, made, **options)


# --- Trees over many blocks -----------------------------------------------------------------------


@dataclass(frozen=True)
class Reduction:
    """A reduction over many blocks: the partial results of a kernel go through it again.

    It travels in its tasks, so its fields can be pickled.
    """

    kernel: str
    axes: Axes  # counted from the first
    compute: DType  # what the blocks hold
    made: DType  # what the kernel answers in

    def over(self, x: Blocks, keepdims: bool) -> Blocks:
        """The graph of an array."""
        step, join, finish = (executable(make, self) for make in (step_of, join_of, finish_of))
        return da.reduction(
            x,
            step.in_state(),
            finish.in_state(),
            combine=join.in_state(),
            axis=self.axes,
            keepdims=keepdims,
            dtype=storage(self.made),
            split_every=FAN_IN,
            name=self.kernel,
            concatenate=False,
            meta=meta_of(x.ndim if keepdims else x.ndim - len(self.axes), self.made),
        )

    def step(self, block: Block) -> Any:
        """Make a block a partial result, with 1 element along each axis."""
        if self.kernel in ("max", "min") and not self.count(block):
            return None  # one without elements, as masks leave some, has no extreme
        return run_kernel(self.kernel, block, self.compute, axis=self.axes, keepdims=True)

    def join(self, parts: list[Any]) -> Any:
        """Make several partial results one."""
        found = [part for part in parts if part is not None]
        if len(found) < 2:
            return found[0] if found else None
        return _folded(self.joining, found, self.made)

    @property
    def joining(self) -> str:
        """The kernel that joins: of results that are bools, for them."""
        return self.kernel.removeprefix("real_")

    def answer(self, part: Any) -> Block:
        """Make the last partial result codes of what the kernel answers in."""
        if part is None:  # the kernel has words for it
            return run_kernel(self.kernel, np.empty(0, storage(self.compute)), self.compute)
        return part

    def sum(self, block: Block, dtype: DType) -> Block:
        """Sum a block of a dtype along the axes."""
        return run_kernel("sum", block, dtype, axis=self.axes, keepdims=True)

    def count(self, block: Block) -> int:
        """The number of elements of a block along the axes."""
        return prod(block.shape[a] for a in self.axes)


def _folded(kernel: str, parts: list[Block], dtype: DType) -> Block:
    """Partial results of one shape, through a kernel along a new first axis."""
    return run_kernel(kernel, backend_of(parts[0]).xp.stack(parts), dtype, axis=0)


def step_of(reduction: Reduction) -> Callable[..., Any]:
    """The first function of a tree, for ``BlockExecutable``."""
    return lambda block, *, axis, keepdims: reduction.step(block)


def join_of(reduction: Reduction) -> Callable[..., Any]:
    """The one of its knots."""
    return lambda parts, *, axis, keepdims: reduction.join(_flat(parts))


def finish_of(reduction: Reduction) -> Callable[..., Block]:
    """The one of its root, which drops the axes."""

    def finish(parts: Any, *, axis: Axes, keepdims: bool) -> Block:
        found = reduction.answer(reduction.join(_flat(parts)))
        left = [n for a, n in enumerate(found.shape) if keepdims or a not in axis]
        return found.reshape(left)

    return finish


def _flat(parts: Any) -> list[Any]:
    """Partial results out of Dask's nested lists, in the order of their blocks."""
    return [each for part in parts for each in _flat(part)] if isinstance(parts, list) else [parts]


# --- Means, and variances around integers: quotients of sums --------------------------------------


def _mean(
    kernel: str, x: Blocks, axes: Axes, compute: DType, made: DType, keepdims: bool
) -> Blocks:
    """NumPy's mean, one without its fraction, or one that is 0 of no elements."""
    wide = _SUMMED_IN[kernel](compute)
    total = _sum(cast_each(x, compute, wide), axes, wide, keepdims)
    if kernel == "mean_of_wrapped_sum":
        total, wide = cast_each(total, wide, dt.float32), dt.float32
    of_none = kernel != "mean_of_wrapped_sum" and _SUMMED_IN[kernel] is not _float_sum
    number = _number(x, axes, keepdims, int(of_none))
    return cast_each(_quotient(total, number, wide), wide, made)


def _float_sum(compute: DType) -> DType:
    """NumPy's own choice."""
    if compute.kind in INTEGERS:
        return dt.float64
    return dt.float32 if compute is dt.float16 else compute


def _widest(compute: DType) -> DType:
    return dt.uint64 if compute.kind is Kind.UINT else dt.int64


_SUMMED_IN: dict[str, Callable[[DType], DType]] = {
    "mean": _float_sum,
    "one_term_mean": _float_sum,
    **dict.fromkeys(
        ("mean_or_zero", "exact_integer_mean", "mean_of_wrapped_sum"), lambda compute: compute
    ),
    "truncated_mean": _widest,
}


def _sum(x: Blocks, axes: Axes, dtype: DType, keepdims: bool) -> Blocks:
    return reduce("sum", (x,), dtype, axis=axes, keepdims=keepdims)[0][0]


def _number(x: Blocks, axes: Axes, keepdims: bool, least: int) -> Any:
    """How many elements become one, in int64: blocks of numbers where it is not known."""
    number = prod(x.shape[a] for a in axes)
    if not isnan(number):
        return np.asarray(number, np.int64)
    each_one = x.map_blocks(partial(np.ones_like, dtype=np.int64), dtype=np.int64)
    return da.maximum(_sum(each_one, axes, dt.int64, keepdims), least)


def _quotient(total: Blocks, number: Any, dtype: DType) -> Blocks:
    """Sums divided by a number, which may be beyond their dtype; integers without the fraction."""
    wide = _widest(dtype) if dtype.kind in INTEGERS else dtype
    divide = "truncated_divide" if dtype.kind in INTEGERS else "divide"
    cast = cast_each if isinstance(number, da.Array) else numpy_backend.cast
    operands = cast_each(total, dtype, wide), cast(number, dt.int64, wide)
    return cast_each(kernel_each(divide, operands, wide), wide, dtype)


def _integer_variance(
    kernel: str,
    x: Blocks,
    axes: Axes,
    compute: DType,
    made: DType,
    keepdims: bool,
    ddof: float = 0.0,
) -> Blocks:
    """Variances of integers around a mean that is an integer, and their roots, with NumPy's bits.

    They are Paddle's. All but the mean and the last division is of integers that wrap around. The
    squares of the gaps to the mean add up to ``squares - 2 * mean * total + number * mean ** 2``
    then, and need no second pass over the values.

    Paddle 2.6's mean is a quotient of integers. Paddle 3.3's is one of float32, whose sum has the
    same bits in any order only where it is exact: where no sum of so many can go beyond 24 bits.
    """
    if kernel in _IN_FLOAT32:
        info = np.iinfo(compute.storage)
        most = max(-int(info.min), int(info.max))
        if not prod(x.shape[a] for a in axes) * most <= 1 << 24:  # nor if it is not known
            in_one_block(kernel.removeprefix("integer_"), x, axes)
    number = _number(x, axes, True, 0)
    total = _sum(cast_each(x, compute, dt.int64), axes, dt.int64, True)
    squares = _sum(kernel_each("multiply", (x, x), compute), axes, compute, True)
    summed_in = dt.float32 if kernel in _IN_FLOAT32 else compute
    at_least_one = number if isinstance(number, np.ndarray) else da.maximum(number, 1)
    mean = _quotient(cast_each(total, dt.int64, summed_in), at_least_one, summed_in)
    parts = total, squares, cast_each(mean, summed_in, compute), number
    run = executable(variance_of_sums, kernel, ddof)
    out = each(run, parts, made, kernel)
    return out if keepdims else da.squeeze(out, axis=axes)


def variance_of_sums(kernel: str, ddof: float) -> Callable[..., Any]:
    """The variance, or its root, of sums in blocks, for ``BlockExecutable``."""

    def run(total: Block, squares: Block, mean: Block, number: Block) -> Block:
        dtype = squares.dtype
        gaps = squares - 2 * mean * total.astype(dtype) + number.astype(dtype) * mean * mean
        out = gaps.astype("float32") / np.maximum(number - ddof, 0).astype("float32")
        if kernel in _IN_FLOAT32:
            out = whole_numbers(backend_of(total).xp, out, dtype)
        return backend_of(total).xp.sqrt(out.astype("float32")) if "std" in kernel else out

    return run


_IN_FLOAT32 = ("integer_var", "integer_std")


# --- Variances: Chan's update of number, mean and squares -----------------------------------------

Moments = tuple[int, Block, Block]
"""A number, the mean, and the sum of squared distances from it, computed as NumPy computes them
and kept in float64."""


@dataclass(frozen=True)
class Variance(Reduction):
    """``var`` and ``std``."""

    ddof: float = 0.0

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
        known = self.kernel in ("std", "var") or count > self.ddof
        out = squares / np.float64(max(count - self.ddof, 0) if known else np.nan)
        out = out**0.5 if self.kernel.endswith("std") else out
        return backend_of(out).cast(out, dt.float64, self.made)


def _squares(x: Any) -> Any:
    return x.real**2 + x.imag**2 if x.dtype.kind == "c" else x * x


# --- Norms of vectors: extremes, counts, and sums of powers with a root at the end ----------------

_JOINED = {inf: "max", -inf: "min", 0: "sum", 1: "sum"}
"""How norms of blocks are joined to the norm of all, where that can be done."""


@dataclass(frozen=True)
class VectorNorm(Reduction):
    """``vector_norm``."""

    ord: float = 2

    @property
    def joining(self) -> str:
        return _JOINED.get(self.ord, "sum")

    def step(self, block: Block) -> Block | None:
        if self.ord < 0 and not self.count(block):
            return None  # the smallest of none; of other orders the norm of none is 0
        if self.ord in _JOINED:
            options = {"axis": self.axes, "keepdims": True, "ord": self.ord}
            return run_kernel(self.kernel, block, self.compute, **options)
        x = opened(block, self.compute)
        backend = backend_of(x)
        if self.compute.kind not in (Kind.FLOAT, Kind.COMPLEX):
            x = backend.cast(x, self.compute, self.made)
        powers = (x.conj() * x).real if self.ord == 2 else backend.xp.abs(x) ** self.ord
        return self.sum(powers, self.made)

    def answer(self, part: Block | None) -> Block:
        if part is None:  # the kernel has words for it
            nothing = np.empty(0, self.compute.storage)
            return run_kernel(self.kernel, nothing, self.compute, axis=(0,), ord=self.ord)
        if self.ord in _JOINED:
            return part
        if self.ord == 2:
            return backend_of(part).xp.sqrt(part)
        return part ** np.reciprocal(self.ord, dtype=part.dtype)


# --- Positions of extremes: the first of equals ---------------------------------------------------

Found = tuple[Block, Block]
"""Values, and the indices they are at: along the axis, or of all elements in rows."""


@dataclass(frozen=True)
class Position(Reduction):
    """``argmax``, ``argmin`` and those that pass over NaN."""

    # that of the whole array, where its elements are counted in rows
    shape: tuple[int, ...] | None = None

    def over(self, x: Blocks, keepdims: bool) -> Blocks:
        if any(isnan(n) for a in self.axes for n in x.chunks[a]):
            words = "over blocks of unknown length: write x.compute_chunk_sizes()"
            raise ValueError(f"{self.kernel} {words}")
        every = tuple(range(x.ndim))
        pairs = [(x, every), (ArraySliceDep(x.chunks), every)]
        ones = dict.fromkeys(self.axes, 1)
        found = on_blocks(
            executable(found_of, self), every, pairs, self.made, self.kernel,
            adjust_chunks=ones, align_arrays=False,
        )  # fmt: skip
        return super().over(found, keepdims)

    def find(self, block: Block, at: tuple[slice, ...]) -> Found | None:
        """The extremes of a block that is at these slices."""
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

    def step(self, block: Found | None) -> Found | None:
        return block

    def join(self, parts: list[Found | None]) -> Found | None:
        """Take the extreme of several, by the kernel; of equals the one that is first."""
        found = [part for part in parts if part is not None]
        if len(found) < 2:
            return found[0] if found else None
        if self.shape is not None:  # blocks do not come in the order of their elements
            found.sort(key=lambda part: int(part[1].reshape(-1)[0]))
        stack = backend_of(found[0][0]).xp.stack
        values, indices = (stack(list(each)) for each in zip(*found, strict=True))
        best = run_kernel(self.kernel, values, self.compute, axis=0, keepdims=True)
        take = backend_of(values).xp.take_along_axis
        return take(values, best, axis=0)[0], take(indices, best, axis=0)[0]

    def answer(self, part: Found) -> Block:
        return part[1]


def found_of(position: Position) -> Callable[..., Any]:
    """The extremes of blocks, for ``BlockExecutable``."""
    return position.find


# --- The trace ------------------------------------------------------------------------------------


def trace(kernel: str, arrays: tuple[Blocks, ...], compute: DType, **options: Any) -> Results:
    """Sum diagonals: in one step where the matrices lie in one block each."""
    (x,) = arrays
    made = answers(kernel, compute, (few(x),), **options)
    axes = options["axis1"] % x.ndim, options["axis2"] % x.ndim
    if all(x.numblocks[a] == 1 for a in axes):
        return _in_one(kernel, x, compute, made, axes, options)
    if compute is dt.bool:
        x = x.view("i1")  # its kernel counts them
    line = da.diagonal(x, options["offset"], *axes)
    return reduce("sum", (line,), made[0], axis=-1)


TREES: dict[str, type[Reduction] | Callable[..., Blocks]] = {
    **dict.fromkeys(("sum", "prod", "max", "min", "all", "any"), Reduction),
    **dict.fromkeys(("real_all", "real_any", "max_or_lowest", "min_or_highest"), Reduction),
    **dict.fromkeys(("one_term_sum", "signed_max", "signed_min"), Reduction),
    **dict.fromkeys(_SUMMED_IN, _mean),
    **dict.fromkeys(("var", "std", "known_var", "known_std"), Variance),
    **dict.fromkeys(("var_around_integer", "std_around_integer", *_IN_FLOAT32), _integer_variance),
    **dict.fromkeys(("argmax", "argmin"), Position),
    **dict.fromkeys(("argmax_without_nan", "argmin_without_nan"), Position),
    "vector_norm": VectorNorm,
}

GRAPHS: dict[str, Callable[..., Results]] = {**dict.fromkeys(TREES, reduce), "trace": trace}
