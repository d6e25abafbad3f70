"""What takes options, of short NumPy buffers: functions along axes, and folds of axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import folds, loops
from promoarray.backends.numpy.between_casts import FEW, answer_in, between_casts, telling_once
from promoarray.dtypes import INEXACT, INTEGERS, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, CastMode

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan


MOVING = frozenset({"where", "concat", "stack"})
"""What answers in the dtype of its buffers, whatever that is."""

_BY_ITSELF = frozenset({"sum", "prod", "max", "min", "mean", *MOVING})
"""What looks itself whether its operands are long."""


@cache
def _of_few(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: kernel(x, y) if x.size * y.size <= FEW else None


_SILENT = frozenset({"max", "min", "searchsorted", *MOVING})
"""What NumPy has nothing to tell of."""

WITH_OPTIONS = _BY_ITSELF | {
    *("cumulative_sum", "cumulative_prod", "diff", "std", "var", "searchsorted"),
    *("matmul", "vecdot", "tensordot", "outer"),
}


def with_options(
    name: str, kernel: Callable[..., Any], held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> Callable[..., Any] | None:
    """A function along axes, or of all that it is given."""
    common = plan.compute or plan.inputs[0]
    if name in MOVING:
        made: DType | None = common if {*plan.inputs} == {plan.inputs[0]} else None
    else:
        made = answer_in(kernel, common, len(held))
    if made is None:
        return None
    if name == "outer":
        kernel = _of_few(kernel)
    if name not in _SILENT and common.kind in INEXACT and not isinstance(kernel, np.ufunc):
        kernel = telling_once(kernel)
    dtypes = {*held, *plan.inputs, plan.result}
    alone = (name in _BY_ITSELF or isinstance(kernel, np.ufunc)) and dtypes == {common} == {made}
    found = kernel if alone else between_casts(name, kernel, held, plan, made, casts)
    return found and _folding(name, held[0], plan, made, casts, found)


_RUNNING = ("cumulative_sum", "cumulative_prod")
_FOLDS = {name: name for name in ("sum", "prod", "max", "min", "mean", "std", "var", *_RUNNING)}
_FOLDS |= {"max_or_lowest": "max", "min_or_highest": "min", "truncated_mean": "mean"}
_FOLDS["exact_integer_mean"] = "mean"
_FOLDS |= dict.fromkeys(("var_around_integer", "integer_var"), "var")
_FOLDS |= dict.fromkeys(("std_around_integer", "integer_std"), "std")
"""What a fold of ours does of some elements, and which."""

_MEANS = {"mean", "var", "std"}
_OF_INTEGERS = {
    *("var_around_integer", "std_around_integer", "integer_var", "integer_std"),
    "exact_integer_mean",
}
"""What has loops of its own for integers, beside a mean of float32."""

LONGEST = 1 << 18
"""Elements of what is folded in one call; of more the rest takes no time."""

ADDED_AT_ONCE = 8192
"""Elements of what NumPy casts that it adds up as one run: as many as its buffer holds."""


def _folding(
    name: str,
    held: DType,
    plan: Plan,
    made: DType,
    casts: loops.Casts,
    otherwise: Callable[..., Any],
) -> Callable[..., Any]:
    """A reduction of axes in rows, which asks another kernel for all else."""
    common = plan.compute or plan.inputs[0]
    if name not in _FOLDS or (name == "truncated_mean" and plan.result is not common):
        return otherwise
    if plan.inputs[0] not in (held, common):
        return otherwise
    fold, computed, answer, longest = _fold_of(name, held, plan, made)
    if computed not in folds.FOLDED[_FOLDS[name]] or not folds.of_one_kind(held, computed):
        return otherwise
    if answer.kind is Kind.COMPLEX and plan.result.kind is not Kind.COMPLEX:
        return otherwise
    if name in _RUNNING and not folds.of_one_kind(answer, plan.result):
        return otherwise
    ways = (held, computed), (answer, plan.result)
    found = [casts(a, b) if a is not b else (DEFAULT, ()) for a, b in ways]
    if found[0][1] or found[1][1]:
        return otherwise
    dtypes, modes = (held, computed, plan.result), (found[0][0], found[1][0])
    return _made(fold, dtypes, modes, otherwise, longest)


def of_truth(
    name: str, held: DType, plan: Plan, casts: loops.Casts, otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """``any`` or ``all`` of numbers as they are held, if they are computed in what is as exact."""
    common = plan.compute or plan.inputs[0]
    is_exact = common is held or (common.kind is held.kind and common.bits > held.bits)
    mode, transforms = casts(dt.bool, plan.result) if plan.result is not dt.bool else (DEFAULT, ())
    if held is not plan.inputs[0] or not is_exact or transforms or held.kind is Kind.COMPLEX:
        return otherwise
    return _made(name, (held, dt.bool, plan.result), (DEFAULT, mode), otherwise, LONGEST)


def counter(
    held: DType, index: DType, casts: loops.Casts, otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """How many elements are not zero, in the dtype that is counted in; ``otherwise`` of others."""
    mode, transforms = casts(dt.int64, index) if index is not dt.int64 else (DEFAULT, ())
    if transforms or held is dt.complex32:
        return otherwise
    dtypes = held, dt.bool, index
    return _made("count_nonzero", dtypes, (DEFAULT, mode), otherwise, LONGEST)


def _made(
    fold: str,
    dtypes: tuple[DType, DType, DType],
    modes: tuple[CastMode, CastMode],
    otherwise: Callable[..., Any],
    longest: int,
) -> Callable[..., Any]:
    held, computed, result = map(kernels.dtype_args, dtypes)
    own = dtypes[2].storage, np.empty, loops.watched
    return kernels.FoldingKernel(fold, (held, computed, result), modes, *own, otherwise, longest)


def _fold_of(name: str, held: DType, plan: Plan, made: DType) -> tuple[str, DType, DType, int]:
    """A fold, what it computes in, what it answers in, and how many elements it is right for."""
    common = plan.compute or plan.inputs[0]
    fold = _FOLDS[name]
    if held is plan.inputs[0] and common.kind in (Kind.BOOL, *INTEGERS):
        if name == "truncated_mean" and common.bits == 64:  # in which the sum is taken
            name = "exact_integer_mean"
        if held is common and name in _OF_INTEGERS:
            return name, dt.float32, made, FEW
        if name not in _OF_INTEGERS and fold in _MEANS and _holds(common, held):
            # in which NumPy adds up
            return fold, dt.float64, dt.float64, LONGEST if _adds_exactly(common) else ADDED_AT_ONCE
    return fold, common, folds.answer_of(name, common), LONGEST


def _holds(common: DType, held: DType) -> bool:
    """Whether an integer dtype has all integers of another, so that these may be cast at once."""
    return held is common or (held.kind is common.kind and held.bits < common.bits)


def _adds_exactly(dtype: DType) -> bool:
    """Whether NumPy adds integers up in float64, where no sum of so few is rounded."""
    return dtype is dt.bool or (dtype.kind in INTEGERS and dtype.bits <= 32)
