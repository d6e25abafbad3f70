"""What does all of a plan on short NumPy buffers, called from C++ without a frame of Python's.

A ufunc that answers in the dtype of the result, or a kernel between casts of ours. What is longer
goes by ``compile.Compiled``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import (
    blocks,
    clips,
    complex_loops,
    exponents,
    folds,
    loops,
    losses,
    positions,
    programs,
)
from promoarray.backends.numpy.cast import comparable, widens
from promoarray.backends.numpy.kernels import (
    KERNELS,
    OF_ONE_CALL,
    formula_of_complex,
    is_along_axes,
    is_elementwise,
    kernel_of,
)
from promoarray.backends.numpy.told import telling
from promoarray.dtypes import BY_STORAGE, INEXACT, INTEGERS, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT
from promoarray.once import once
from promoarray.promotion.variants import VARIANTS

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

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
        return None
    if plan.compute is None and {*plan.inputs} != {common}:
        return _of_unlike(name, held, plan)
    if plan.decomposition is not None:
        return _in_two_steps(held, plan, casts)
    if name in loops.LOGICAL and (logic := loops.logical_plan(name, held, plan, casts)):
        return _of_logic(logic, held)
    if name in _ORDERED:
        return _ordering(name, held[0], plan)
    if plan.extra_results:
        return None
    if low or high:
        return _of_bounds(name, held, plan, casts, low, high)
    if name == "isin":
        common = comparable(common)
        return _between_casts(name, _isin, held, plan._replace(compute=common), dt.bool, casts)
    if name == "huber_loss":
        return _by_delta(held, plan, casts)
    kernel = kernel_of(name, common)
    if kernel is not None and (name in _WITH_OPTIONS or is_along_axes(name)):
        return _with_options(name, kernel, held, plan, casts)
    if name == "multiplied_pow" and common.kind is Kind.COMPLEX:
        return _by_factors(kernel, held, plan, common, casts)
    if name == "plain_pow":
        return _plain_power(kernel, held, plan, common, casts)
    if name in VARIANTS or (common.kind is Kind.COMPLEX and formula_of_complex(name)):
        found = _between_casts(name, None, held, plan, common, casts)
        return found or _of_short(name, kernel, held, plan, common, casts)
    if name in _OF_ONE_ARRAY and kernel is not None and not isinstance(kernel, np.ufunc):
        return _of_one_array(name, kernel, held, plan, common, casts)
    if isinstance(kernel, np.ufunc):
        return _of_ufunc(name, kernel, held, plan, casts)
    return _of_short(name, kernel, held, plan, common, casts)


MOST = 3
"""Operands of what is called from C++."""


def _of_unlike(name: str, held: tuple[DType, ...], plan: Plan) -> np.ufunc | None:
    """A ufunc that takes operands of different dtypes as they are, as NumPy 2 compares integers."""
    ufunc, storages = KERNELS.get(name), tuple(dtype.storage for dtype in held)
    if not isinstance(ufunc, np.ufunc) or held != plan.inputs or not dt.NATIVE.issuperset(held):
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
    found = _between_casts(name, kernel, held, plan, BY_STORAGE[answers], casts)
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


# --- What takes options ---------------------------------------------------------------------------

_MOVING = frozenset({"where", "concat", "stack"})
"""What answers in the dtype of its buffers, whatever that is."""

_BY_ITSELF = frozenset({"sum", "prod", "max", "min", "mean", *_MOVING})
"""What looks itself whether its operands are long."""

FEW = 1 << 15
"""Elements of what is reduced to one, or pairs where each of one operand meets each of another."""


@once
def _of_few(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: kernel(x, y) if x.size * y.size <= FEW else None


_SILENT = frozenset({"max", "min", "searchsorted", *_MOVING})
"""What NumPy has nothing to tell of."""

_WITH_OPTIONS = _BY_ITSELF | {
    *("cumulative_sum", "cumulative_prod", "diff", "std", "var", "searchsorted"),
    *("matmul", "vecdot", "tensordot", "outer"),
}


def _with_options(
    name: str, kernel: Callable[..., Any], held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> Callable[..., Any] | None:
    """A function along axes, or of all that it is given."""
    common = plan.compute or plan.inputs[0]
    if name in _MOVING:
        made: DType | None = common if {*plan.inputs} == {plan.inputs[0]} else None
    else:
        made = _answer_of(kernel, common, len(held))
    if made is None:
        return None
    if name == "outer":
        kernel = _of_few(kernel)
    if name not in _SILENT and common.kind in INEXACT and not isinstance(kernel, np.ufunc):
        kernel = _telling(kernel)
    dtypes = {*held, *plan.inputs, plan.result}
    alone = (name in _BY_ITSELF or isinstance(kernel, np.ufunc)) and dtypes == {common} == {made}
    found = kernel if alone else _between_casts(name, kernel, held, plan, made, casts)
    return found and _folding(name, held[0], plan, made, casts, found)


_FOLDS = {name: name for name in ("sum", "prod", "max", "min", "mean", "std", "var")}
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
    """A reduction to one number, which asks another kernel for all else."""
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
    ways = (held, computed), (answer, plan.result)
    found = [casts(a, b) if a is not b else (DEFAULT, ()) for a, b in ways]
    if found[0][1] or found[1][1]:
        return otherwise
    rows = kernels.dtype_args(held), kernels.dtype_args(computed), kernels.dtype_args(plan.result)
    modes = found[0][0], found[1][0]
    own = plan.result.storage, np.empty, loops.watched
    return kernels.FoldingKernel(fold, rows, modes, *own, otherwise, longest)


def _fold_of(name: str, held: DType, plan: Plan, made: DType) -> tuple[str, DType, DType, int]:
    """A fold, what it computes in, what it answers in, and how many elements it is right for."""
    common = plan.compute or plan.inputs[0]
    fold = _FOLDS[name]
    if held is plan.inputs[0] is common and common.kind in (Kind.BOOL, *INTEGERS):
        if name == "truncated_mean" and common.bits == 64:  # in which the sum is taken
            name = "exact_integer_mean"
        if name in _OF_INTEGERS:
            return name, dt.float32, made, FEW
        if fold in _MEANS:  # in which NumPy adds up
            return fold, dt.float64, dt.float64, FEW if _adds_exactly(common) else ADDED_AT_ONCE
    return fold, common, folds.answer_of(name, common), FEW


def _adds_exactly(dtype: DType) -> bool:
    """Whether NumPy adds integers up in float64, where no sum of so few is rounded."""
    return dtype is dt.bool or (dtype.kind in INTEGERS and dtype.bits <= 32)


@once
def _bounded(name: str, low: bool, high: bool) -> Callable[..., Any]:
    """The kernel of ``clip``, or what a policy has for it, with the bounds that there are."""
    return partial(KERNELS[name], low=low, high=high)


_telling = once(telling)
"""Of the kernels that there are, which are few."""


@once
def _answer_of(kernel: Callable[..., Any], common: DType, count: int) -> DType | None:
    """What a function makes of buffers of a dtype that NumPy knows."""
    if common not in dt.NATIVE:
        return None
    with np.errstate(all="ignore"):
        return BY_STORAGE[np.asarray(kernel(*(np.ones(1, common.storage),) * count)).dtype]


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
            name, ufunc = "clip", clips.CLIP
        else:
            name, ufunc = ("maximum", np.maximum) if low else ("minimum", np.minimum)
        return _of_ufunc(name, ufunc, held, plan, casts) if isinstance(ufunc, np.ufunc) else None
    if name in loops.CLIPS:
        name = name if both else f"{name}_low" if low else f"{name}_high"
        return _between_casts(name, None, held, plan, common, casts)
    kernel = _bounded(name, low, high)
    if name == "checked_clip":
        same = plan._replace(inputs=(common,) * 3, compute=common, result=common)
        loop = _between_casts("clip_beyond", None, same.inputs, same, common, casts)
        kernel = clips.checked_by(clips.CLIP if common.kind in INTEGERS else loop, kernel)
    return _with_options(name, kernel, held, plan, casts)


def _by_delta(held: tuple[DType, ...], plan: Plan, casts: loops.Casts) -> Callable[..., Any] | None:
    """Huber's error by a loop whose third operand is an option, or by programs that have it."""
    common = plan.compute or plan.inputs[0]
    with_delta = plan._replace(inputs=(*plan.inputs, common))
    kernel = _between_casts(losses.LOOP, None, (*held, common), with_delta, common, casts)
    if kernel:
        return losses.by_delta(kernel, common.storage)
    otherwise = _of_short("huber_loss", losses.huber, held, plan, common, casts)
    answers = blocks.answer_of(losses.huber, (common,) * len(held))
    if otherwise is None or answers is None:
        return otherwise

    def of_delta(delta: float) -> Callable[..., Any] | None:
        in_steps = partial(losses.in_steps, delta=delta)
        program = programs.written(in_steps, common.storage, len(held), answers)
        way = held, plan, BY_STORAGE[answers], casts
        return program and _between_casts("huber_loss", in_steps, *way, program=program)

    return losses.by_known_delta(of_delta, otherwise)


def _by_factors(
    kernel: Callable[..., Any] | None,
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Callable[..., Any] | None:
    """PyTorch's powers of complex numbers: by one exponent a function of the base, of most others
    NumPy's power."""
    otherwise = _of_short("multiplied_pow", kernel, held, plan, common, casts)
    power = _between_casts("pow", np.power, held, plan, common, casts)
    if held[1] is not common or otherwise is None or power is None:
        return otherwise
    of_base = held[:1], plan._replace(inputs=plan.inputs[:1])
    ways: dict[complex, Any] = {
        exponent: _between_casts(name, None, *of_base, common, casts)
        for exponent, name in complex_loops.FACTORS.items()
    }
    ways |= dict.fromkeys(complex_loops.IN_STEPS)

    def run(x: Buffer, y: Buffer) -> Any:
        if y.ndim:
            return otherwise(x, y)
        exponent = y.item()
        if exponent not in ways:
            return power(x, y)
        way = ways[exponent]
        return way(x) if way else otherwise(x, y)

    return run


def _plain_power(
    kernel: Callable[..., Any] | None,
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Callable[..., Any] | None:
    """Powers of which NumPy's own loops have no shortcut, and the others by steps."""
    otherwise = _of_short("plain_pow", kernel, held, plan, common, casts)
    power = _between_casts("pow", np.power, held, plan, common, casts)
    if otherwise is None or power is None:
        return otherwise
    if held[1].kind in INTEGERS or held[1] is dt.bool:  # no root among their powers
        return power
    return lambda x, y: (power if exponents.is_as_numpy(x, y) else otherwise)(x, y)


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


# --- Functions of each element --------------------------------------------------------------------


def _of_short(
    name: str,
    kernel: Callable[..., Any] | None,
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Callable[..., Any] | None:
    """A function of each element by itself between casts: of longer operands it goes in blocks."""
    takes = is_elementwise(name)
    made = blocks.answer_of(kernel, (common,) * len(held)) if takes else None
    if made is None or common not in dt.NATIVE or name in loops.ASKING:
        return None
    if kernel is not None and common.kind in INEXACT:
        kernel = _telling(kernel)
    return _between_casts(name, kernel, held, plan, BY_STORAGE[made], casts)


_OF_ONE_ARRAY = OF_ONE_CALL | {"real", "imag", "any", "all", "argmax", "argmin"}
"""Functions of one array that answer in a dtype of their own, not all of them ufuncs."""


def _of_one_array(
    name: str,
    kernel: Callable[..., Any],
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Callable[..., Any] | None:
    answers = _answer_of(kernel, common, 1)
    if answers is None:
        return None
    is_all = held[0] is plan.inputs[0] is common and answers is plan.result
    if is_all and name not in positions.FINDERS:  # which have another way with long arrays
        return kernel
    return _between_casts(name, kernel, held, plan, answers, casts)


def _between_casts(
    name: str,
    kernel: Any,
    held: tuple[DType, ...],
    plan: Plan,
    made: DType,
    casts: loops.Casts,
    first: tuple[int, str, Any, Any] | None = None,
    program: programs.Written | None = None,
) -> Callable[..., Any] | None:
    """A kernel between casts of ours; None if one has a second step, or there is no loop.

    ``first`` is what is done to an operand before, as ``CastingKernel`` takes it, ``program`` what
    the kernel is where nothing in its name says so.
    """
    common = plan.compute or plan.inputs[0]
    dtypes = (*held, *plan.inputs, common, made, plan.result)
    if dt.string in {*dtypes}:
        return None
    inputs = [_entered(*pair, casts) for pair in zip(held, plan.inputs, strict=True)]
    dtypes = (*held, *inputs, common, made, plan.result)
    sources, targets = (*held, *inputs, made), (*inputs, *(common,) * len(held), plan.result)
    modes = []
    for source, target in zip(sources, targets, strict=True):
        mode, transforms = casts(source, target) if source is not target else (DEFAULT, ())
        if transforms:
            return None
        modes.append(mode)
    names = loops.loop_names(name)
    wanted = len(held), False, made is not common
    of_parts = common.kind is not Kind.COMPLEX and any(d.kind is Kind.COMPLEX for d in held)
    row = kernels.dtype_args(common)
    has_loop = not of_parts and all(kernels.loop_of(each, row) == wanted for each in names)
    if kernel is None and not has_loop:
        return None
    any_loop = has_loop and first is None and name not in exponents.LOOPS
    return kernels.CastingKernel(
        (name if len(names) == 1 else names) if has_loop else kernel,
        (*map(kernels.dtype_args, dtypes),),
        (*modes,),
        common.storage,
        plan.result.storage,
        np.empty,
        np.empty_like,
        loops.watched,
        partial(_of_any_layout, names[-1], held, plan, casts) if any_loop else None,
        first,
        folds.LONG - 1 if name in folds.FOLDED else -1,
        None if has_loop else program or _program(name, common, len(held), made),
    )


@cache
def _program(name: str, common: DType, count: int, made: DType) -> programs.Written | None:
    """What computes each element, without a call of Python's."""
    if not is_elementwise(name) and not (common.kind is Kind.COMPLEX and formula_of_complex(name)):
        return None
    kernel = kernel_of(name, common)
    return kernel and programs.written(kernel, common.storage, count, made.storage)


def _entered(source: DType, target: DType, casts: loops.Casts) -> DType:
    """What an operand becomes first: a bool of the real part alone is that of the part."""
    if target is not dt.bool or source.kind is not Kind.COMPLEX:
        return target
    from promoarray.promotion.cast_transforms import real_part_counts

    return source.part if casts(source, target)[1] == (real_part_counts,) else target


def _of_any_layout(
    name: str, held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> tuple[Any, Any] | None:
    """What a ``CastingKernel`` asks when it meets a long operand, or one that is not in rows."""
    found = loops.loop_plan(name, held, plan, casts, ours=False)
    return found and found.arguments()


def _in_two_steps(
    held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> Callable[..., Any] | None:
    """What a decomposition is, one loop after the other; None where one of them is none."""
    assert plan.decomposition is not None
    before, at, name = plan.decomposition
    common = plan.compute or plan.inputs[0]
    if kernels.loop_of(before, kernels.dtype_args(common)) != (1, False, False):
        return None
    ways = (common, plan.result), (plan.result, common)
    found = [casts(a, b) if a is not b else (DEFAULT, ()) for a, b in ways]
    if any(transforms for _, transforms in found):
        return None
    (leave, _), (widen, _) = found
    first = at, before, leave, widen
    return _between_casts(name, None, held, plan, common, casts, first)


def _widens(source: DType, target: DType, casts: loops.Casts) -> bool:
    """Whether NumPy's own cast is the policy's."""
    if source is target:
        return True
    pair = source, target
    if pair == (dt.float32, dt.complex128) or source is dt.float16:  # NumPy keeps NaN's payload
        return False
    return widens(*pair) and not casts(*pair)[1]
