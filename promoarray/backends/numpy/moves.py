"""Functions that move values and never look at them: callables of buffers, made once for a
rank and what stands beside the arrays, without the layers of Python
that NumPy's own functions go through.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np

from promoarray.backends.numpy.kernels import KERNELS

Buffer = np.ndarray[Any, Any]
Move = Callable[..., Buffer]
Shape = tuple[int, ...]

_ALL = slice(None)


def mover(name: str, ndim: int, /, *args: Any, **options: Any) -> Move:
    """Make what moves a buffer of ``ndim`` axes, and takes the buffers it picks by behind it.

    Axes are counted from the first, and checked.
    """
    return _MOVES[name](ndim, *args, **options)


def move(name: str, buffer: Buffer, *args: Any, **options: Any) -> Buffer:
    """Move a buffer once."""
    picking = [x for x in args if isinstance(x, np.ndarray)]
    return mover(name, buffer.ndim, *args[len(picking) :], **options)(buffer, *picking)


# --- Views ---------------------------------------------------------------------------------------


def _reshape(ndim: int, shape: Any, *, copy: bool | None = None) -> Move:
    if copy is not None:
        return lambda x: np.reshape(x, shape, copy=copy)

    return methodcaller("reshape", shape)


def _permute_dims(ndim: int, axes: Shape) -> Move:
    return methodcaller("transpose", axes)


def _moveaxis(ndim: int, source: Any, destination: Any) -> Move:
    if isinstance(source, int):
        source, destination = (source,), (destination,)
    moving = sorted(zip(destination, source, strict=True))
    order = [axis for axis in range(ndim) if axis not in {of for _, of in moving}]
    for to, of in moving:
        order.insert(to, of)
    return methodcaller("transpose", tuple(order))


def _expand_dims(ndim: int, *, axis: Shape) -> Move:
    new = (None if each in axis else _ALL for each in range(ndim + len(axis)))
    return itemgetter((*new, ...))


def _squeeze(ndim: int, *, axis: Shape) -> Move:
    return methodcaller("squeeze", axis)


def _flip(ndim: int, *, axis: Shape) -> Move:
    back = slice(None, None, -1)
    return itemgetter((*(back if each in axis else _ALL for each in range(ndim)), ...))


def _broadcast_to(ndim: int, shape: Any) -> Move:
    """As ``np.broadcast_to`` does, without the time that it takes to get here."""
    lengths = shape if isinstance(shape, tuple) else (shape,)
    if min(lengths, default=0) < 0 or not lengths:
        return lambda x: np.broadcast_to(x, lengths)
    walk: Any = partial(
        np.nditer,
        flags=["multi_index", "refs_ok", "zerosize_ok"],
        op_flags=[["readonly"]],
        itershape=lengths,
        order="C",
    )

    def run(x: Buffer) -> Buffer:
        with walk((x,)) as walked:
            view: Buffer = walked.itviews[0]
        return view

    return run


# --- Copies --------------------------------------------------------------------------------------


def _roll(ndim: int, shift: Any, *, axis: Shape | None) -> Move:
    if axis is None and ndim != 1:
        flat = _roll(1, shift, axis=(0,))
        return lambda x: flat(x.reshape(-1)).reshape(x.shape)
    shifts, axes = shift if isinstance(shift, tuple) else (shift,), (0,) if axis is None else axis
    count = len(shifts) if len(axes) == 1 else len(axes)
    places: dict[int, int] = {}
    for along, by in zip(_times(axes, count), _times(shifts, count), strict=True):
        places[along] = places.get(along, 0) + by

    def run(x: Buffer) -> Buffer:
        out = np.empty_like(x)
        to: list[Any] = [_ALL] * ndim
        of: list[Any] = [*to, ...]
        for parts in product(*[_halves(x.shape[along], places[along]) for along in places]):
            for along, part in zip(places, parts, strict=True):
                to[along], of[along] = part
            out[tuple(to)] = x[tuple(of)]
        return out

    return run


def _times(values: Shape, count: int) -> Shape:
    return values * count if len(values) == 1 else values


def _halves(length: int, shift: int) -> list[tuple[slice, slice]]:
    """Where the parts of an axis go, and where they come from."""
    by = shift % length if length else 0
    if not by:
        return [(_ALL, _ALL)]
    return [
        (slice(by, None), slice(None, length - by)),
        (slice(None, by), slice(length - by, None)),
    ]


def _repeat(ndim: int, times: Any = None, *, axis: int | None) -> Move:
    if times is None:
        return lambda x, times: x.repeat(times, axis)
    return methodcaller("repeat", times, axis)


def _tile(ndim: int, times: Any) -> Move:
    """As ``np.tile`` does, axis by axis, without the time that it takes to get here."""
    given = times if isinstance(times, tuple) else (times,)
    count = max(ndim, len(given))
    each, new = (1,) * (count - len(given)) + given, (1,) * (count - ndim)
    if {*each} <= {1}:
        return lambda x: x.reshape(new + x.shape).copy()

    def run(x: Buffer) -> Buffer:
        row, out, shape = x.size, x, []
        for tiles, length in zip(each, new + x.shape, strict=True):
            if tiles != 1 and row:
                out = out.reshape(-1, row).repeat(tiles, 0)
            row //= length or 1
            shape.append(tiles * length)
        return out.reshape(shape)

    return run


def _triangle(lower: bool, ndim: int, zero: Buffer, *, k: int) -> Move:
    """A triangle of matrices, and ``zero`` elsewhere: as ``np.tril`` and ``np.triu`` have it."""

    def run(x: Buffer) -> Buffer:
        rows, columns = x.shape[-2:]
        make = _corner if rows * columns <= _SMALL else _corner.__wrapped__
        out: Buffer = KERNELS["where"](x, zero, condition=make(lower, rows, columns, k))
        return out

    return run


_SMALL = 4096
"""Elements of a matrix up to which its triangle is kept."""


@lru_cache(maxsize=64, typed=True)
def _corner(lower: bool, rows: int, columns: int, k: int) -> Buffer:
    """Which elements of a matrix are in its triangle."""
    below = np.tri(rows, columns, k if lower else k - 1, np.bool)
    return below if lower else ~below


# --- Picked by indices of int64 ------------------------------------------------------------------


def _take(ndim: int, *, axis: int) -> Move:
    def run(x: Buffer, index: Buffer) -> Buffer:
        out = x.take(index, axis)
        return out if type(out) is np.ndarray else np.asarray(out, x.dtype)

    return run


def _take_along_axis(ndim: int, *, axis: int) -> Move:
    if ndim == 1:
        return lambda x, index: x[index]
    shapes = [tuple(-1 if n == each else 1 for n in range(ndim)) for each in range(ndim)]

    def run(x: Buffer, index: Buffer) -> Buffer:
        key = [np.arange(n).reshape(own) for n, own in zip(x.shape, shapes, strict=True)]
        key[axis] = index
        picked: Buffer = x[tuple(key)]
        return picked

    return run


_MOVES: dict[str, Callable[..., Move]] = {
    "broadcast_to": _broadcast_to,
    "expand_dims": _expand_dims,
    "flip": _flip,
    "moveaxis": _moveaxis,
    "permute_dims": _permute_dims,
    "repeat": _repeat,
    "reshape": _reshape,
    "roll": _roll,
    "squeeze": _squeeze,
    "take": _take,
    "take_along_axis": _take_along_axis,
    "tile": _tile,
    "tril": partial(_triangle, True),
    "triu": partial(_triangle, False),
}
