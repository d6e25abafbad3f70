"""What is made when it is first asked for, and is one object though threads ask at once.

``functools.cache`` and ``cached_property`` would not do: the first lets every thread that asks
before the first answer is there have an object of its own, and in Python 3.11 the second holds a
lock, which a process forked meanwhile would wait for. Here all may make one, and the first that is
kept is everybody's: ``dict.setdefault`` is one step, with the GIL and without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["made_once", "module", "once"]

if TYPE_CHECKING:
    from functools import cached_property as made_once
    from typing import TypeVar, TypeVarTuple

    Key = TypeVarTuple("Key")
    T = TypeVar("T")


def once(make: Callable[[*Key], T]) -> Callable[[*Key], T]:
    """Make a function answer with one object an argument, kept for as long as the process runs."""
    kept: dict[Any, T] = {}

    @wraps(make)
    def get(*key: *Key) -> T:
        try:
            return kept[key]
        except KeyError:
            pass  # what `make` raises is no consequence of that
        return kept.setdefault(key, make(*key))

    return get


module = cache(import_module)
"""A module by its name, sooner than an import statement finds it again: for what is loaded with the
first operation that needs it, and is asked each time."""


if not TYPE_CHECKING:

    class made_once:
        """A property that is computed once an object, and kept in its ``__dict__``."""

        def __init__(self, make):
            self._make = make
            self._name = make.__name__
            self.__doc__ = make.__doc__

        def __get__(self, instance, owner=None):
            # Found in the instance from the second time on: there is no __set__.
            return instance.__dict__.setdefault(self._name, self._make(instance))
