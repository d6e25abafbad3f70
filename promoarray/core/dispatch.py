"""The one dispatcher: operands -> plan -> executable -> array.

Nothing here knows a rule. The policy decides (``promotion``), the backend compiles and runs
(``executable``), and observers, if any, are told what happened (``observers``).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, common_backend, is_lazy
from promoarray.backends.numpy.told import at_the_program
from promoarray.core import observed, repeats
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import convert, explicit
from promoarray.core.executable import Executable, compiled, find, keep, keep_rebinding
from promoarray.core.observers import (
    OperationEvent,
    RefusalEvent,
    notify,
    notify_write,
    observers_anywhere,
    recovery_from,
)
from promoarray.core.operands import (
    array_class,
    as_operand,
    canonicalize,
    operand_of,
    operands_of,
    scalar_buffer,
)
from promoarray.core.refusals import promotion_error
from promoarray.core.shapes import misfit
from promoarray.dtypes import INTEGERS, WEAK, DType
from promoarray.errors import kind_of
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Decision, Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy


@in_default_float_state
def apply(name: str, *operands: Any, form: Form = Form.OPERATOR, **options: Any) -> Any:
    """Run an operation under the policy in force.

    Parameters
    ----------
    name : str
        A row of ``promoarray.operations``.
    *operands : PArray, NumPy array or scalar, Python scalar
    form : Form
        Whether it is written as an operator or called as a function.
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
    bounds = (options["low"], options["high"]) if "low" in options else ()
    kept_as = _kept_as(form)
    heard: repeats.Lookup | None = None
    if observers_anywhere:
        heard = repeats.look_up(_repeated_as(name, form), form, operands, options)
        if heard is not None and heard.known is not None:
            again = repeats.buffers_of(heard.known, operands)
            if again is not None:
                return _run_again(name, heard.known, heard.array_class, again, options)
        known = observed.ready(name, kept_as, operands, options, bounds)
        if known is not None:
            return _run_and_tell(name, form, operands, options, known, heard)
    found = None if observers_anywhere else find(name, kept_as, operands, options, bounds)
    if found is not None:
        executable, cls, buffers = found
        out = _run(executable, name, buffers, options)
        if executable.extra_results:
            return tuple(map(cls._wrap, out, (executable.result, *executable.extra_results)))
        return cls._wrap(out, executable.result)
    return _resolve(name, form, operands, options, bounds, heard)


def _resolve(
    name: str,
    form: Form,
    operands: tuple[Any, ...],
    options: dict[str, Any],
    bounds: tuple[Any, ...],
    heard: repeats.Lookup | None,
) -> Any:
    """Run an operation that was not met before, or is observed: decide, compile, run, tell."""
    entered = tuple(as_operand(x) for x in operands)
    if any(x is NotImplemented for x in entered):
        return NotImplemented
    cls = array_class(entered)
    policy = cls._policy or get_policy()
    if policy.canonical:
        entered = tuple(canonicalize(policy, *each) for each in zip(operands, entered, strict=True))
    seen = operands_of(entered, policy, partial(policy.plan, name, form=form), name, form)
    decided = policy.decide(name, seen, entered, form, options=options)
    if isinstance(decided, Refusal):
        refused = RefusalEvent(name, form, policy, entered, seen, decided, options)
        entered, seen, decided = _recovered(refused)
    plan, values = decided
    backend = common_backend(*map(_buffer, entered), *options.values())
    obeyed = comparing(plan, entered, values) or plan
    executable = compiled(backend, name, policy, obeyed, values, seen[0].type, bounds)
    if obeyed is plan and _all_held_by(backend, entered):
        kept = observed.keep if observers_anywhere else keep
        kept(name, _kept_as(form), policy, entered, seen, plan, executable, bounds)
    out = _run_first(executable, name, _buffers(policy, obeyed, values), options)
    outs = out if plan.extra_results else (out,)
    result, *more = map(cls._wrap, outs, (plan.result, *plan.extra_results))
    if observers_anywhere:
        extra = tuple(more)
        told = name, policy, entered, seen, plan, values, result, extra, options, form
        alike = obeyed is plan and _told_apart(heard, operands, entered, seen)
        _notify(OperationEvent(*told), executable, heard if alike else None)
    return (result, *more) if more else result


def _told_apart(
    heard: repeats.Lookup | None,
    given: tuple[Any, ...],
    entered: tuple[Any, ...],
    seen: tuple[Operand, ...],
) -> bool:
    """Whether what was decided holds for all that an observer does not tell apart: nothing was cast
    first, and where the policy looked at 0-d arrays, the observer does, which computes none."""
    return heard is not None and all(
        x is y
        and (
            o.value is None
            or o.rank is Rank.SCALAR
            or (heard.repeats.by_value and not is_lazy(backend_of(x._buffer)))
        )
        for x, y, o in zip(given, entered, seen, strict=True)
    )


def _all_held_by(backend: Any, entered: tuple[Any, ...]) -> bool:
    """Whether operands tell which back end an executable is for: where lazy arrays meet others,
    those others have executables of their own."""
    return all(type(x) in WEAK or backend_of(x._buffer) is backend for x in entered)


def _kept_as(form: Form) -> Form:
    """Under which form ``apply`` keeps what was decided.

    What it is asked in place binds a name to a new array, as an operator's result is. Kept as in
    place it would be found by ``apply_inplace``, and written into the target.
    """
    return Form.OPERATOR if form is Form.INPLACE else form


def _repeated_as(name: str, form: Form) -> str:
    """Under which name ``apply`` finds again what observers heard of.

    They are told the true form, since other policies may write in place; but ``apply_inplace`` must
    not find here what binds a name to a new array.
    """
    return f"{name}, rebinding" if form is Form.INPLACE else name


def _run_and_tell(
    name: str,
    form: Form,
    operands: tuple[Any, ...],
    options: dict[str, Any],
    call: observed.Ready,
    heard: repeats.Lookup | None,
) -> Any:
    """Run an operation that was met before, and tell observers."""
    known, policy, cls, values, buffers = call
    executable, plan, seen, _ = known
    out = _run(executable, name, buffers, options)
    outs = out if plan.extra_results else (out,)
    result, *more = map(cls._wrap, outs, (plan.result, *plan.extra_results))
    extra = tuple(more)
    _notify(
        OperationEvent(name, policy, operands, seen, plan, values, result, extra, options, form),
        executable,
        heard,
    )
    return (result, *more) if more else result


def _notify(event: OperationEvent, executable: Executable, heard: repeats.Lookup | None) -> None:
    """Tell observers, and keep what the one that is here does with operations that are alike."""
    quick = heard and heard.quick_key(event)  # before a target's type is changed
    repeat = notify(event, heard.repeats if heard else None)
    if heard is not None and repeat is not None:
        heard.keep(executable, repeat, quick)


def _run_again(
    name: str,
    known: repeats.Known,
    array_class: type[Array],
    buffers: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """Run an operation that the observer here has heard of, and count it."""
    executable, types, tell, tally, _ = known
    out = _run(executable, name, buffers, options)
    if executable.extra_results:
        result: Any = tuple(map(array_class._wrap, out, types))
    else:
        result = array_class._wrap(out, types[0])
    if tally is None or not tally.count():
        tell()
    return result


def _run(
    executable: Executable, name: str, buffers: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run an executable; shapes and axes that do not fit are told in words of our own."""
    try:
        return executable.run(*buffers, **options)
    except (ValueError, IndexError, TypeError) as error:
        raise misfit(name, [buffer.shape for buffer in buffers], options) or error from None


def _run_first(
    executable: Executable, name: str, buffers: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run an executable for the first time: by its kernel, as the fast path does from then on, so
    that nothing is made ready for long operands before there are some."""
    kernel = executable.kernel
    if kernel is None or options or any(executable.widen):
        return _run(executable, name, buffers, options)
    if all(buffer.size <= _SHORT for buffer in buffers):
        try:
            with at_the_program():
                out = kernel(*buffers)
        except (ValueError, IndexError, TypeError):
            out = None  # the other way has the words for it
        if out is not None:
            return np.asarray(out)
    return _run(executable, name, buffers, options)


_SHORT = 1 << 12


def _recovered(
    refused: RefusalEvent,
) -> tuple[tuple[Any, ...], tuple[Operand, ...], Decision]:
    """Raise the refusal, unless an observer casts operands so that the program can go on."""
    name, form, policy, _, _, _, options = refused
    mended, _ = _mended(refused)
    seen = tuple(operand_of(x, policy) for x in mended)
    decided = policy.decide(name, seen, mended, form, options=options)
    if isinstance(decided, Refusal):  # a scalar's value, as the dtypes pass now
        raise _error(refused._replace(seen=seen, refusal=decided))
    return mended, seen, decided


def _mended(refused: RefusalEvent) -> tuple[tuple[Any, ...], DType | None]:
    """The operands as an observer would have them cast, and what the result is cast to."""
    recovery = recovery_from(refused)
    if recovery is None:
        raise _error(refused)
    mended = list(refused.operands)
    for index, target in recovery.casts.items():
        x = mended[index]
        buffer = convert(refused.policy, x._buffer, storage_dtype(x), target)
        mended[index] = x._wrap(buffer, target)
    return tuple(mended), recovery.result


def _error(refused: RefusalEvent) -> Exception:
    name, form, policy, _, seen, refusal, _ = refused
    return refusal.error or promotion_error(policy, name, seen, refusal, form)


@in_default_float_state
def apply_inplace(name: str, target: Array, other: Any) -> Any:
    """Run ``target op= other``: into the target's memory, or to a new array where names rebind.

    Nothing is written unless all of it can be.
    """
    form = Form.INPLACE
    heard: repeats.Lookup | None = None
    found = None if observers_anywhere else find(name, form, (target, other), {})
    if found is not None:
        executable, cls, buffers = found
        if not executable.into:
            return cls._wrap(_run(executable, name, buffers, {}), executable.result)
        _run_into(executable, name, target, buffers)
        return target
    if observers_anywhere:
        heard = repeats.look_up(name, form, (target, other), {})
        if heard is not None and heard.known is not None:
            again = repeats.buffers_of(heard.known, (target, other))
            if again is not None:
                return _write_again(name, target, heard.known, again)
        known = observed.ready(name, form, (target, other), {}, ())
        if known is not None and known.policy.inplace is not None:
            return _write_and_tell(name, target, other, known, heard)
    entered = target, as_operand(other)
    if entered[1] is NotImplemented:
        return NotImplemented
    cls = array_class(entered)
    policy = cls._policy or get_policy()
    if policy.inplace is None:
        # The name is bound to a new array. Executables kept for this form write into the target;
        # observers are told how it is written, as other policies do.
        if observers_anywhere:
            return apply(name, target, other, form=form)
        made = apply(name, target, other)
        keep_rebinding(name, policy, entered)
        return made
    entered = target, canonicalize(policy, other, entered[1])
    seen = operands_of(entered, policy, partial(policy.plan, name, form=form), name, form)
    decided = policy.decide(name, seen, entered, form)
    if isinstance(decided, Refusal):
        return _write_recovered(RefusalEvent(name, form, policy, entered, seen, decided))
    plan, values = decided
    backend = common_backend(target._buffer, _buffer(entered[1]))
    _require_writeable(backend, name, target)
    executable = compiled(backend, name, policy, plan, values, seen[0].type)._replace(into=True)
    if _all_held_by(backend, entered):
        kept = observed.keep if observers_anywhere else keep
        kept(name, form, policy, entered, seen, plan, executable)
    buffers = _buffers(policy, plan, values)
    event = OperationEvent(name, policy, entered, seen, plan, values, target, form=form)
    if observers_anywhere:
        notify_write(event)
    _run_into(executable, name, target, buffers)
    if observers_anywhere:
        alike = _told_apart(heard, (target, other), entered, seen)
        _notify(event, executable, heard if alike else None)
    return target


def _write_and_tell(
    name: str,
    target: Array,
    other: Any,
    call: observed.Ready,
    heard: repeats.Lookup | None,
) -> Any:
    """Run an operation in place that was met before, and tell observers."""
    known, policy, _, values, buffers = call
    executable, plan, seen, _ = known
    form = Form.INPLACE
    event = OperationEvent(name, policy, (target, other), seen, plan, values, target, form=form)
    notify_write(event)
    _run_into(executable, name, target, buffers)
    _notify(event, executable, heard)
    return target


def _write_again(name: str, target: Array, known: repeats.Known, buffers: tuple[Any, ...]) -> Any:
    """Run an operation in place that the observer here has heard of, and count it."""
    _run_into(known.executable, name, target, buffers)
    target._type = known.types[0]
    if known.tally is None or not known.tally.count():
        known.tell()
    return target


def _write_recovered(refused: RefusalEvent) -> Any:
    """Raise the refusal, unless an observer has operands cast, and the result to the target's."""
    target = refused.operands[0]
    mended, dtype = _mended(refused)
    if dtype is None:
        raise _error(refused)
    result = apply(refused.name, *mended)
    out = explicit(refused.policy, result._buffer, storage_dtype(result), dtype)
    _write(backend_of(target._buffer), refused.name, target, out)
    return target


def _require_writeable(backend: Any, name: str, target: Array) -> None:
    if not backend.writeable(target._buffer):
        symbol = OPERATIONS[name].symbol
        raise ValueError(f"{name} in place: the target is read-only; write x = x {symbol} y")


def _run_into(executable: Executable, name: str, target: Array, buffers: tuple[Any, ...]) -> None:
    """Run an executable, and write its result over the first operand: as it goes, if it can."""
    into = getattr(executable.run, "into", None)
    if into is None or not into(buffers):
        out = _run(executable, name, buffers, {})
        _write(backend_of(target._buffer), name, target, out)


def _write(backend: Any, name: str, target: Array, out: Any) -> None:
    """Write the result of an operation in place over its target."""
    _require_writeable(backend, name, target)
    buffer = target._buffer
    if out.shape != buffer.shape:
        raise ValueError(
            f"{name} in place: the result has shape {out.shape}, the target {buffer.shape}"
        )
    backend.write(buffer, ..., out)


def call(name: str, *operands: Any, **options: Any) -> Any:
    """Run an operation as a function: what ``apply`` leaves to others is an error here.

    Raises
    ------
    TypeError
        If an operand is neither an array nor a Python scalar.
    """
    result = apply(name, *operands, form=Form.FUNCTION, **options)
    if result is NotImplemented:
        raise _no_operand(name, next(x for x in operands if as_operand(x) is NotImplemented))
    return result


def _no_operand(name: str, x: Any) -> TypeError:
    return TypeError(
        f"{name} takes arrays and Python scalars, not {kind_of(x)}; "
        "write pa.asarray(...) around it first"
    )


def _buffer(x: Any) -> Any:
    """What a backend is found by: an array's buffer, a Python scalar's none."""
    return None if type(x) in WEAK else x._buffer


def _buffers(policy: Policy, plan: Plan, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands as an executable takes them: a Python scalar that fits is a 0-d buffer."""
    return tuple(
        scalar_buffer(policy, x, dtype) if type(x) in WEAK else x._buffer
        for x, dtype in zip(values, plan.inputs, strict=True)
    )


def comparing(plan: Plan, entered: tuple[Any, ...], values: tuple[Any, ...]) -> Plan | None:
    """The plan of a comparison with an int that no value of the dtype reaches: an infinity, which
    takes floats to compare with."""
    beyond = (
        type(given) is int and type(value) is float and dtype.kind in INTEGERS
        for given, value, dtype in zip(entered, values, plan.inputs, strict=True)
    )
    wide = (dt.float64,) * len(values)
    return Plan(wide, dt.float64, plan.result) if any(beyond) else None
