"""Functions that move values, over Dask arrays of codes; joins, differences and running sums."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends.dask.block_executable import executable
from promoarray.backends.dask.blocks import (
    Results,
    answers,
    few,
    kernel_each,
    memoryless,
    meta_of,
    run_kernel,
)
from promoarray.backends.dask.buffer import Blocks, Buffer, Shape, known, right_of_the_diagonal
from promoarray.backends.dask.indexing import read, reshape, within
from promoarray.dtypes import DType


def move(name: str, buffer: Buffer, *args: Any, **options: Any) -> Buffer:
    """Run one of them. Of those that NumPy answers with a view the result is known as one."""
    array = MOVES[name](buffer.array, *args, **options)
    if name not in VIEWS or options.get("copy"):
        return Buffer(array)
    return Buffer(array, buffer, frozen=name == "broadcast_to")


def _named(axis: Any) -> Shape:
    return (axis,) if isinstance(axis, int) else tuple(axis)


def _expand_dims(x: Blocks, *, axis: Any) -> Blocks:
    return da.expand_dims(x, _named(axis))


def _squeeze(x: Blocks, *, axis: Any) -> Blocks:
    return x[tuple(0 if a in _named(axis) else slice(None) for a in range(x.ndim))]


def _roll(x: Blocks, shift: Any, *, axis: Any) -> Blocks:
    if 0 in x.shape:
        return x
    if axis is None:
        return reshape(da.roll(reshape(x, (-1,)), int(np.sum(shift, dtype=object)), 0), x.shape)
    shifts, axes = np.broadcast_arrays(_named(shift), _named(axis))
    return da.roll(x, tuple(shifts.tolist()), tuple(axes.tolist()))


def _repeat(x: Blocks, times: Any, *, axis: int | None) -> Blocks:
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    if isinstance(times, Buffer):
        return _repeated_lazily(x, times.array, axis)
    if isinstance(times, tuple):
        times = np.asarray(times, np.int64)
    index = np.repeat(np.arange(x.shape[axis]), times)
    return read(Buffer(x), (*(slice(None),) * axis, index)).array


def _repeated_lazily(x: Blocks, times: Blocks, axis: int) -> Blocks:
    """Each block as often as its part of ``times`` says: how long they become is not known."""
    length = x.shape[axis]
    if times.ndim > 1:
        raise ValueError("object too deep for desired array")
    if times.shape not in ((), (1,), (length,)):
        raise ValueError(
            f"operands could not be broadcast together with shape ({length},) ({times.shape[0]},)"
        )
    often = da.broadcast_to(times, (length,)).rechunk((x.chunks[axis],))
    axes = tuple(range(x.ndim))
    return da.blockwise(
        np.repeat, axes, x, axes, often, (axis,), axis=axis, dtype=x.dtype, meta=x._meta,
        adjust_chunks={axis: lambda length: np.nan},
    )  # fmt: skip


def _tile(x: Blocks, times: Any) -> Blocks:
    if any(n < 0 for n in _named(times)):
        raise ValueError("negative dimensions are not allowed")
    return da.tile(x, times)


def _take(x: Blocks, index: Any, *, axis: int) -> Blocks:
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    if 0 in x.shape[:axis] or 0 in index.shape:  # NumPy looks at no index then
        return da.zeros(shape, dtype=x.dtype, chunks=-1)
    return read(Buffer(x), (*(slice(None),) * axis, index)).array


def _take_along_axis(x: Blocks, index: Any, *, axis: int) -> Blocks:
    """One task for each row of chunks: the axis has to be in one, of both; other axes broadcast."""
    lying = index.array if isinstance(index, Buffer) else da.from_array(index, -1, name=False)
    axes = tuple(range(x.ndim))
    out = tuple(x.ndim if a == axis else a for a in axes)
    return da.blockwise(
        _along, out, x.rechunk({axis: -1}), axes, lying.rechunk({axis: -1}), out, axis=axis,
        concatenate=True, dtype=x.dtype, meta=x._meta,
    )  # fmt: skip


def _along(block: Any, index: Any, *, axis: int) -> Any:
    found = within(np.asarray(index), block.shape[axis], axis)
    rest = [(*b.shape[:axis], 1, *b.shape[axis + 1 :]) for b in (block, found)]
    shape = np.broadcast_shapes(*rest)
    here, there = (
        np.broadcast_to(b, (*shape[:axis], b.shape[axis], *shape[axis + 1 :]))
        for b in (block, found)
    )
    return np.take_along_axis(here, there, axis=axis)


def _broadcast_to(x: Blocks, shape: Any) -> Blocks:
    wanted = _named(shape)
    here = tuple(1 if n is None else n for n in known(x.shape))
    np.broadcast_to(memoryless(here), wanted)  # for its errors
    return da.broadcast_to(x, wanted)


def _triangle(x: Blocks, keep: Callable[..., Any], k: int) -> Blocks:
    """The part of matrices that ``keep`` says of how far right of the diagonal it is."""
    kept = keep(right_of_the_diagonal(x.chunks[-2:]), k)
    return da.where(kept, x, np.zeros((), x.dtype))


def _diag(x: Blocks, *, k: int) -> Blocks:
    """The matrix of a diagonal; Dask makes none of no elements but on the main one."""
    (length,) = known(x.shape)
    if length is None:
        raise ValueError("diag of a vector of unknown length: write x.compute_chunk_sizes() before")
    return da.diag(x, k) if length else da.zeros((abs(k), abs(k)), dtype=x.dtype)


MOVES: dict[str, Callable[..., Blocks]] = {
    "reshape": reshape,
    "permute_dims": lambda x, axes: x.transpose(axes),
    "moveaxis": da.moveaxis,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "flip": lambda x, *, axis: da.flip(x, axis),
    "roll": _roll,
    "repeat": _repeat,
    "tile": _tile,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "broadcast_to": _broadcast_to,
    "diag": _diag,
    "tril": lambda x, *, k: _triangle(x, np.less_equal, k),
    "triu": lambda x, *, k: _triangle(x, np.greater_equal, k),
}

VIEWS = frozenset(
    {"reshape", "permute_dims", "moveaxis", "expand_dims", "squeeze", "flip", "broadcast_to"}
)
"""What NumPy answers with a view of the same memory."""


# --- Kernels that are moves of Dask's -------------------------------------------------------------


def _concat(
    kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int | None = 0
) -> Results:
    if axis is None:
        arrays, axis = tuple(reshape(x, (-1,)) for x in arrays), 0
    _require_one_shape(arrays, axis)
    return ((da.concatenate(arrays, axis=axis, allow_unknown_chunksizes=True), compute),)


def _stack(kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int = 0) -> Results:
    _require_one_shape(arrays)
    return ((da.stack(arrays, axis=axis, allow_unknown_chunksizes=True), compute),)


def _require_one_shape(arrays: tuple[Blocks, ...], axis: int | None = None) -> None:
    """Refuse shapes that differ along other axes, which Dask lets pass as some may be unknown."""
    ndim = arrays[0].ndim
    if any(x.ndim != ndim for x in arrays):
        raise ValueError("the shapes do not match")
    along = zip(*(known(x.shape) for x in arrays), strict=True)
    rest = [lengths for a, lengths in enumerate(along) if axis is None or a != axis % ndim]
    if any(len({*lengths} - {None}) > 1 for lengths in rest):
        raise ValueError("the shapes do not match")


def _diff(kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int) -> Results:
    """Neighbours subtracted; bools are compared, as NumPy does."""
    (x,) = arrays
    answers(kernel, compute, (few(x),), axis=axis)  # for its errors
    before = (slice(None),) * (axis % x.ndim)
    subtract = "not_equal" if compute is dt.bool else "subtract"
    ends = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
    return ((kernel_each(subtract, ends, compute), compute),)


def _diagonal(
    kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, offset: int = 0
) -> Results:
    return ((da.diagonal(arrays[0], offset, -2, -1), compute),)


def _shifted(
    kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axes: Any = None
) -> Results:
    (x,) = arrays
    for axis in range(x.ndim) if axes is None else _named(axes):
        half = x.shape[axis] // 2
        x = _roll(x, half if kernel == "fftshift" else -half, axis=axis)
    return ((x, compute),)


# --- Running sums and products: each block goes on from the last value of the one before it -------


def accumulate(
    kernel: str,
    arrays: tuple[Blocks, ...],
    compute: DType,
    *,
    axis: int = 0,
    include_initial: bool = False,
) -> Results:
    """Sum or multiply along an axis, in NumPy's own order, so floats get its bits.

    The blocks along the axis wait for each other; those along other axes do not.
    ``da.cumreduction`` would add the sum of all blocks before to each element, and round otherwise.
    """
    (x,) = arrays
    (made,) = answers(kernel, compute, (few(x),), axis=axis)
    axis %= x.ndim
    fields = kernel, compute, made, axis
    first = executable(running_block, *fields, include_initial).in_state()
    following = executable(running_block, *fields, False).in_state()
    last = executable(last_of_block, axis)
    name = f"{kernel}-{tokenize(x.name, first, following)}"
    carried = f"{kernel}-last-{tokenize(name)}"
    tasks: dict[Any, Any] = {}
    for place in product(*map(range, x.numblocks)):
        before = (carried, *place[:axis], place[axis] - 1, *place[axis + 1 :])
        here, block = (name, *place), (x.name, *place)
        tasks[here] = (following, block, before) if place[axis] else (first, block)
        if place[axis] + 1 < x.numblocks[axis]:
            tasks[carried, *place] = (last, here, before) if place[axis] else (last, here)
    chunks = list(x.chunks)
    if include_initial:
        chunks[axis] = (chunks[axis][0] + 1, *chunks[axis][1:])
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[x])
    return ((da.Array(graph, name, tuple(chunks), meta=meta_of(x.ndim, made)), made),)


def running_block(
    kernel: str, compute: DType, made: DType, axis: int, initial: bool
) -> Callable[..., Any]:
    """The kernel, from a value before the block on if there is one."""

    def run(block: Any, before: Any | None = None) -> Any:
        if before is None:
            return run_kernel(kernel, block, compute, axis=axis, include_initial=initial)
        backend = backend_of(block)
        block = backend.cast(block, compute, made)
        ((joined, _),) = backend.call("concat", (before, block), made, axis=axis)
        return _part(run_kernel(kernel, joined, made, axis=axis), axis, slice(1, None))

    return run


def last_of_block(axis: int) -> Callable[..., Any]:
    """The last value of a block; of an empty one what came to it."""

    def run(block: Any, before: Any | None = None) -> Any:
        return _part(block, axis, slice(-1, None)).copy() if block.shape[axis] else before

    return run


def _part(block: Any, axis: int, part: slice) -> Any:
    return block[(*(slice(None),) * axis, part)]


GRAPHS: dict[str, Callable[..., Results]] = {
    "concat": _concat,
    "stack": _stack,
    "diff": _diff,
    "diagonal": _diagonal,
    "fftshift": _shifted,
    "ifftshift": _shifted,
    "cumulative_sum": accumulate,
    **dict.fromkeys(("cumulative_sum_from_zero", "one_term_cumulative_sum"), accumulate),
    "cumulative_prod": accumulate,
}
