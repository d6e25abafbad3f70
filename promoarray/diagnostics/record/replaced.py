"""Attributes that are replaced while somebody records: functions of frameworks without a hook."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple, Self

from promoarray.diagnostics.record.handlers import Handler

HOOKS = os.path.join(os.path.dirname(__file__), "")
HANDED_ON = os.path.join("torch", "overrides.py")
"""Whose function calls a mode for a function of PyTorch's that is written in Python."""


def is_hook(code: CodeType) -> bool:
    """Whether code is of what hears of calls, and stands in between them and the program."""
    return code.co_filename.startswith(HOOKS)


class Place(NamedTuple):
    """An attribute that is replaced."""

    owner: Any
    name: str
    before: Any
    after: Any


ABSENT: Any = object()
"""What an attribute was before that its owner has from another class."""


class Replaced:
    """Attributes that are replaced as long as anybody records, in whatever order they end.

    Parameters
    ----------
    places : callable
        Answers what to replace.
    """

    def __init__(self, places: Callable[[], Iterator[Place]]) -> None:
        self._all = places
        self._places: list[Place] = []
        self._users = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        with self._lock:
            if not self._users:
                self._places = list(self._all())
                for place in self._places:
                    setattr(place.owner, place.name, place.after)
            self._users += 1
        return self

    def add(self, place: Place) -> None:
        """Replace another attribute, until nobody records any more."""
        with self._lock:
            if self._users and not any(x[:2] == place[:2] for x in self._places):
                setattr(place.owner, place.name, place.after)
                self._places.append(place)

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                for place in self._places:
                    if vars(place.owner).get(place.name) is not place.after:
                        continue  # the program set it
                    if place.before is ABSENT:
                        delattr(place.owner, place.name)
                    else:
                        setattr(place.owner, place.name, place.before)
                self._places = []


class Watched(Replaced):
    """A framework's functions, of which watchers hear."""

    def __init__(self, places: Callable[[], Iterator[Place]]) -> None:
        super().__init__(places)
        self._thread = _Thread()

    @property
    def watchers(self) -> tuple[Any, ...]:
        """Who watches the calls of this thread, the innermost last."""
        return self._thread.watchers

    @watchers.setter
    def watchers(self, watchers: tuple[Any, ...]) -> None:
        self._thread.watchers = watchers

    @contextmanager
    def silent(self) -> Iterator[tuple[Any, ...]]:
        """Have nobody hear of the calls of this thread meanwhile; yields who did before."""
        watchers, self.watchers = self.watchers, ()
        try:
            yield watchers
        finally:
            self.watchers = watchers

    def in_place_of(self, function: Any, name: str, handler: Handler) -> Callable[..., Any]:
        """What stands in the place of a function, of whose calls the watchers hear."""

        @wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if not (watchers := self.watchers):
                return function(*args, **kwargs)
            frame = sys._getframe(1)
            self.watchers = ()  # what it calls itself is part of this call
            try:
                return carry_out(watchers, function, name, handler, args, kwargs, frame, function)
            finally:
                self.watchers = watchers

        return watched

    def noted(self, owner: Any, *names: str, told: str = "") -> Iterator[Place]:
        """Replace functions that make arrays where nobody hears of it, or give back functions that
        do: only where these came from is put down, if that is asked for."""
        for name in names:
            function = inspect.getattr_static(owner, name, None)
            if function is not None:  # some are newer than others
                yield Place(owner, name, function, self._noting(function, told or name))

    def _noting(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        @wraps(function)
        def noting(*args: Any, **kwargs: Any) -> Any:
            try:
                made = function(*args, **kwargs)
            except Exception as error:
                for watcher in self.watchers:
                    watcher.failed(function, name, sys._getframe(1), args, kwargs, error)
                raise
            if type(made) is FunctionType:
                return self._noting(made, name)
            for watcher in self.watchers:
                watcher.note(name, function, args, kwargs, sys._getframe(1), made)
            return made

        return noting


class _Thread(threading.local):
    watchers: tuple[Any, ...] = ()


def of_default(watched: Watched, function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of ``set_default_dtype``, by which a program names the default."""

    @wraps(function)
    def named(*args: Any, **kwargs: Any) -> Any:
        answer = function(*args, **kwargs)
        for watcher in watched.watchers:
            watcher.recorder.names_default()
        return answer

    return named


def unheard(watched: Watched, function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of a function that only traces, of which nobody hears."""

    @wraps(function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        with watched.silent():
            return function(*args, **kwargs)

    return traced


def carry_out(
    watchers: tuple[Any, ...],
    function: Any,
    name: str,
    handler: Handler,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    frame: FrameType,
    bare: Callable[..., Any],
) -> Any:
    """Carry out a call of a function, ``bare``, watched by all watchers."""
    for watcher in watchers:
        bare = partial(watcher.watch, function, name, handler, frame, bare)
    return bare(*args, **kwargs)
