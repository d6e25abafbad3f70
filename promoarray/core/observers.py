"""Observers: who is told of operations, arrays made and assigned to, and data that leaves.

Traces, shadow runs and the like are observers. While there is none, all of this costs an operator
one look at an empty list. What they are told stands in ``events``.
"""

from __future__ import annotations

import os
from _thread import RLock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from promoarray.context import Entry

if TYPE_CHECKING:
    from promoarray.core.events import Observer, OperationEvent, Repeat, Repeats

T = TypeVar("T")

observers_anywhere: list[Observer] = []
"""Observers of any context. While there is one, every operation takes the long way, ``apply``."""

guards: ContextVar[Entry | None] = ContextVar("promoarray_no_escape", default=None)
"""The blocks of ``no_escape`` that this context is in."""

guarded_here = guards.get

guarding: list[Callable[[], Entry | None]] = []
"""What tells of these blocks, where there may be some: it is put here with ``no_escape`` itself, as
asking a context variable takes a sixth of ``x.item()``."""

CLIENTS = {
    "scipy": ", or set SCIPY_ARRAY_API=1 before Python starts: many functions keep PArrays",
    "sklearn": ", or sklearn.set_config(array_api_dispatch=True): many estimators keep PArrays",
    "xarray": "",
}
"""Libraries that keep PArrays elsewhere, so that NumPy's arrays in place of them are told of."""

notify_lock = RLock()
"""Held while observers are told, so that one of every thread hears of one thing at a time."""

if hasattr(os, "register_at_fork"):
    # A child has this thread only, and nobody who would let go of a lock that another one holds.
    os.register_at_fork(
        before=notify_lock.acquire,
        after_in_parent=notify_lock.release,
        after_in_child=notify_lock.release,
    )

_here: ContextVar[tuple[Observer, ...]] = ContextVar("promoarray_watching", default=())

observed_everywhere: list[Observer] = []  # as a new thread starts with an empty context


@contextmanager
def observing(observer: Observer, *, everywhere: bool = False) -> Iterator[None]:
    """Tell an observer of all that happens in this context, or in every thread of the process."""
    if everywhere:
        observed_everywhere.append(observer)
    else:
        _here.set((*_here.get(), observer))
    observers_anywhere.append(observer)
    try:
        yield
    finally:
        observers_anywhere.remove(observer)
        if everywhere:
            observed_everywhere.remove(observer)
        else:  # perhaps others have come since, or the block ends in another context
            _here.set(tuple(other for other in _here.get() if other is not observer))


_unheard: ContextVar[bool] = ContextVar("promoarray_unheard", default=False)


@contextmanager
def unobserved() -> Iterator[None]:
    """Tell nobody of what this context does: it is a part of one operation, or done to ask."""
    token = _unheard.set(True)
    try:
        yield
    finally:
        _unheard.reset(token)


def observers_here() -> tuple[Observer, ...]:
    """The observers of this context, but none whose block is over: a task may outlive it."""
    if _unheard.get():
        return ()
    here = (*observed_everywhere, *_here.get())
    return tuple(observer for observer in here if observer in observers_anywhere)


def lone_observer() -> Observer | None:
    """The observer of this context, if there is one and no other."""
    here = observers_here()
    return here[0] if len(here) == 1 else None


def notify(event: OperationEvent, repeats: Repeats | None = None) -> Repeat | None:
    """Tell observers of an operation; return the answer of the one whose repeats these are."""
    answer = None
    with notify_lock:
        for observer in observers_here():
            repeat = observer.on_operation(event)
            if repeat is not None and observer.repeats is repeats:
                answer = repeat
    return answer


def tell(hear: Callable[[Observer], T]) -> list[T]:
    """Have each observer here hear of something, as by ``lambda o: o.on_cast(event)``; return what
    they answer."""
    with notify_lock:
        return [hear(observer) for observer in observers_here()]
