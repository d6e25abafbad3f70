"""Operands of other libraries, as each policy takes them in (``Policy.foreign``)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from promoarray import dtypes as dt
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import convert
from promoarray.core.events import OperationEvent, RefusalEvent
from promoarray.core.operands import as_operand, given_as, number_of, refused_why, wrap
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.model.slots import as_seen_by, ask, result_of
from promoarray.dtypes import WEAK
from promoarray.operations import Form
from promoarray.promotion.foreign import Entry
from promoarray.promotion.plan import Decision, Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

Event = TypeVar("Event", OperationEvent, RefusalEvent)


class Entered(NamedTuple):
    """The operands as they enter under a policy, and who decides about them."""

    operands: tuple[Any, ...]  # arrays and Python scalars
    seen: tuple[Operand, ...]  # the same as the policy sees them
    policy: Policy  # NumPy's where the framework hands the operation over
    refusal: Refusal | None = None  # why it takes none of them


def entered(
    policy: Policy, name: str, form: Form, operands: tuple[Any, ...], given: tuple[Any, ...]
) -> Entered:
    """Return the operands of a run as they enter under a policy; see ``OperationEvent.given``."""
    taken = [*operands]
    own = _own(operands, given)
    for i, x in enumerate(given):
        if x is None:
            continue
        taken[i] = y = _plain(policy, x)
        if policy.foreign is None or own is None or not isinstance(x, (np.generic, np.ndarray)):
            continue
        beside = policy.strong(as_seen_by(policy, operands[own]).type)
        kind, dtype = given_as(x, name, i < own), storage_dtype(y)
        way = policy.foreign.entry(kind, dtype, beside, name, form, i < own)
        if way is Entry.REFUSED:
            why = refused_why(policy, Rank.ARRAY if y.ndim else Rank.ZERO_D, dtype)
            return _seen(policy, operands)._replace(refusal=Refusal(why))
        if way is Entry.NUMPY:
            return _handed_over(policy, name, i, own, operands, given)
        if way is Entry.TARGET or (way is Entry.INT and y.ndim):  # indices are int64
            target = beside if way is Entry.TARGET else dt.int64
            taken[i] = y._wrap(convert(as_policy("numpy"), y._buffer, dtype, target), target)
        elif way is not Entry.ARRAY:
            taken[i] = number_of(way, y._decoded().item())
    return _seen(policy, (*taken,))


def _handed_over(
    policy: Policy, name: str, i: int, own: int, operands: tuple[Any, ...], given: tuple[Any, ...]
) -> Entered:
    """The operands of what NumPy computes; it divides by a tensor by its reciprocal."""
    numpys = [y if x is None else wrap(x) for x, y in zip(given, operands, strict=True)]
    if name == "divide" and i < own:
        plan = policy.plan("reciprocal", (as_seen_by(policy, operands[own]),))
        if isinstance(plan, Plan):
            numpys[own] = AbstractArray.of(policy.strong(plan.result), operands[own].ndim)
    return _seen(policy, tuple(numpys))._replace(policy=as_policy("numpy"))


def _own(operands: tuple[Any, ...], given: tuple[Any, ...]) -> int | None:
    """The first operand that is the program's own array."""
    pairs = enumerate(zip(operands, given, strict=True))
    return next((i for i, (x, y) in pairs if y is None and type(x) not in WEAK), None)


def _plain(policy: Policy, x: Any) -> Any:
    """An array of another library; a number of a class derived from Python's, such as an
    ``IntEnum`` member, or an array of it (``Policy.weak_subclasses``)."""
    operand = as_operand(x)
    as_array = type(operand) in WEAK and not policy.weak_subclasses
    return wrap(np.asarray(operand)) if as_array else operand


def _seen(policy: Policy, operands: tuple[Any, ...]) -> Entered:
    return Entered(operands, tuple([as_seen_by(policy, x) for x in operands]), policy)


def as_entered(
    policy: Policy, event: Event
) -> tuple[Event, tuple[Operand, ...], Decision | Refusal]:
    """Return an operation with its operands as they enter under a policy, what the policy sees of
    them, and what it decides."""
    if not event.given:
        seen = tuple([as_seen_by(policy, x) for x in event.operands])
        return event, seen, ask(policy, event, seen)
    operands, seen, decider, refusal = entered(
        policy, event.name, event.form, event.operands, event.given
    )
    event = event._replace(operands=operands)
    decided = refusal or ask(decider, event, seen)
    if decider is not policy and isinstance(decided, Decision):
        plan = decided.plan
        made = dt.uint8 if plan.result is dt.bool else plan.result  # as PyTorch wraps it
        decided = decided._replace(plan=plan._replace(result=made))
    return event, seen, decided


def entering_otherwise(
    policies: tuple[Policy, ...], event: OperationEvent
) -> Iterator[tuple[str, str]]:
    """Yield the policies that answer otherwise because they take an operand in otherwise."""
    for policy in policies:
        *_, own = as_entered(policy, event)
        *_, as_in_the_run = as_entered(policy, event._replace(given=()))
        if result_of(own) != result_of(as_in_the_run):
            yield policy.name, "it takes in operands of other libraries otherwise than the run"


def given_kind(x: Any) -> Hashable:
    """Return what operands of other libraries have in common of which policies say the same: of
    those without axes the value, too."""
    operand = as_operand(x)
    if isinstance(operand, Array) and operand.ndim:
        return type(x), operand._type
    return type(x), getattr(operand, "_type", None), repr(x)


def has_axes(x: Any) -> bool:
    """Whether an operand of another library is an array that has axes."""
    return bool(getattr(x, "ndim", 0))


def other_numbers(event: OperationEvent, theirs: OperationEvent) -> Iterator[str]:
    """Yield the operands of other libraries that a policy takes for other numbers than the run."""
    for x, y, given in zip(event.operands, theirs.operands, event.given, strict=False):
        if given is not None and not np.array_equal(_number(x), _number(y), equal_nan=True):
            yield f"NumPy's {type(given).__name__}"


def _number(x: Any) -> Any:
    """An operand as NumPy has it."""
    return np.asarray(x._decoded() if isinstance(x, Array) else x)
