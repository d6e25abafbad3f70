"""The one dispatcher: operands -> plan -> casts -> kernel -> label.

Nothing here knows a rule. The policy decides (``promotion``), the backend obeys (``backends``), and
observers, if any, are told what happened (``observers``).
"""

from __future__ import annotations

from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of, common_backend
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import convert, scalar
from promoarray.core.fast_path import cache_executable
from promoarray.core.fused import cache_launch, fused, run_cached
from promoarray.core.observers import (
    OperationEvent,
    notify,
    observers_anywhere,
    observers_here,
)
from promoarray.core.operands import array_class, as_operand, canonicalize, operand_of
from promoarray.core.refusals import promotion_error
from promoarray.core.shapes import misfit
from promoarray.dtypes import WEAK, DType
from promoarray.operations import OPERATIONS
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import INTEGERS, Decision, Decomposition, Operand, Plan, Refusal
from promoarray.promotion.policy import Policy


def apply(name: str, *operands: Any, **options: Any) -> Any:
    """Run an operation under the policy in force.

    Parameters
    ----------
    name : str
        A row of ``promoarray.operations``.
    *operands : Array, NumPy array or scalar, Python scalar
    **options
        What the kernel takes besides, such as ``axis``.

    Returns
    -------
    PArray, or a tuple of them from an operation with several results; NotImplemented where an
    operand is something else.

    Raises
    ------
    PromotionError
        If the policy has no result for these operands.
    OverflowError
        If a Python int does not fit the dtype it becomes.
    """
    if not options and not observers_anywhere:
        done = run_cached(name, operands)
        if done is not None:
            return done
    entered = tuple(as_operand(x) for x in operands)
    if any(x is NotImplemented for x in entered):
        return NotImplemented
    cls = array_class(entered)
    policy = cls._policy or get_policy()
    if policy.canonical:
        entered = tuple(canonicalize(policy, *each) for each in zip(operands, entered, strict=True))
    seen = tuple(operand_of(x, policy) for x in entered)
    decided = policy.decide(name, seen, entered, options=options)
    if isinstance(decided, Refusal):
        entered, seen, decided = _mended(name, policy, entered, seen, decided, options)
    plan, values = decided.plan, decided.values
    backend = common_backend(*map(_buffer, entered), *options.values())
    outs = _outs(backend, name, policy, plan, entered, values, options)
    result, *more = map(cls._wrap, outs, (plan.result, *plan.extra_results))
    if observers_anywhere:
        notify(
            OperationEvent(name, policy, entered, seen, plan, values, result, tuple(more), options)
        )
    cache_executable(name, policy, seen, plan)
    if not options and not observers_anywhere:
        cache_launch(name, policy, entered, plan)
    return (result, *more) if more else result


def _mended(
    name: str,
    policy: Policy,
    entered: tuple[Any, ...],
    seen: tuple[Operand, ...],
    refusal: Refusal,
    options: dict[str, Any],
) -> tuple[tuple[Any, ...], tuple[Operand, ...], Decision]:
    """Raise the refusal, unless a watcher casts operands so that the program can go on."""
    if refusal.error is not None:
        raise refusal.error
    answers = (watcher.on_refusal(name, policy, seen, refusal) for watcher in observers_here())
    for casts in filter(None, answers):
        mended = list(entered)
        for index, target in casts.items():
            x = entered[index]
            mended[index] = x._wrap(convert(policy, x._buffer, storage_dtype(x), target), target)
        again_seen = tuple(operand_of(x, policy) for x in mended)
        decided = policy.decide(name, again_seen, tuple(mended), options=options)
        if isinstance(decided, Refusal):  # a scalar's value, as the dtypes pass now
            raise decided.error or promotion_error(policy, name, again_seen, decided)
        return tuple(mended), again_seen, decided
    raise promotion_error(policy, name, seen, refusal)


def apply_inplace(name: str, target: Array, other: Any) -> Any:
    """Run ``target op= other``: into the target's memory, or to a new array where names rebind.

    Nothing is written unless all of it can be.
    """
    entered = target, as_operand(other)
    if entered[1] is NotImplemented:
        return NotImplemented
    cls = array_class(entered)
    policy = cls._policy or get_policy()
    if policy.inplace is None:
        return apply(name, target, other)
    entered = target, canonicalize(policy, other, entered[1])
    seen = tuple(operand_of(x, policy) for x in entered)
    decided = policy.decide(name, seen, entered, inplace=True)
    if isinstance(decided, Refusal):
        raise decided.error or promotion_error(policy, name, seen, decided, inplace=True)
    buffer = target._buffer
    backend = common_backend(buffer, _buffer(entered[1]))
    if not backend.writeable(buffer):
        raise ValueError(
            f"{name} in place: the target is read-only; write x = x {OPERATIONS[name].symbol} y"
        )
    plan, values = decided.plan, decided.values
    (out,) = _outs(backend, name, policy, plan, entered, values, {})
    if out.shape != buffer.shape:
        raise ValueError(
            f"{name} in place: the result has shape {out.shape}, the target {buffer.shape}"
        )
    backend.write(buffer, ..., out)
    if observers_anywhere:
        notify(OperationEvent(name, policy, entered, seen, plan, values, target))
    return target


def call(name: str, *operands: Any, **options: Any) -> Any:
    """Run an operation as a function: what ``apply`` leaves to others is an error here.

    Raises
    ------
    TypeError
        If an operand is neither an array nor a Python scalar.
    """
    result = apply(name, *operands, **options)
    if result is NotImplemented:
        x = next(x for x in operands if as_operand(x) is NotImplemented)
        raise TypeError(
            f"{name} takes arrays and Python scalars, not {type(x).__name__}; "
            "write pa.asarray(...) around it first"
        )
    return result


def run(
    name: str, plan: Plan, policy: Policy, buffers: tuple[Any, ...], **options: Any
) -> tuple[Any, ...]:
    """Obey a plan: the kernel in ``plan.compute``, each result in the storage of its label."""
    if plan.decomposition is not None:
        name, buffers = plan.decomposition.then, _first(plan.decomposition, plan, policy, buffers)
    backend = backend_of(buffers[0])
    computed = plan.compute or plan.inputs[0]
    try:
        found = backend.call(policy.kernel(name, plan), buffers, computed, **options)
    except (ValueError, IndexError, TypeError) as error:
        raise misfit(name, [buffer.shape for buffer in buffers], options) or error from None
    labels = (plan.result, *plan.extra_results)
    return tuple(
        convert(policy, out, dtype, policy.strong(label))
        for (out, dtype), label in zip(found, labels, strict=True)
    )


def _first(
    detour: Decomposition, plan: Plan, policy: Policy, buffers: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Carry out the first part of a detour; its result is rounded as the operation's own is."""
    computed, label = plan.compute or plan.inputs[0], policy.strong(plan.result)
    own = Plan((computed,), computed, label)
    (out,) = run(detour.first, own, policy, (buffers[detour.operand],))
    given = list(buffers)
    given[detour.operand] = convert(policy, out, label, computed)
    return tuple(given)


def _buffer(x: Any) -> Any:
    """What a backend is found by: an array's buffer, a Python scalar's none."""
    return None if type(x) in WEAK else x._buffer


def _outs(
    backend: Any,
    name: str,
    policy: Policy,
    plan: Plan,
    entered: tuple[Any, ...],
    values: tuple[Any, ...],
    options: dict[str, Any],
) -> tuple[Any, ...]:
    """Carry out a plan: in one kernel if the backend has it, else cast by cast."""
    if any(_beyond(*each) for each in zip(entered, values, plan.inputs, strict=True)):
        plan = Plan((dt.float64,) * len(values), dt.float64, plan.result)
    outs = fused(backend, name, policy, plan, values, options)
    if outs is None:
        outs = run(name, plan, policy, _buffers(backend, policy, plan, values), **options)
    return outs


def _buffers(backend: Any, policy: Policy, plan: Plan, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Cast every operand to what the plan says, then to what the kernel computes in."""
    device = next((x.device for x in values if type(x) not in WEAK), None)
    buffers = []
    for x, dtype in zip(values, plan.inputs, strict=True):
        if type(x) in WEAK:
            buffer = backend.from_numpy(scalar(policy, x, dtype), dtype, device)
        else:
            buffer = convert(policy, x._buffer, storage_dtype(x), dtype)
        buffers.append(convert(policy, buffer, dtype, plan.compute or dtype))
    return tuple(buffers)


def _beyond(given: Any, value: Any, dtype: DType) -> bool:
    """Whether an int compares as an infinity, which takes a float to compare with."""
    return type(given) is int and type(value) is float and dtype.kind in INTEGERS
