"""Reductions and running sums of long NumPy buffers in one pass: the cast of each element, and what
is made of them, in what the plan computes in.

The bits are those of NumPy's own loops on a buffer that is cast whole, its axes in the order of
memory: sums of floats are pairwise where elements lie side by side (`ways` has how that goes along
several axes). What these loops cannot tell (NaN of several bits, whose sign hangs on the
instructions; extremes that are zero, if there are zeros of both signs; exceptions of products and
variances that NumPy has to warn of) is left to NumPy's; so are buffers of other layouts that need
no cast, which NumPy adds up in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy.exceptions_met import tell_by_example
from promoarray.backends.numpy.loops import heeded, watched
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
_COMPLEX = {dt.complex64, dt.complex128}
_NUMBERS = {d for d in dt.NATIVE if d.kind in (Kind.INT, Kind.UINT)} | _FLOATS
FOLDED = {
    "sum": _NUMBERS | _COMPLEX,
    **dict.fromkeys(("prod", "max", "min"), _NUMBERS),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), _NUMBERS),
    **dict.fromkeys(("mean", "var", "std"), _FLOATS | _COMPLEX),
}
"""What goes this way, and computed in which dtypes."""

_TRUTHS = ("any", "all")
"""What goes this way of short floats, without a cast: NumPy is as quick with what it has."""

NAMES = frozenset((*FOLDED, *_TRUTHS))


class FoldPlan(NamedTuple):
    """What ``kernels.fold`` takes for a plan: its rows, the modes of both casts, and what it
    answers in: running sums in the plan's result, variances of complex numbers in their part, all
    else in what is computed in."""

    name: str
    rows: tuple[kernels.DTypeArgs, kernels.DTypeArgs, kernels.DTypeArgs]
    modes: tuple[CastMode, CastMode]
    computed: np.dtype[Any]
    answer: np.dtype[Any]
    runs: bool
    casts: bool


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
    if dt.string in (held, result) or not of_one_kind(held, computed):
        return None
    modes = []
    for source, target in ((held, computed), (computed, result)):
        mode, transforms = casts(source, target) if source is not target else (DEFAULT, ())
        if transforms:
            return None
        modes.append(mode)
    return _made(name, held, computed, result, modes[0], modes[1])


def _made(
    name: str, held: DType, computed: DType, result: DType, enter: CastMode, leave: CastMode
) -> FoldPlan:
    answer = answer_of(name, result)
    rows = kernels.dtype_args(held), kernels.dtype_args(computed), kernels.dtype_args(answer)
    runs = name.startswith("cumulative")
    storage = computed.storage, answer.storage
    return FoldPlan(name, rows, (enter, leave), *storage, runs, held is not computed)


def of_one_kind(*dtypes: DType) -> bool:
    """Whether all are complex, or none."""
    return len({dtype.kind is Kind.COMPLEX for dtype in dtypes}) == 1


def answer_of(name: str, computed: DType) -> DType:
    """What a fold makes of what is computed in: variances of complex numbers are real."""
    return computed.part if name in ("var", "std") else computed


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


@cache
def _counting(dtype: DType) -> FoldPlan:
    """The plan of counting what is not zero."""
    made = _made("count_nonzero", dtype, dt.bool, dt.int64, DEFAULT, DEFAULT)
    return made._replace(casts=True)


def count(x: Buffer, dtype: DType, axis: Any, keepdims: bool) -> Buffer | None:
    """How many elements are not zero; None where NumPy has to look."""
    if dtype in (dt.complex32, dt.string):
        return None
    return run(_counting(dtype), x, axis=axis, keepdims=keepdims)


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
    if x.size < LONG or not x.flags.aligned or type(keepdims) is not bool:
        return None
    if plan.runs and axis is None and x.ndim != 1:
        return None
    axes = axes_of(axis, x.ndim)
    in_rows = x.flags.c_contiguous
    if axes is None or not (in_rows or plan.casts or plan.name in ("var", "std")):
        return None
    order = tuple(range(x.ndim)) if in_rows else in_memory(x)
    if plan.runs:
        if include_initial and not in_rows:
            return None
        return _running(plan, x, order, axes[0], include_initial)
    way = ways(x.shape, order, axes, plan.name in _ADDED)
    reduced: Callable[..., Buffer | None] = _OF_SUMS.get(plan.name, _reduced)
    made = reduced(plan, x, way, ddof)
    if made is None:
        return None
    if way.back is not None:
        made = np.transpose(made, way.back)
    return np.expand_dims(made, axes) if keepdims else made


# --- How an array is walked -----------------------------------------------------------------------


class Way(NamedTuple):
    """How axes are reduced: which, and all of the array's as they are walked; how many lines
    before, their length, and how many beside each other; of how many runs a line consists; the
    shape of the result as it is made; and its axes in the order of the array's, None if they are.
    """

    axes: Shape
    walked: Shape
    lines: Shape
    runs: int
    shape: Shape
    back: Shape | None


def in_memory(x: Buffer) -> Shape:
    """The axes in the order of memory, as in a copy of NumPy's order "K"."""
    return tuple(sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis])))


def axes_of(axis: Any, ndim: int) -> Shape | None:
    """The axes that are named, all for None; None where they are none."""
    if axis is None:
        return tuple(range(ndim))
    named = axis if type(axis) is tuple else (axis,)
    if not named or not all(type(a) is int and -ndim <= a < ndim for a in named):
        return None
    found = {a % ndim for a in named}
    return tuple(sorted(found)) if len(found) == len(named) else None


@lru_cache(maxsize=1024)
def ways(shape: Shape, order: Shape, axes: Shape, added: bool) -> Way:
    """How axes are reduced of an array that lies in memory in an order.

    NumPy goes through memory. Where the innermost axes are reduced, their elements are one run,
    which of ``added`` floats is summed pairwise, and the runs are added up in order; else what lies
    beside each other is folded in order.
    """
    kept = [a for a in order if a not in axes]
    folded = [a for a in order if a in axes]
    long = [a for a in order if shape[a] != 1]
    last_kept = max((i for i, a in enumerate(long) if a not in axes), default=-1)
    last_folded = max((i for i, a in enumerate(long) if a in axes), default=-1)
    beside = long[last_folded + 1 :]
    length = prod(shape[a] for a in folded)
    run = prod(shape[a] for a in long[last_kept + 1 :]) if not beside else length
    inner = prod(shape[a] for a in beside)
    before = [a for a in kept if a not in beside]
    walked = *before, *folded, *beside
    lines = prod(shape[a] for a in before), length, inner
    made = [a for a in walked if a not in axes]
    back = tuple(made.index(a) for a in sorted(made))
    return Way(
        axes,
        walked,
        lines,
        length // run if added and run else 1,
        tuple(shape[a] for a in made),
        None if back == tuple(range(len(made))) else back,
    )


def _folded(
    plan: FoldPlan,
    name: str,
    x: Buffer,
    way: Way,
    center: Buffer | None = None,
    *,
    tells: bool = False,
) -> Buffer | None:
    rows, answer = plan.rows, plan.answer
    if name == "sum":  # which a mean or a variance may begin with
        rows, answer = (*rows[:2], rows[1]), plan.computed
    out = np.empty(way.shape, answer)
    walked = x.transpose(way.walked)
    runs = way.runs if name in _ADDED else 1
    rest = rows, plan.modes, center, False, runs
    raised = kernels.fold(name, walked, out, way.lines, *rest)
    if _is_quiet(raised) or (tells and tell_by_example(name, raised, plan.computed)):
        return out
    return None


def _running(
    plan: FoldPlan, x: Buffer, order: Shape, axis: int, include_initial: bool
) -> Buffer | None:
    at = order.index(axis)
    walked = x.transpose(order)
    shape = list(walked.shape)
    lines = prod(shape[:at]), shape[at], prod(shape[at + 1 :])
    shape[at] += include_initial
    out = np.empty(shape, plan.answer)
    raised = kernels.fold(
        plan.name, walked, out, lines, plan.rows, plan.modes, None, bool(include_initial)
    )
    if not (_is_quiet(raised) or tell_by_example(plan.name, raised, plan.computed)):
        return None
    if include_initial:
        start = np.full(1, plan.name == "cumulative_prod", plan.computed)
        stored = np.empty(1, plan.answer)
        kernels.cast(start, stored, *plan.rows[1:], plan.modes[1])
        first: tuple[Any, ...] = (*(slice(None),) * at, 0)
        out[first] = stored[0]
    return out.transpose([order.index(a) for a in range(x.ndim)])


def _is_quiet(raised: int) -> bool:
    """Whether nothing was raised that NumPy does not ignore, and the loop could tell."""
    return not (raised and raised & watched())


# --- What is made of folds ------------------------------------------------------------------------


def _reduced(plan: FoldPlan, x: Buffer, way: Way, _: float) -> Buffer | None:
    return _folded(plan, plan.name, x, way, tells=True)


def _mean(plan: FoldPlan, x: Buffer, way: Way, _: float) -> Buffer | None:
    """``np.mean``: the sum, divided by NumPy's int, so in float64."""
    total = _folded(plan, "sum", x, way, tells=True)
    if total is None or _divides_otherwise(total) or (not way.shape and 0 < abs(total) < _TINY):
        return None
    return np.true_divide(total, np.intp(way.lines[1]), out=total, casting="unsafe")


def _divides_otherwise(total: Buffer) -> bool:
    """Whether dividing has an exception to tell of, as NumPy does of infinite complex numbers, and
    of scalars in other words than of arrays."""
    return total.dtype.kind == "c" and not np.isfinite(total).all()


_TINY = 1e-30
"""Below it NumPy may have an underflow to tell, of scalars in other words than of arrays."""


def _var(plan: FoldPlan, x: Buffer, way: Way, ddof: float) -> Buffer | None:
    """``np.var``: the mean of squared distances from the mean."""
    free = way.lines[1] - ddof
    in_rows = plan.casts or x.flags.c_contiguous
    center = (_folded(plan, "sum", x, way) if in_rows else _sum(x, way)) if free > 0 else None
    if center is None or _divides_otherwise(center):
        return None
    np.true_divide(center, np.intp(way.lines[1]), out=center, casting="unsafe")
    squares = _folded(plan, "squares", x, way, center)
    if squares is None:
        return None
    return np.true_divide(squares, np.float64(free), out=squares, casting="unsafe")


def _sum(x: Buffer, way: Way) -> Buffer | None:
    """The sum of what needs no cast, as NumPy adds it up where it lies; None where it would tell
    of something, or chooses the order of axes itself."""
    if 0 in x.strides:
        return None
    try:
        raised: Any = dict.fromkeys(heeded(), "raise")
        with np.errstate(**raised):
            found = np.add.reduce(x, axis=way.axes)
    except FloatingPointError:
        return None
    kept = [a for a in range(x.ndim) if a not in way.axes]
    made = [a for a in way.walked if a not in way.axes]
    return np.array(np.transpose(found, [kept.index(a) for a in made]), order="C")


def _std(plan: FoldPlan, x: Buffer, way: Way, ddof: float) -> Buffer | None:
    var = _var(plan, x, way, ddof)
    return None if var is None else np.sqrt(var, out=var)


_OF_SUMS: dict[str, Callable[..., Buffer | None]] = {"mean": _mean, "var": _var, "std": _std}

_ADDED = frozenset({"sum", "squares", *_OF_SUMS})
"""What adds floats up, side by side in pairs."""
