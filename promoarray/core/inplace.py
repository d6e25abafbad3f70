"""``x op= y``: into the target's memory, or to a new array where names rebind.

Nothing is written unless all of it can be.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from promoarray.backends import backend_of, common_backend
from promoarray.backends import find as backend_for
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import explicit
from promoarray.core.dispatch import (
    apply,
    buffer_of,
    buffers_for,
    is_told_apart,
    mend,
    refusal_error,
    run,
    tell_observers,
)
from promoarray.core.executable import Executable, compiled, find, keep, keep_rebinding
from promoarray.core.executable_cache import signature_of
from promoarray.core.observers import notify_write, observers_anywhere
from promoarray.core.operands import array_class, as_operand, canonicalize, operands_of
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Refusal

if TYPE_CHECKING:
    from promoarray.core import observer_cache
    from promoarray.core.events import RefusalEvent


@in_default_float_state
def apply_inplace(name: str, target: Array, other: Any) -> Any:
    """Run ``target op= other``: into the target's memory, or to a new array where names rebind.

    Nothing is written unless all of it can be.
    """
    form = Form.INPLACE
    heard: observer_cache.Lookup | None = None
    signature = None if observers_anywhere else signature_of(name + form, (target, other))
    found = signature and find(signature, (target, other))
    if found is not None:
        executable, cls, buffers = found
        if not executable.into:
            return cls._wrap(run(executable, name, buffers, {}), executable.result)
        _run_into(executable, name, target, buffers)
        return target
    if observers_anywhere:
        from promoarray.core.observer_cache import buffers_of, look_up  # which nothing else needs

        heard = look_up(name, form, (target, other), {})
        if heard is not None and heard.known is not None:
            again = buffers_of(heard.known, (target, other))
            if again is not None:
                return _write_again(name, target, heard.known, again)
    entered = target, other if signature is not None else as_operand(other)
    if entered[1] is NotImplemented:
        return NotImplemented
    cls = array_class(entered) if signature is None else signature.array_class
    policy = cls._policy or get_policy()
    if policy.inplace is None:
        # The name is bound to a new array. Executables kept for this form write into the target;
        # observers are told how it is written, as other policies do.
        if observers_anywhere:
            return apply(name, target, other, form=form)
        made = apply(name, target, other)
        keep_rebinding(name, policy, entered)
        return made
    if policy.canonical:
        entered = target, canonicalize(policy, other, entered[1])
    seen = operands_of(entered, policy, partial(policy.plan, name, form=form), name, form)
    decided = policy.decide(name, seen, entered, form)
    if isinstance(decided, Refusal):
        from promoarray.core.events import RefusalEvent

        return _write_recovered(RefusalEvent(name, form, policy, entered, seen, decided))
    plan, values = decided
    if signature is not None:
        backend = backend_for(signature.held)
    else:
        backend = common_backend(target._buffer, buffer_of(entered[1]))
    _require_writeable(backend, name, target)
    executable = compiled(backend, name, policy, plan, values, seen[0].type)._replace(into=True)
    if not observers_anywhere:
        signature = signature or signature_of(name + form, entered)
        if signature is not None:
            keep(signature, name, form, policy, entered, seen, executable)
    buffers = buffers_for(policy, plan, values)
    if not observers_anywhere:
        _run_into(executable, name, target, buffers)
    else:
        from promoarray.core.events import OperationEvent

        event = OperationEvent(name, policy, entered, seen, plan, values, target, form=form)
        notify_write(event)
        _run_into(executable, name, target, buffers)
        alike = is_told_apart(heard, (target, other), entered, seen)
        tell_observers(event, executable, heard if alike else None)
    return target


def _write_again(
    name: str, target: Array, known: observer_cache.Known, buffers: tuple[Any, ...]
) -> Any:
    """Run an operation in place that the observer here has heard of, and count it."""
    _run_into(known.executable, name, target, buffers)
    target._type = known.types[0]
    known.tell()
    return target


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
