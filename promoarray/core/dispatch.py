"""The one dispatcher: operands -> plan -> executable -> array.

Nothing here knows a rule. The policy decides (``promotion``), the backend compiles and runs
(``executable``), and observers, if any, are told what happened (``observers``).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of, common_backend, is_lazy
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.asarray import unbound
from promoarray.core.cast import convert, explicit
from promoarray.core.executable import Call, Executable, compiled, entering, find, keep
from promoarray.core.observers import notify, observers_anywhere, tell, unobserved
from promoarray.core.operands import (
    admitted,
    array_class,
    as_operand,
    canonicalize,
    entries,
    foreign_error,
    operand_of,
    operands_of,
)
from promoarray.dtypes import NATIVE, WEAK, DType
from promoarray.errors import kind_of
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.foreign import Entry
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.in_force import policy as policy_of
from promoarray.promotion.plan import Decision, Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

if TYPE_CHECKING:
    from promoarray.core import observer_cache
    from promoarray.core.events import OperationEvent, RefusalEvent


@in_default_float_state
def apply(name: str, *operands: Any, form: Form = Form.OPERATOR, **options: Any) -> Any:
    """Run an operation, a row of ``promoarray.operations``, under the policy in force.

    In place it writes into the first operand, unless the policy binds the name to a new array;
    nothing is written unless all of it can be. ``options`` is what the kernel takes besides, such
    as ``axis``. Of an operation with several results it is a tuple of them; NotImplemented where an
    operand is neither an array nor a Python scalar.

    Raises PromotionError if the policy has no result for these operands; OverflowError if a Python
    int does not fit the dtype it becomes.
    """
    heard: observer_cache.Lookup | None = None
    if observers_anywhere:
        from promoarray.core.observer_cache import look_up  # which nothing else needs

        heard = look_up(name, form, operands, options)
        if heard is not None and heard.known is not None:
            executable, repeat = heard.known
            found = entering(executable, operands)
            if found is not None and found[0] is executable:
                call = Call(executable, heard.array_class, found[1])
                result = _run_again(name, call, repeat.types, operands, options)
                repeat.tell()
                return result
    elif (kept := find(name, form, operands, options)) is not None:
        return _run_again(name, kept, kept.types, operands, options)
    entered = tuple([as_operand(x) for x in operands])
    if any(x is NotImplemented for x in entered):
        return NotImplemented
    cls = array_class(entered)
    policy = cls._policy or get_policy()
    if policy.canonical or not policy.weak_subclasses:
        entered = tuple(canonicalize(policy, *each) for each in zip(operands, entered, strict=True))
    if policy.foreign is not None:
        ways = entries(policy, name, form, operands, entered)
        if Entry.NUMPY in ways:
            return _by_numpy(name, form, operands, entered, ways)
        entered = tuple(map(partial(admitted, policy, name, form, entered), entered, ways))
        if not observers_anywhere and (kept := find(name, form, entered, options)) is not None:
            return _run_again(name, kept, kept.types, entered, options)
    seen = operands_of(entered, policy, partial(policy.plan, name, form=form), name, form)
    decided = policy.decide(name, seen, entered, form, options=options)
    writes = form is Form.INPLACE and policy.inplace is not None
    if isinstance(decided, Refusal):
        from promoarray.core.events import RefusalEvent

        foreign = of_others(operands)
        refused = RefusalEvent(name, form, policy, entered, seen, decided, options, foreign)
        if writes:
            return _write_recovered(refused)
        entered, seen, decided = _recovered(refused)
    plan, values = decided
    backend = common_backend(*map(buffer_of, entered), *options.values())
    bounds = (options["low"], options["high"]) if "low" in options else ()
    usual = compiled(backend, name, policy, plan, values, seen[0].type, bounds)
    usual = usual._replace(into=True) if writes else usual
    if not observers_anywhere:
        keep(name, form, policy, entered, seen, usual, options)
    ready = entering(usual, entered)
    assert ready is not None, (name, values)  # as all of them fit
    executable, buffers = ready
    told = name, policy, entered, seen, plan, values
    if writes:
        return _written(told, executable, buffers, operands, heard)
    out = run(executable, name, buffers, options)
    outs = out if plan.extra_results else (out,)
    result, *more = map(cls._wrap, outs, (plan.result, *plan.extra_results))
    if observers_anywhere:
        from promoarray.core.events import OperationEvent

        alike = executable is usual and is_told_apart(heard, operands, entered, seen)
        foreign = of_others(operands)
        event = OperationEvent(*told, result, tuple(more), options, form, foreign)
        tell_observers(event, executable, heard if alike else None)
    return (result, *more) if more else result


def of_others(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands that are neither arrays of ours nor Python's own numbers, None for each of
    those; empty where there are no others."""
    foreign = tuple([None if type(x) in WEAK or isinstance(x, Array) else x for x in given])
    return foreign if any(x is not None for x in foreign) else ()


def _by_numpy(
    name: str,
    form: Form,
    operands: tuple[Any, ...],
    entered: tuple[Any, ...],
    ways: tuple[Entry | None, ...],
) -> Any:
    """Compute as NumPy does, to which a framework hands an operation over: ``tensor + np_array``.

    In place, too, the name is bound to what NumPy made, as a tensor: of bools PyTorch makes uint8.
    It divides by a tensor by multiplying by its reciprocal, which is its own.
    """
    cls = array_class(entered)
    policy = cls._policy or get_policy()
    numpys, done, given = as_policy("numpy"), name, operands
    with unobserved():
        if name == "divide" and ways[0] is Entry.NUMPY:
            done, given = "multiply", (operands[0], apply("reciprocal", entered[1]))
        with policy_of(numpys):
            made = apply(done, *map(unbound, given))
    dtype = storage_dtype(made)
    if dtype not in NATIVE:
        raise foreign_error(policy, name, form, entered[ways.index(Entry.NUMPY)])
    if dtype is dt.bool:
        made = made.astype(dt.uint8)
    result = cls._wrap(made._buffer, made._type)
    if observers_anywhere:
        from promoarray.core.events import OperationEvent

        plan = numpys.plan(done, tuple(operand_of(as_operand(x), numpys) for x in given))
        assert isinstance(plan, Plan)
        told = name, policy, entered, tuple(operand_of(x, policy) for x in entered)
        plan = plan._replace(result=storage_dtype(result))
        event = OperationEvent(*told, plan, entered, result, form=form, given=of_others(operands))
        notify(event)
    return result


Told = tuple[str, Policy, tuple[Any, ...], tuple[Operand, ...], Plan, tuple[Any, ...]]
"""What an ``OperationEvent`` begins with."""


def _written(
    told: Told,
    executable: Executable,
    buffers: tuple[Any, ...],
    given: tuple[Any, ...],
    heard: observer_cache.Lookup | None,
) -> Any:
    """Run an operation into its first operand; observers are told before and after."""
    name, _, entered, seen, *_ = told
    target = given[0]
    _require_writeable(backend_of(target._buffer), name, target)
    if not observers_anywhere:
        _run_into(executable, name, target, buffers)
        return target
    from promoarray.core.events import OperationEvent

    event = OperationEvent(*told, target, form=Form.INPLACE, given=of_others(given))
    tell(lambda observer: observer.on_write(event))
    _run_into(executable, name, target, buffers)
    alike = is_told_apart(heard, given, entered, seen)
    tell_observers(event, executable, heard if alike else None)
    return target


def is_told_apart(
    heard: observer_cache.Lookup | None,
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


def tell_observers(
    event: OperationEvent, executable: Executable, heard: observer_cache.Lookup | None
) -> None:
    """Tell observers, and keep what the one that is here does with operations that are alike."""
    repeat = notify(event, heard.repeats if heard else None)
    if heard is not None and repeat is not None:
        heard.keep(executable, repeat)


def _run_again(
    name: str,
    call: Call,
    types: tuple[Any, ...],
    operands: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """Run an operation that was compiled before; its results bear ``types``."""
    executable, cls, buffers = call
    if executable.into:
        _require_writeable(backend_of(buffers[0]), name, operands[0])
        _run_into(executable, name, operands[0], buffers)
        operands[0]._type = types[0]
        return operands[0]
    out = run(executable, name, buffers, options)
    return (
        tuple(map(cls._wrap, out, types)) if executable.extra_results else cls._wrap(out, types[0])
    )


def run(
    executable: Executable, name: str, buffers: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run an executable; shapes and axes that do not fit are told in words of our own."""
    try:
        return executable.run(*buffers, **options)
    except (ValueError, IndexError, TypeError) as error:
        from promoarray.core.shape_errors import misfit

        raise misfit(name, [buffer.shape for buffer in buffers], options) or error from None


def _recovered(refused: RefusalEvent) -> tuple[tuple[Any, ...], tuple[Operand, ...], Decision]:
    """Raise the refusal, unless an observer casts operands so that the program can go on."""
    name, form, policy, *_ = refused
    mended, _ = mend(refused)
    seen = tuple(operand_of(x, policy) for x in mended)
    decided = policy.decide(name, seen, mended, form, options=refused.options)
    if isinstance(decided, Refusal):  # a scalar's value, as the dtypes pass now
        raise refusal_error(refused._replace(seen=seen, refusal=decided))
    return mended, seen, decided


def mend(refused: RefusalEvent) -> tuple[tuple[Any, ...], DType | None]:
    """The operands as an observer would have them cast, and what the result is cast to."""
    recovery = next(filter(None, tell(lambda observer: observer.on_refusal(refused))), None)
    if recovery is None:
        raise refusal_error(refused)
    mended = list(refused.operands)
    for index, target in recovery.casts.items():
        x = mended[index]
        buffer = convert(refused.policy, x._buffer, storage_dtype(x), target)
        mended[index] = x._wrap(buffer, target)
    return tuple(mended), recovery.result


def _write_recovered(refused: RefusalEvent) -> Any:
    """Raise the refusal, unless an observer has operands cast, and the result to the target's."""
    target = refused.operands[0]
    mended, dtype = mend(refused)
    if dtype is None:
        raise refusal_error(refused)
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
        out = run(executable, name, buffers, {})
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


def refusal_error(refused: RefusalEvent) -> Exception:
    from promoarray.core.refusals import promotion_error

    name, form, policy, _, seen, refusal, *_ = refused
    if form is Form.INPLACE and policy.inplace is None:
        form = Form.OPERATOR  # the name is bound to a new array
    return refusal.error or promotion_error(policy, name, seen, refusal, form)


def call(name: str, *operands: Any, **options: Any) -> Any:
    """Run an operation as a function: what ``apply`` leaves to others is an error here.

    Raises TypeError if an operand is neither an array nor a Python scalar.
    """
    result = apply(name, *operands, form=Form.FUNCTION, **options)
    if result is NotImplemented:
        kind = kind_of(next(x for x in operands if as_operand(x) is NotImplemented))
        raise TypeError(
            f"{name} takes arrays and Python scalars, not {kind}; "
            "write pa.asarray(...) around it first"
        )
    return result


def buffer_of(x: Any) -> Any:
    """What a backend is found by: an array's buffer, a Python scalar's none."""
    return None if type(x) in WEAK else x._buffer
