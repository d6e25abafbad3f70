"""What does all of a plan on short NumPy buffers, called from C++ without a frame of Python's.

A ufunc that answers in the dtype of the result, or a kernel between casts of ours. What is longer
goes by ``compile.Compiled``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import exponents, loops
from promoarray.backends.numpy.between_casts import (
    FEW,
    answer_in,
    between_casts,
    in_two_steps,
    of_each_element,
)
from promoarray.backends.numpy.cast import comparable, widens
from promoarray.backends.numpy.kernels import (
    KERNELS,
    OF_ONE_CALL,
    POSITIONS,
    formula_of_complex,
    is_along_axes,
    is_elementwise,
    is_variant,
    kernel_of,
)
from promoarray.dtypes import BY_STORAGE, INTEGERS, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT
from promoarray.operations import OPERATIONS, Family
from promoarray.promotion.plan import Plan

if TYPE_CHECKING:
    from promoarray.backends.numpy.programs import Written

Buffer = np.ndarray[Any, Any]


def short_kernel(
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    casts: loops.Casts,
    *,
    low: bool = False,
    high: bool = False,
) -> Callable[..., Any] | None:
    """What does all of a plan on short operands, if something does: a ufunc that answers in the
    dtype of the result, its operands widened by NumPy's own casts, or one between casts of ours.
    """
    common = plan.compute or plan.inputs[0]
    if len(held) > MOST:
        return _of_many(name, held, plan)
    if plan.compute is None and {*plan.inputs} != {common}:
        return _of_unlike(name, held, plan, casts)
    if plan.decomposition is not None:
        return in_two_steps(held, plan, casts)
    if name in loops.LOGICAL and (logic := loops.logical_plan(name, held, plan, casts)):
        return _of_logic(logic, held)
    if name in _ORDERED:
        return _ordering(name, held[0], plan)
    if _is_linalg(name):
        from promoarray.backends.numpy.short_linalg import linalg_kernel

        return linalg_kernel(name, held, plan)
    if plan.extra_results:
        return None
    if low or high:
        return _of_bounds(name, held, plan, casts, low, high)
    if name == "isin":
        common = comparable(common)
        return between_casts(name, _isin, held, plan._replace(compute=common), dt.bool, casts)
    if name == "huber_loss":
        return _by_delta(held, plan, casts)
    kernel = kernel_of(name, common)
    if kernel is not None and not is_elementwise(name):
        from promoarray.backends.numpy.short_folds import WITH_OPTIONS, with_options

        if name in WITH_OPTIONS or is_along_axes(name):
            return with_options(name, kernel, held, plan, casts)
    if name.endswith("_pow"):
        from promoarray.backends.numpy.short_powers import is_by_exponent, power_kernel

        if is_by_exponent(name, common):
            return power_kernel(name, kernel, held, plan, common, casts)
    if is_variant(name) or (common.kind is Kind.COMPLEX and formula_of_complex(name)):
        found = between_casts(name, None, held, plan, common, casts)
        return found or of_each_element(name, kernel, held, plan, common, casts)
    if name in _OF_ONE_ARRAY and kernel is not None and not isinstance(kernel, np.ufunc):
        return _of_one_array(name, kernel, held, plan, common, casts)
    if isinstance(kernel, np.ufunc):
        return _of_ufunc(name, kernel, held, plan, casts)
    return of_each_element(name, kernel, held, plan, common, casts)


MOST = 3
"""Operands of what is called from C++, but for arrays that are joined as they are."""


def _of_many(name: str, held: tuple[DType, ...], plan: Plan) -> Callable[..., Any] | None:
    from promoarray.backends.numpy.short_folds import MOVING

    common = plan.compute or plan.inputs[0]
    as_they_are = {*held, *plan.inputs, plan.result} == {common}
    return KERNELS[name] if as_they_are and name in MOVING else None


def _of_unlike(
    name: str, held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> np.ufunc | None:
    """A ufunc that takes operands of different dtypes, as NumPy 2 compares integers; some of them
    NumPy widens."""
    ufunc, storages = KERNELS.get(name), tuple(dtype.storage for dtype in plan.inputs)
    widened = all(_widens(*pair, casts) for pair in zip(held, plan.inputs, strict=True))
    if not isinstance(ufunc, np.ufunc) or not widened or not dt.NATIVE.issuperset(held):
        return None
    try:
        found = ufunc.resolve_dtypes((*storages, None))
    except TypeError:
        return None
    return ufunc if found == (*storages, plan.result.storage) else None


def _of_ufunc(
    name: str, kernel: np.ufunc, held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> Callable[..., Any] | None:
    common = plan.compute or plan.inputs[0]
    try:
        *_, answers = kernel.resolve_dtypes((*(common.storage,) * len(held), None))
    except TypeError:
        return None
    plain = {*plan.inputs} == {common} and answers == plan.result.storage
    by_exponent = name in exponents.LOOPS and common.kind is Kind.FLOAT
    own_loop = by_exponent or loops.is_slow_in_numpy(name, common)
    if plain and {*held} == {common} and not own_loop:
        return kernel
    found = between_casts(name, kernel, held, plan, BY_STORAGE[answers], casts)
    if found is None and plain and all(_widens(d, common, casts) for d in held):
        return kernel
    return found


def _of_logic(plan: loops.LoopPlan, held: tuple[DType, ...]) -> Callable[..., Any]:
    """Logic of operands as they are held, not of bools."""
    *given, row, result = plan.rows
    return kernels.CastingKernel(
        plan.name,
        (*given, *given, row, result, result),
        (DEFAULT,) * (2 * len(given) + 1),
        held[0].storage,
        plan.storage,
        np.empty,
        np.empty_like,
        loops.watched,
        plan.arguments,
    )


# --- What takes bounds, or goes by an option ------------------------------------------------------


@cache
def _bounded(name: str, low: bool, high: bool) -> Callable[..., Any]:
    """The kernel of ``clip``, or what a policy has for it, with the bounds that there are."""
    return partial(KERNELS[name], low=low, high=high)


@cache
def _checked(common: DType) -> Callable[..., Any]:
    """What clips by two bounds of the operand's own dtype, which it checks."""
    from promoarray.backends.numpy.clips import CLIP, checked_by

    kernel: Any = CLIP
    if common.kind not in INTEGERS:
        plan = Plan((common,) * 3, common, common)
        kernel = between_casts("clip_beyond", None, plan.inputs, plan, common, _as_it_is)
    return checked_by(kernel, _bounded("checked_clip", True, True))


def _as_it_is(source: DType, target: DType) -> tuple[Any, tuple[()]]:
    return DEFAULT, ()


def _isin(x: Buffer, among: Buffer, *, invert: bool = False) -> Any:
    if x.size * among.size > FEW:
        return None
    found = np.logical_or.reduce(np.equal(x[..., None], among.reshape(-1)), axis=-1)
    return np.logical_not(found) if invert else found


def _of_bounds(
    name: str, held: tuple[DType, ...], plan: Plan, casts: loops.Casts, low: bool, high: bool
) -> Callable[..., Any] | None:
    """``clip`` with its bounds, or what a policy has for it."""
    common = plan.compute or plan.inputs[0]
    both = low and high
    if name == "checked_clip" and not both:  # nothing to check
        name = "clip" if common.kind in INTEGERS else "clip_beyond"
    if name == "clip":
        if both:
            from promoarray.backends.numpy.clips import CLIP

            ufunc = CLIP
        else:
            name, ufunc = ("maximum", np.maximum) if low else ("minimum", np.minimum)
        return _of_ufunc(name, ufunc, held, plan, casts) if isinstance(ufunc, np.ufunc) else None
    if name in loops.CLIPS:
        name = name if both else f"{name}_low" if low else f"{name}_high"
        return between_casts(name, None, held, plan, common, casts)
    from promoarray.backends.numpy.short_folds import with_options

    kernel = _checked(common) if name == "checked_clip" else _bounded(name, low, high)
    return with_options(name, kernel, held, plan, casts)


def _by_delta(held: tuple[DType, ...], plan: Plan, casts: loops.Casts) -> Callable[..., Any] | None:
    """Huber's error by a loop whose third operand is an option, or by programs that have it."""
    from promoarray.backends.numpy import losses
    from promoarray.backends.numpy.blocks import answer_of

    common = plan.compute or plan.inputs[0]
    with_delta = plan._replace(inputs=(*plan.inputs, common))
    kernel = between_casts(losses.LOOP, None, (*held, common), with_delta, common, casts)
    if kernel:
        return losses.by_delta(kernel, common.storage)
    otherwise = of_each_element("huber_loss", losses.huber, held, plan, common, casts)
    answers = answer_of(losses.huber, (common,) * len(held))
    if otherwise is None or answers is None:
        return otherwise

    def of_delta(delta: float) -> Callable[..., Any] | None:
        in_steps, program = _of_delta(delta, common, len(held), BY_STORAGE[answers])
        way = held, plan, BY_STORAGE[answers], casts
        return program and between_casts("huber_loss", in_steps, *way, program=program)

    return losses.by_known_delta(of_delta, otherwise)


@lru_cache(maxsize=64)
def _of_delta(
    delta: float, common: DType, count: int, answers: DType
) -> tuple[Callable[..., Any], Written | None]:
    """Huber's error with a bound, and its program."""
    from promoarray.backends.numpy.losses import in_steps as in_steps_of
    from promoarray.backends.numpy.programs import written

    in_steps = partial(in_steps_of, delta=delta)
    return in_steps, written(in_steps, common.storage, count, answers.storage)


_ORDERED = {
    "sort": "s",
    "argsort": "o",
    "unique_values": "u",
    "unique_counts": "uc",
    "unique_inverse": "uv",
    "unique_all": "uivc",
}


def _ordering(name: str, held: DType, plan: Plan) -> Callable[..., Any] | None:
    """What sorts as it is held; indices are of the dtype that the plan has for them."""
    results = plan.result, *plan.extra_results
    index = results[-1] if name == "argsort" or plan.extra_results else dt.int64
    moved = () if name == "argsort" else (plan.result,)
    common = plan.compute or plan.inputs[0]
    if {held, *plan.inputs, *moved} != {common} or held.kind is Kind.STRING:
        return None
    if index not in (dt.int32, dt.int64) or any(each is not index for each in results[1:]):
        return None
    rows = kernels.dtype_args(held), kernels.dtype_args(index)
    return kernels.OrderingKernel(_ORDERED[name], *rows, held.storage, index.storage, np.empty)


def _is_linalg(name: str) -> bool:
    """Whether linear algebra or a transform of NumPy's does all; of ``eig`` the values decide the
    dtype that it answers in."""
    row = OPERATIONS.get(name)  # a policy's own kernels are none
    if row is not None and row.family in _LINALG:
        return name not in ("eig", "eigvals")
    return name in ("cross", "diagonal", "fftshift", "ifftshift")


_LINALG = {Family.LINALG, Family.NORM, Family.FFT, Family.RFFT, Family.IRFFT}


# --- Functions of each element --------------------------------------------------------------------


_TRUTHS = frozenset({"any", "all"})
_OF_ONE_ARRAY = OF_ONE_CALL | POSITIONS | _TRUTHS | {"real", "imag"}
"""Functions of one array that answer in a dtype of their own, not all of them ufuncs."""


def _of_one_array(
    name: str,
    kernel: Callable[..., Any],
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Callable[..., Any] | None:
    answers = answer_in(kernel, common, 1)
    if answers is None:
        return None
    is_all = held[0] is plan.inputs[0] is common and answers is plan.result
    if name in POSITIONS and held[0] is plan.inputs[0] is common:
        from promoarray.backends.numpy.reductions import position_in_rows

        kernel = position_in_rows(name)
    found: Callable[..., Any] | None = kernel
    if not is_all:
        found = between_casts(name, kernel, held, plan, answers, casts)
    if found is None or name not in _TRUTHS:
        return found
    from promoarray.backends.numpy.short_folds import of_truth

    return of_truth(name, held[0], plan, casts, found)


def _widens(source: DType, target: DType, casts: loops.Casts) -> bool:
    """Whether NumPy's own cast is the policy's."""
    if source is target:
        return True
    pair = source, target
    if pair == (dt.float32, dt.complex128) or source is dt.float16:  # NumPy keeps NaN's payload
        return False
    return widens(*pair) and not casts(*pair)[1]
