"""Context managers that decorate functions too: what ``policy`` and ``no_escape`` are."""

from __future__ import annotations

import inspect
from contextlib import ContextDecorator
from functools import wraps
from typing import Any, Self


class Context(ContextDecorator):
    """A context manager that holds during every call of a function, or of a coroutine.

    One object a call is made by ``_recreate_cm``, because decorated functions may recurse.
    """

    def __call__(self, function: Any) -> Any:
        """Hold in every call; of a coroutine, for as long as it runs."""
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def held(*args: Any, **kwargs: Any) -> Any:
                with self._recreate_cm():
                    return await function(*args, **kwargs)

            return held
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            called = type(self).__name__
            raise TypeError(
                f"{called} cannot decorate the generator function {function.__qualname__}: it "
                f"would leave between two items. Write 'with pa.{called}(...)' inside it"
            )
        return super().__call__(function)

    def _recreate_cm(self) -> Self:
        raise NotImplementedError

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError
