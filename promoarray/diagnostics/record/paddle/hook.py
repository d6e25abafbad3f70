"""The hook: Paddle's tensor methods and functions are replaced while somebody records.

What a function of Paddle's calls itself belongs to that call. Functions that no table knows are
left as they are, so that what they call is recorded instead; of the kernels, ``paddle._C_ops``,
all are replaced.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from functools import wraps
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any, NamedTuple

import paddle

from promoarray.diagnostics.record.handlers import Handler, handler_in, other
from promoarray.diagnostics.record.paddle.call import Call, amp
from promoarray.diagnostics.record.paddle.calls import KERNELS, words
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.watcher import Watcher

_PLACES = (paddle.Tensor, paddle, paddle.nn.functional, paddle.linalg, paddle.fft, paddle.signal)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodDescriptorType)


class Recording:
    """Tells a recorder of every call that this thread makes.

    Parameters
    ----------
    recorder : Recorder
    """

    def __init__(self, recorder: Recorder) -> None:
        self._watcher = Watcher(recorder, Call, _state)

    def __enter__(self) -> Recording:
        _replaced.enter()
        _thread.watchers = (*_thread.watchers, self._watcher)
        return self

    def __exit__(self, *raised: object) -> None:
        _thread.watchers = tuple(x for x in _thread.watchers if x is not self._watcher)
        _replaced.leave()


class _Thread(threading.local):
    """Who watches the calls of a thread."""

    watchers: tuple[Watcher, ...] = ()


_thread = _Thread()


def _state() -> Hashable:
    return amp(), paddle.get_default_dtype()


def _watched(function: Any, name: str, handler: Handler) -> Callable[..., Any]:
    """What stands in the place of a function."""

    @wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        watchers = _thread.watchers
        if not watchers:
            return function(*args, **kwargs)
        frame = sys._getframe(1)
        carry_out = function
        for watcher in watchers:
            carry_out = _through(watcher, function, name, handler, frame, carry_out)
        _thread.watchers = ()  # what it calls itself is part of this call
        try:
            return carry_out(*args, **kwargs)
        finally:
            _thread.watchers = watchers

    return watched


def _through(
    watcher: Watcher, function: Any, name: str, handler: Handler, frame: Any, carry_out: Any
) -> Callable[..., Any]:
    """The call as one more watcher carries it out."""
    return lambda *args, **kwargs: watcher.watch(
        function, name, handler, args, kwargs, frame, carry_out
    )


class _Place(NamedTuple):
    """An attribute that is replaced."""

    owner: Any
    name: str
    before: Any
    after: Any


class _Replaced:
    """What is replaced, as long as any thread records."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._places: list[_Place] = []

    def enter(self) -> None:
        """Replace, unless that is done."""
        with self._lock:
            if not self._users:
                self._places = list(_places())
                for place in self._places:
                    setattr(place.owner, place.name, place.after)
            self._users += 1

    def leave(self) -> None:
        """Put back what was there, but for what the program has set meanwhile."""
        with self._lock:
            self._users -= 1
            if not self._users:
                for place in self._places:
                    if vars(place.owner).get(place.name) is place.after:
                        setattr(place.owner, place.name, place.before)
                self._places = []


_replaced = _Replaced()


def _places() -> Iterator[_Place]:
    """Every attribute to replace, with what takes its place."""
    known = words()
    for owner in _PLACES:
        for name, before in tuple(vars(owner).items()):
            handler = handler_in(known, name)
            if handler is None:
                continue
            if isinstance(before, _FUNCTIONS):
                yield _Place(owner, name, before, _watched(before, name, handler))
            elif isinstance(before, property) and before.fget is not None:
                getter = _watched(before.fget, name, handler)
                yield _Place(owner, name, before, before.getter(getter))
    for name, before in tuple(vars(paddle._C_ops).items()):
        if isinstance(before, BuiltinFunctionType) and not name.startswith("_"):
            called = KERNELS.get(name, name)
            handler = handler_in(known, called) or other
            yield _Place(paddle._C_ops, name, before, _watched(before, called, handler))
