"""The one dispatcher: operands -> plan -> executable -> array.

Nothing here knows a rule. The policy decides (``promotion``), the backend compiles and runs
(``executable``), and observers, if any, are told what happened (``observers``).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of, common_backend, is_lazy
from promoarray.backends import find as backend_for
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import convert
from promoarray.core.executable import Executable, compiled, find, is_beyond, keep, keep_beyond
from promoarray.core.executable_cache import Signature, bounded, signature_of
from promoarray.core.observers import notify, observers_anywhere, recovery_from
from promoarray.core.operands import (
    array_class,
    as_operand,
    canonicalize,
    operand_of,
    operands_of,
    scalar_buffers,
)
from promoarray.dtypes import WEAK, DType
from promoarray.errors import kind_of
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Decision, Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from promoarray.core import observer_cache
    from promoarray.core.events import OperationEvent, RefusalEvent


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
    heard: observer_cache.Lookup | None = None
    if observers_anywhere:
        from promoarray.core.observer_cache import buffers_of, look_up  # which nothing else needs

        heard = look_up(_repeated_as(name, form), form, operands, options)
        if heard is not None and heard.known is not None:
            again = buffers_of(heard.known, operands)
            if again is not None:
                return _run_again(name, heard.known, heard.array_class, again, options)
        return _resolve(name, form, kept_as, operands, options, bounds, heard)
    written = bounded(name + kept_as, bounds) if bounds else name + kept_as
    signature = signature_of(written, operands, options)
    found = signature and find(signature, operands)
    if found is not None:
        executable, cls, buffers = found
        out = run(executable, name, buffers, options)
        if executable.extra_results:
            return tuple(map(cls._wrap, out, (executable.result, *executable.extra_results)))
        return cls._wrap(out, executable.result)
    return _resolve(name, form, kept_as, operands, options, bounds, signature=signature)


def _resolve(
    name: str,
    form: Form,
    kept_as: Form,
    operands: tuple[Any, ...],
    options: dict[str, Any],
    bounds: tuple[Any, ...],
    heard: observer_cache.Lookup | None = None,
    signature: Signature | None = None,
) -> Any:
    """Run an operation that was not met before, or is observed: decide, compile, run, tell."""
    entered = operands
    if signature is None:
        entered = tuple([as_operand(x) for x in operands])
        if any(x is NotImplemented for x in entered):
            return NotImplemented
    cls = array_class(entered) if signature is None else signature.array_class
    policy = cls._policy or get_policy()
    if policy.canonical:
        entered = tuple(canonicalize(policy, *each) for each in zip(operands, entered, strict=True))
    seen = operands_of(entered, policy, partial(policy.plan, name, form=form), name, form)
    decided = policy.decide(name, seen, entered, form, options=options)
    if isinstance(decided, Refusal):
        from promoarray.core.events import RefusalEvent

        refused = RefusalEvent(name, form, policy, entered, seen, decided, options)
        entered, seen, decided = _recovered(refused)
        signature = None  # of what was given, and they are others now
    plan, values = decided
    if signature is not None:
        backend = backend_for(signature.held)
    else:
        backend = common_backend(*map(buffer_of, entered), *options.values())
    obeyed = plan
    if values is not entered:  # there are Python scalars
        obeyed = comparing(plan, entered, values) or plan
    executable = compiled(backend, name, policy, obeyed, values, seen[0].type, bounds)
    if not observers_anywhere:
        usual = executable
        if obeyed is not plan:
            usual = compiled(backend, name, policy, plan, values, seen[0].type, bounds)
            keep_beyond(usual, executable)
        if signature is None:
            signature = signature_of(bounded(name + kept_as, bounds), entered, options)
        if signature is not None:
            keep(signature, name, kept_as, policy, entered, seen, usual)
    if values is entered:
        buffers = tuple([x._buffer for x in values])
    else:
        buffers = buffers_for(policy, obeyed, values)
    out = run(executable, name, buffers, options)
    outs = out if plan.extra_results else (out,)
    result, *more = map(cls._wrap, outs, (plan.result, *plan.extra_results))
    if observers_anywhere:
        from promoarray.core.events import OperationEvent

        extra = tuple(more)
        told = name, policy, entered, seen, plan, values, result, extra, options, form
        alike = obeyed is plan and is_told_apart(heard, operands, entered, seen)
        tell_observers(OperationEvent(*told), executable, heard if alike else None)
    return (result, *more) if more else result


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


def tell_observers(
    event: OperationEvent, executable: Executable, heard: observer_cache.Lookup | None
) -> None:
    """Tell observers, and keep what the one that is here does with operations that are alike."""
    repeat = notify(event, heard.repeats if heard else None)
    if heard is not None and repeat is not None:
        heard.keep(executable, repeat)


def _run_again(
    name: str,
    known: observer_cache.Known,
    array_class: type[Array],
    buffers: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """Run an operation that the observer here has heard of, and count it."""
    executable, types, tell, _ = known
    out = run(executable, name, buffers, options)
    if executable.extra_results:
        result: Any = tuple(map(array_class._wrap, out, types))
    else:
        result = array_class._wrap(out, types[0])
    tell()
    return result


def run(
    executable: Executable, name: str, buffers: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """Run an executable; shapes and axes that do not fit are told in words of our own."""
    try:
        return executable.run(*buffers, **options)
    except (ValueError, IndexError, TypeError) as error:
        from promoarray.core.shape_errors import misfit

        raise misfit(name, [buffer.shape for buffer in buffers], options) or error from None


def _recovered(
    refused: RefusalEvent,
) -> tuple[tuple[Any, ...], tuple[Operand, ...], Decision]:
    """Raise the refusal, unless an observer casts operands so that the program can go on."""
    name, form, policy, _, _, _, options = refused
    mended, _ = mend(refused)
    seen = tuple(operand_of(x, policy) for x in mended)
    decided = policy.decide(name, seen, mended, form, options=options)
    if isinstance(decided, Refusal):  # a scalar's value, as the dtypes pass now
        raise refusal_error(refused._replace(seen=seen, refusal=decided))
    return mended, seen, decided


def mend(refused: RefusalEvent) -> tuple[tuple[Any, ...], DType | None]:
    """The operands as an observer would have them cast, and what the result is cast to."""
    recovery = recovery_from(refused)
    if recovery is None:
        raise refusal_error(refused)
    mended = list(refused.operands)
    for index, target in recovery.casts.items():
        x = mended[index]
        buffer = convert(refused.policy, x._buffer, storage_dtype(x), target)
        mended[index] = x._wrap(buffer, target)
    return tuple(mended), recovery.result


def refusal_error(refused: RefusalEvent) -> Exception:
    from promoarray.core.refusals import promotion_error

    name, form, policy, _, seen, refusal, _ = refused
    return refusal.error or promotion_error(policy, name, seen, refusal, form)


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


def buffer_of(x: Any) -> Any:
    """What a backend is found by: an array's buffer, a Python scalar's none."""
    return None if type(x) in WEAK else x._buffer


def buffers_for(policy: Policy, plan: Plan, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands as an executable takes them: a Python scalar that fits is a 0-d buffer."""
    held = scalar_buffers(policy)
    return tuple(
        [
            held(x, dtype) if type(x) in WEAK else x._buffer
            for x, dtype in zip(values, plan.inputs, strict=True)
        ]
    )


def comparing(plan: Plan, entered: tuple[Any, ...], values: tuple[Any, ...]) -> Plan | None:
    """The plan of a comparison with an int that no value of the dtype reaches: an infinity, which
    takes floats to compare with."""
    if int not in map(type, entered) or float not in map(type, values):
        return None
    for given, value, dtype in zip(entered, values, plan.inputs, strict=True):
        if is_beyond(given, value, dtype):
            return Plan((dt.float64,) * len(values), dt.float64, plan.result)
    return None
