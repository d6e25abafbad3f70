"""Watchers: who hears of operations, of arrays made and assigned to, and of data that leaves.

Traces, shadow runs and the like are watchers. While nobody watches, all of this costs an operator
one look at an empty list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import Any, NamedTuple

from promoarray.core.array_base import Array
from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.policy import NO_OPTIONS, Policy


class OperationEvent(NamedTuple):
    """One operation that was carried out.

    Attributes
    ----------
    name : str
    policy : Policy
    operands : tuple
        PArrays and Python scalars.
    seen : tuple of Operand
        The operands as the policy saw them.
    plan : Plan
    values : tuple
        The operands, the scalars among them as they were computed with.
    result : Array
        The first operand if the operation was in place.
    extra_results : tuple of PArray
        The further results of an operation that has several.
    options : mapping
        What the operation takes besides.
    """

    name: str
    policy: Policy
    operands: tuple[Any, ...]
    seen: tuple[Operand, ...]
    plan: Plan
    values: tuple[Any, ...]
    result: Array
    extra_results: tuple[Array, ...] = ()
    options: Mapping[str, Any] = NO_OPTIONS

    @property
    def inplace(self) -> bool:
        """Whether the result was written into the first operand."""
        return bool(self.operands) and self.result is self.operands[0]


class SetitemEvent(NamedTuple):
    """A value written into an array: ``target[key] = value``.

    Attributes
    ----------
    policy : Policy
    target : Array
    value : Array, or Python scalar
    source, dtype : DType
        Of the value, weak for a Python scalar; of the target.
    """

    policy: Policy
    target: Array
    value: Any
    source: DType
    dtype: DType


ProposedCasts = Mapping[int, DType]
"""Which operands a watcher casts in place of a refusal, and to what."""


class Observer:
    """Hears of what happens; each method does nothing until a watcher defines it."""

    def on_operation(self, event: OperationEvent) -> None:
        """Hear of one operation; may change the type label of ``event.result``."""

    def on_default(self, weak: DType, result: Array, lone: bool) -> None:
        """Hear of an array made of Python numbers (a lone one?): its dtype is a default."""

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Hear of a value written into an array."""

    def on_refusal(
        self, name: str, policy: Policy, seen: tuple[Operand, ...], refusal: Refusal
    ) -> ProposedCasts | None:
        """Hear of a refusal; may answer which operands to cast to what."""
        return None

    def on_escape(self, escape: Any) -> None:
        """Hear of data about to leave the policy, an ``escape.Escape``; may raise."""


observers_anywhere: list[Observer] = []
"""Watchers of any context. While there is one, every operation takes the long way, ``apply``."""

escape_guards: list[object] = []
"""All that hear of data that leaves, in any context: the watchers, and ``no_escape``."""

notify_lock = RLock()
"""Held while watchers are told, so that a watcher of every thread hears of one thing at a time."""

_here: ContextVar[tuple[Observer, ...]] = ContextVar("promoarray_watching", default=())
_everywhere: list[Observer] = []  # as a new thread starts with an empty context


@contextmanager
def observing(watcher: Observer, *, everywhere: bool = False) -> Iterator[None]:
    """Tell a watcher of all that happens in this context, or in every thread of the process."""
    observers_here = (*_here.get(), watcher)
    token = None if everywhere else _here.set(observers_here)
    lists: list[list[Any]] = [
        observers_anywhere,
        escape_guards,
        *([_everywhere] if everywhere else []),
    ]
    for each in lists:
        each.append(watcher)
    try:
        yield
    finally:
        for each in lists:
            each.remove(watcher)
        if token is not None:
            _here.reset(token)


def observers_here() -> tuple[Observer, ...]:
    """The watchers of this context."""
    return (*_everywhere, *_here.get())


def notify(event: OperationEvent) -> None:
    """Tell watchers of an operation."""
    with notify_lock:
        for watcher in observers_here():
            watcher.on_operation(event)


def notify_default(weak: DType, result: Array, *, lone: bool = False) -> None:
    """Tell watchers of an array made of Python numbers."""
    with notify_lock:
        for watcher in observers_here():
            watcher.on_default(weak, result, lone)


def notify_setitem(assignment: SetitemEvent) -> None:
    """Tell watchers of a value written into an array."""
    with notify_lock:
        for watcher in observers_here():
            watcher.on_setitem(assignment)
