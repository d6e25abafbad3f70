"""Positions of extremes in long NumPy buffers, a piece at a time.

Each piece is cast and, where lines lie beside each other, turned; what is looked at fits a cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy.folds import LONG, Casts, lines_of
from promoarray.kernels.cast_mode import DEFAULT, CastMode

if TYPE_CHECKING:
    from promoarray.dtypes import DType
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]

PIECE = 1 << 16
"""Elements that are looked at at a time."""

NARROWEST = 16
"""Lines beside each other that are worth a piece."""

FINDERS: dict[str, Callable[..., Any]] = {"argmax": np.argmax, "argmin": np.argmin}


class PositionPlan(NamedTuple):
    """What finds a position, and the cast to what it looks at."""

    find: Callable[..., Any]
    rows: tuple[kernels.DTypeArgs, kernels.DTypeArgs] | None
    mode: CastMode
    storage: np.dtype[Any]

    def cast(self, piece: Buffer) -> Buffer:
        """The values of a piece, in rows."""
        if self.rows is None:
            return np.ascontiguousarray(piece)
        out = np.empty(piece.shape, self.storage)
        kernels.cast(piece, out, *self.rows, self.mode)
        return out


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
    if x.size < LONG or not (x.flags.c_contiguous and x.flags.aligned):
        return None
    if plan.rows is None and (axis is None or axis in (-1, x.ndim - 1)):
        return None  # NumPy is as quick
    found = None if type(axis) is tuple else lines_of(x.shape, axis, keepdims)
    if found is None:
        return None
    (outer, n, inner), shape, _ = found
    out = np.empty((outer, inner), np.intp)
    if inner == 1:
        _rows(plan, x.reshape(outer, n), out[:, 0])
        return out.reshape(shape)
    width = min(PIECE // n, inner)
    if width < min(NARROWEST, inner):
        return None
    for lines, places in zip(x.reshape(outer, n, inner), out, strict=True):
        for at in range(0, inner, width):
            piece = plan.cast(lines[:, at : at + width])
            plan.find(np.ascontiguousarray(piece.T), axis=1, out=places[at : at + width])
    return out.reshape(shape)


def _rows(plan: PositionPlan, x: Buffer, out: Buffer) -> None:
    outer, n = x.shape
    if n <= PIECE:
        step = PIECE // n
        for at in range(0, outer, step):
            plan.find(plan.cast(x[at : at + step]), axis=1, out=out[at : at + step])
        return
    for row, line in enumerate(x):
        places, values = [], []
        for at in range(0, n, PIECE):
            piece = plan.cast(line[at : at + PIECE])
            place = int(plan.find(piece))
            places.append(at + place)
            values.append(piece[place])
        out[row] = places[int(plan.find(np.array(values)))]
