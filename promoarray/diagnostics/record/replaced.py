"""Functions that are replaced while somebody records: of frameworks that have no hook."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial, wraps
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.core.call_site import of_library
from promoarray.diagnostics.record.handlers import Handler

if TYPE_CHECKING:
    from promoarray.diagnostics.record.watcher import Watcher


class Place(NamedTuple):
    """An attribute that is replaced."""

    owner: Any
    name: str
    before: Any
    after: Any


class _Thread(threading.local):
    watchers: tuple[Watcher, ...] = ()


class Replaced:
    """Attributes that are replaced as long as any thread records.

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
        self._thread = _Thread()

    @property
    def watchers(self) -> tuple[Watcher, ...]:
        """Who watches the calls of this thread, the innermost last."""
        return self._thread.watchers

    @watchers.setter
    def watchers(self, watchers: tuple[Watcher, ...]) -> None:
        self._thread.watchers = watchers

    def begin(self, watcher: Watcher) -> None:
        """Have one more watcher hear of the calls of this thread."""
        with self._lock:
            if not self._users:
                self._places = list(self._all())
                for place in self._places:
                    setattr(place.owner, place.name, place.after)
            self._users += 1
        self.watchers += (watcher,)

    def end(self, watcher: Watcher) -> None:
        """Have it hear no more; put back what was there, but for what the program has set."""
        self.watchers = tuple(x for x in self.watchers if x is not watcher)
        with self._lock:
            self._users -= 1
            if not self._users:
                for place in self._places:
                    if vars(place.owner).get(place.name) is place.after:
                        setattr(place.owner, place.name, place.before)
                self._places = []


def of_default(replaced: Replaced, function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of ``set_default_dtype``, by which a program names the default."""

    @wraps(function)
    def named(*args: Any, **kwargs: Any) -> Any:
        answer = function(*args, **kwargs)
        for watcher in replaced.watchers:
            watcher.recorder.names_default()
        return answer

    return named


def of_compiling(replaced: Replaced, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of a function that compiles a part of the program, or loads one."""

    @wraps(function)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        if not of_library(frame):
            for watcher in replaced.watchers:
                watcher.recorder.unexamined(name, _COMPILED, frame)
        if name == "torch.jit.script":  # which looks up names in the frame that calls it
            kwargs["_frames_up"] = kwargs.get("_frames_up", 0) + 1
        return function(*args, **kwargs)

    return compiled


_COMPILED = "what is compiled there is not recorded as it runs"


def carry_out(
    watchers: tuple[Watcher, ...],
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
