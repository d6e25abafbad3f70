"""Positions of extremes in long NumPy buffers, a piece at a time.

Each piece is cast and, where lines lie beside each other, turned, whatever the layout of the
buffer; what is looked at fits a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy.folds import LONG, Casts, axes_of, in_memory
from promoarray.backends.numpy.kernels import POSITIONS
from promoarray.kernels.cast_mode import DEFAULT, CastMode

if TYPE_CHECKING:
    from promoarray.dtypes import DType
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]

PIECE = 1 << 16
"""Elements that are looked at at a time."""

FINDERS: dict[str, Callable[..., Any]] = {name: getattr(np, name) for name in POSITIONS}


class PositionPlan(NamedTuple):
    """What finds a position, and the cast to what it looks at."""

    find: Callable[..., Any]
    rows: tuple[kernels.DTypeArgs, kernels.DTypeArgs] | None
    mode: CastMode
    storage: np.dtype[Any]

    def cast(self, piece: Buffer) -> Buffer:
        """The values of a piece, in rows."""
        if self.rows is not None:
            order = in_memory(piece)
            given = piece.transpose(order)
            made = np.empty(given.shape, self.storage)
            kernels.cast(given, made, *self.rows, self.mode)
            piece = made.transpose([order.index(axis) for axis in range(piece.ndim)])
        return np.ascontiguousarray(piece)


def position_plan(name: str, held: DType, plan: Plan, casts: Casts) -> PositionPlan | None:
    """How a plan of one operand goes this way; None where it cannot."""
    entered = plan.inputs[0]
    computed = plan.compute or entered
    if computed not in dt.NATIVE or entered not in (held, computed):
        return None
    if held is computed:
        return PositionPlan(FINDERS[name], None, DEFAULT, computed.storage)
    mode, transforms = casts(held, computed)
    if transforms:
        return None
    rows = kernels.dtype_args(held), kernels.dtype_args(computed)
    return PositionPlan(FINDERS[name], rows, mode, computed.storage)


def run(
    plan: PositionPlan, x: Buffer, *, axis: Any = None, keepdims: bool = False
) -> Buffer | None:
    """Where each line has its first extreme, or its first NaN; None where NumPy has to look."""
    if x.size < LONG or not x.flags.aligned or type(keepdims) is not bool:
        return None
    axes = None if type(axis) is tuple else axes_of(axis, x.ndim)
    if axes is None:
        return None
    if plan.rows is None and x.flags.c_contiguous and x.ndim - 1 in axes:
        return None  # NumPy is as quick
    if axis is None:
        found = np.array(_first(plan, x), np.intp)
    else:
        moved = np.moveaxis(x, axes[0], -1)
        found = np.empty(moved.shape[:-1], np.intp)
        _along_last(plan, moved, found)
    return np.expand_dims(found, axes) if keepdims else found


def _first(plan: PositionPlan, x: Buffer) -> int:
    """The place in a whole array, row by row."""
    places, values = [], []
    for start, piece in _pieces(x):
        line = plan.cast(piece).reshape(-1)
        place = int(plan.find(line))
        places.append(start + place)
        values.append(line[place])
    return places[int(plan.find(np.array(values)))]


def _pieces(x: Buffer, start: int = 0) -> Iterator[tuple[int, Buffer]]:
    """Parts of an array that are short enough, one after another, and where they begin."""
    inner = prod(x.shape[1:])
    if x.ndim == 0 or inner <= PIECE:
        step = max(1, PIECE // inner)
        for at in range(0, len(x) if x.ndim else 1, step):
            yield start + at * inner, x[at : at + step] if x.ndim else x
        return
    for i, part in enumerate(x):
        yield from _pieces(part, start + i * inner)


def _along_last(plan: PositionPlan, x: Buffer, out: Buffer) -> None:
    """The places along the last axis, of some lines at a time."""
    if x.ndim == 1:
        out[()] = _first(plan, x)
        return
    inner = prod(x.shape[1:])
    step = PIECE // inner
    if not step:
        for i, part in enumerate(x):
            _along_last(plan, part, out[i, ...])
        return
    for at in range(0, len(x), step):
        plan.find(plan.cast(x[at : at + step]), axis=-1, out=out[at : at + step])
