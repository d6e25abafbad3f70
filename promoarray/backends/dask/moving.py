"""Functions that move values and never look at them, over Dask arrays of codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from promoarray.backends.dask.buffer import Buffer
from promoarray.backends.dask.reading import positions_within, read
from promoarray.backends.dask.reshaping import reshape

Blocks = Any
Shape = tuple[int, ...]


def move(name: str, buffer: Buffer, *args: Any, **options: Any) -> Buffer:
    """Run one of them. Of those that NumPy answers with a view the result is known as one."""
    array = MOVES[name](buffer.array, *args, **options)
    if name not in VIEWS or options.get("copy"):
        return Buffer(array)
    return Buffer(array, buffer, frozen=name == "broadcast_to")


def _expand_dims(x: Blocks, *, axis: Any) -> Blocks:
    axes = {axis} if isinstance(axis, int) else set(axis)
    total = x.ndim + len(axes)
    axes = {a % total for a in axes}
    return x[tuple(None if a in axes else slice(None) for a in range(total))]


def _squeeze(x: Blocks, *, axis: Any) -> Blocks:
    axes = {axis} if isinstance(axis, int) else set(axis)
    return x[tuple(0 if a in axes else slice(None) for a in range(x.ndim))]


def _flip(x: Blocks, *, axis: Any) -> Blocks:
    axes = {axis} if isinstance(axis, int) else set(axis)
    return x[tuple(slice(None, None, -1 if a in axes else None) for a in range(x.ndim))]


def _roll(x: Blocks, shift: Any, *, axis: Any) -> Blocks:
    if axis is None:
        return reshape(da.roll(reshape(x, (-1,)), _total(shift), 0), x.shape)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = (shift,) if isinstance(shift, int) else tuple(shift)
    shifts, axes = (tuple(a.tolist()) for a in np.broadcast_arrays(shifts, axes))
    for by, along in zip(shifts, axes, strict=True):
        x = da.roll(x, by, along) if x.shape[along] else x
    return x


def _total(shift: Any) -> int:
    return int(np.sum(shift, dtype=object)) if isinstance(shift, tuple) else int(shift)


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
    each = da.broadcast_to(times, (length,)).rechunk((x.chunks[axis],))
    axes = tuple(range(x.ndim))
    return da.blockwise(
        np.repeat,
        axes,
        x,
        axes,
        each,
        (axis,),
        axis=axis,
        dtype=x.dtype,
        adjust_chunks={axis: lambda length: np.nan},
        meta=x._meta,
    )


def _tile(x: Blocks, times: Any) -> Blocks:
    repetitions = (times,) if isinstance(times, int) else tuple(times)
    if any(n < 0 for n in repetitions):
        raise ValueError("negative dimensions are not allowed")
    ndim = max(x.ndim, len(repetitions))
    x = x[(None,) * (ndim - x.ndim)]
    repetitions = (1,) * (ndim - len(repetitions)) + repetitions
    for axis, count in enumerate(repetitions):
        if count != 1:
            x = da.concatenate([x] * count, axis=axis) if count else _none_along(x, axis)
    return x


def _none_along(x: Blocks, axis: int) -> Blocks:
    return x[(slice(None),) * axis + (slice(0),)]


def _take(x: Blocks, index: Any, *, axis: int) -> Blocks:
    shape = (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    if 0 in x.shape[:axis] or 0 in index.shape:  # NumPy looks at no index then
        return da.zeros(shape, dtype=x.dtype, chunks=-1)
    return read(Buffer(x), (*(slice(None),) * axis, index)).array


def _take_along_axis(x: Blocks, index: Any, *, axis: int) -> Blocks:
    """One task for each row of chunks: the axis has to be in one, of both."""
    lying = index.array if isinstance(index, Buffer) else da.from_array(index, -1, name=False)
    x, lying = x.rechunk({axis: -1}), lying.rechunk({axis: -1})
    return positions_within(x, lying, axis)


def _broadcast_to(x: Blocks, shape: Any) -> Blocks:
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    np.broadcast_to(np.empty((), np.int8), wanted)  # in NumPy's words, what is no shape
    for mine, theirs in zip(x.shape[::-1], wanted[::-1], strict=False):
        if mine not in (1, theirs):
            raise _no_broadcast(x.shape, wanted)
    if x.ndim > len(wanted):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    return da.broadcast_to(x, wanted)


def _no_broadcast(shape: Shape, wanted: Shape) -> ValueError:
    return ValueError(
        "operands could not be broadcast together with remapped shapes [original->remapped]: "
        f"{shape}  and requested shape {wanted}"
    )


MOVES: dict[str, Callable[..., Blocks]] = {
    "reshape": reshape,
    "permute_dims": lambda x, axes: x.transpose(axes),
    "moveaxis": lambda x, source, destination: da.moveaxis(x, source, destination),
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "flip": _flip,
    "roll": _roll,
    "repeat": _repeat,
    "tile": _tile,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "broadcast_to": _broadcast_to,
}

VIEWS = frozenset(
    {"reshape", "permute_dims", "moveaxis", "expand_dims", "squeeze", "flip", "broadcast_to"}
)
"""What NumPy answers with a view of the same memory."""
