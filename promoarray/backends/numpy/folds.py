"""Reductions and running sums of long NumPy buffers in one pass: the cast of each element, and what
is made of them, in what the plan computes in.

The bits are those of NumPy's own loops on a buffer that is cast whole: sums of floats are pairwise
where elements lie side by side. What is not in rows, and what these loops cannot tell (NaN, whose
sign hangs on the instructions; extremes that are zero, if there are zeros of both signs; exceptions
that NumPy has to warn of) is left to NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy.loops import watched
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, CastMode

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
Casts = Callable[[DType, DType], tuple[CastMode, tuple[Any, ...]]]
Shape = tuple[int, ...]

LONG = 1 << 13
"""Elements from which on it pays; what is cast whole below takes less than 1 MiB."""

_FLOATS = {dt.float32, dt.float64}
_NUMBERS = {d for d in dt.NATIVE if d.kind in (Kind.INT, Kind.UINT)} | _FLOATS
FOLDED = {
    **dict.fromkeys(("sum", "prod", "cumulative_sum", "cumulative_prod"), _NUMBERS),
    **dict.fromkeys(("mean", "var", "std", "max", "min"), _FLOATS),
}
"""What goes this way, and computed in which dtypes."""

_TRUTHS = ("any", "all")
"""What goes this way of short floats, without a cast: NumPy is as quick with what it has."""

NAMES = frozenset((*FOLDED, *_TRUTHS))


class FoldPlan(NamedTuple):
    """What ``kernels.fold`` takes for a plan: its rows, the modes of both casts, and what it
    answers in: running sums in the plan's result, all else in what is computed in."""

    name: str
    rows: tuple[kernels.DTypeArgs, kernels.DTypeArgs, kernels.DTypeArgs]
    modes: tuple[CastMode, CastMode]
    computed: np.dtype[Any]
    answer: np.dtype[Any]
    runs: bool


def fold_plan(name: str, held: DType, plan: Plan, casts: Casts) -> FoldPlan | None:
    """How a plan of one operand goes this way; None where it cannot."""
    entered = plan.inputs[0]
    computed = plan.compute or entered
    if name in _TRUTHS:
        short = held is entered and held.kind is Kind.FLOAT and held.bits < 32
        return _made(name, held, dt.bool, dt.bool, DEFAULT, DEFAULT) if short else None
    if computed not in FOLDED[name] or entered not in (held, computed):
        return None
    runs = name.startswith("cumulative")
    result = plan.result if runs else computed
    modes = []
    for source, target in ((held, computed), (computed, result)):
        mode, transforms = casts(source, target) if source is not target else (DEFAULT, ())
        if (
            transforms
            or Kind.COMPLEX in (source.kind, target.kind)
            or dt.string in (source, target)
        ):
            return None
        modes.append(mode)
    return _made(name, held, computed, result, modes[0], modes[1])


def _made(
    name: str, held: DType, computed: DType, result: DType, enter: CastMode, leave: CastMode
) -> FoldPlan:
    rows = kernels.dtype_args(held), kernels.dtype_args(computed), kernels.dtype_args(result)
    runs = name.startswith("cumulative")
    return FoldPlan(name, rows, (enter, leave), computed.storage, result.storage, runs)


@cache
def _plain(name: str, storage: np.dtype[Any]) -> FoldPlan | None:
    """The plan of a buffer that holds what is computed in."""
    dtype = BY_STORAGE.get(storage)
    if dtype is None or dtype not in FOLDED[name]:
        return None
    return _made(name, dtype, dtype, dtype, DEFAULT, DEFAULT)


def fold(name: str, x: Buffer, axis: Any, keepdims: bool) -> Buffer | None:
    """Reduce a buffer in its own dtype; None where NumPy has to."""
    plan = _plain(name, x.dtype)
    return None if plan is None else run(plan, x, axis=axis, keepdims=keepdims)


def run(
    plan: FoldPlan,
    x: Buffer,
    *,
    axis: Any = None,
    keepdims: bool = False,
    ddof: float = 0.0,
    include_initial: bool = False,
) -> Buffer | None:
    """Run all of a plan but the cast of what is reduced; None where NumPy has to."""
    if x.size < LONG or not (x.flags.c_contiguous and x.flags.aligned):
        return None
    found = lines_of(x.shape, axis, keepdims)
    if found is None:
        return None
    lines, shape, first = found
    if plan.runs:
        return _running(plan, x, lines, first, include_initial)
    if plan.name in _OF_SUMS:
        return _OF_SUMS[plan.name](plan, x, lines, shape, ddof)
    return _folded(plan, plan.name, x, lines, shape)


def lines_of(shape: Shape, axis: Any, keepdims: bool) -> tuple[Shape, Shape, int] | None:
    """What is folded: how many lines before, their length, and how many beside each other; the
    shape of the result, and the first axis. None where axes lie apart, or are none."""
    if type(keepdims) is not bool:
        return None
    plain = axis is None or type(axis) is int  # a tuple may have what has no hash
    return _known_lines(shape, axis, keepdims) if plain else _lines(shape, axis, keepdims)


def _lines(shape: Shape, axis: Any, keepdims: bool) -> tuple[Shape, Shape, int] | None:
    axes = _axes(axis, len(shape))
    if axes is None:
        return None
    first, last = axes
    lines = prod(shape[:first]), prod(shape[first:last]), prod(shape[last:])
    kept = (1,) * (last - first) if keepdims else ()
    return lines, (*shape[:first], *kept, *shape[last:]), first


_known_lines = lru_cache(maxsize=1024)(_lines)


def _axes(axis: Any, ndim: int) -> tuple[int, int] | None:
    """The first axis to fold and the one after the last, of axes side by side; else None."""
    if axis is None:
        return 0, ndim
    named = axis if type(axis) is tuple else (axis,)
    if not named or not all(type(a) is int and -ndim <= a < ndim for a in named):
        return None
    found = sorted(a % ndim for a in named)
    first, last = found[0], found[-1] + 1
    return (first, last) if found == list(range(first, last)) else None


def _folded(
    plan: FoldPlan, name: str, x: Buffer, lines: Shape, shape: Shape, center: Buffer | None = None
) -> Buffer | None:
    out = np.empty(shape, plan.answer)
    raised = kernels.fold(name, x, out, lines, plan.rows, plan.modes, center)
    return out if _is_quiet(raised) else None


def _running(
    plan: FoldPlan, x: Buffer, lines: Shape, axis: int, include_initial: bool
) -> Buffer | None:
    shape = list(x.shape)
    shape[axis] += include_initial
    out = np.empty(shape, plan.answer)
    raised = kernels.fold(
        plan.name, x, out, lines, plan.rows, plan.modes, None, bool(include_initial)
    )
    if not _is_quiet(raised):
        return None
    if include_initial:
        start = np.full(1, plan.name == "cumulative_prod", plan.computed)
        stored = np.empty(1, plan.answer)
        kernels.cast(start, stored, *plan.rows[1:], plan.modes[1])
        first: tuple[Any, ...] = (*(slice(None),) * axis, 0)
        out[first] = stored[0]
    return out


def _is_quiet(raised: int) -> bool:
    """Whether nothing was raised that NumPy does not ignore, and the loop could tell."""
    return not (raised and raised & watched())


def _mean(plan: FoldPlan, x: Buffer, lines: Shape, shape: Shape, _: float) -> Buffer | None:
    """``np.mean``: the sum, divided by NumPy's int, so in float64."""
    total = _folded(plan, "sum", x, lines, shape)
    if total is None or (not shape and 0 < abs(total) < _TINY):
        return None
    return np.true_divide(total, np.intp(lines[1]), out=total, casting="unsafe")


_TINY = 1e-30
"""Below it NumPy may have an underflow to tell, of scalars in other words than of arrays."""


def _var(plan: FoldPlan, x: Buffer, lines: Shape, shape: Shape, ddof: float) -> Buffer | None:
    """``np.var``: the mean of squared distances from the mean."""
    free = lines[1] - ddof
    center = _folded(plan, "sum", x, lines, shape) if free > 0 else None
    if center is None:
        return None
    np.true_divide(center, np.intp(lines[1]), out=center, casting="unsafe")
    squares = _folded(plan, "squares", x, lines, shape, center)
    if squares is None:
        return None
    return np.true_divide(squares, np.float64(free), out=squares, casting="unsafe")


def _std(plan: FoldPlan, x: Buffer, lines: Shape, shape: Shape, ddof: float) -> Buffer | None:
    var = _var(plan, x, lines, shape, ddof)
    return None if var is None else np.sqrt(var, out=var)


_OF_SUMS = {"mean": _mean, "var": _var, "std": _std}
