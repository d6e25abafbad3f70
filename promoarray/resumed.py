"""Functions that stop and go on, decorated by a context manager: it holds while they run."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Generator
from contextlib import AbstractContextManager
from functools import wraps
from types import coroutine
from typing import Any

Context = AbstractContextManager[Any]


def holding_while_it_runs(context: Context, function: Any) -> Any | None:
    """Decorate a coroutine or generator function; None of any other."""
    if inspect.iscoroutinefunction(function):
        return _awaited(context, function)
    if inspect.isgeneratorfunction(function):
        return _generated(context, function)
    if inspect.isasyncgenfunction(function):
        return _iterated(context, function)
    return None


def _awaited(context: Context, function: Any) -> Any:
    @wraps(function)
    async def held(*args: Any, **kwargs: Any) -> Any:
        return await _steps(context, function(*args, **kwargs))

    return held


def _generated(context: Context, function: Any) -> Any:
    @wraps(function)
    def held(*args: Any, **kwargs: Any) -> Any:
        return (yield from _steps(context, function(*args, **kwargs)))

    return held


def _iterated(context: Context, function: Any) -> Any:
    @wraps(function)
    async def held(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        made = function(*args, **kwargs)
        step, given = made.asend, None
        while True:
            try:
                item = await _steps(context, step(given))
            except StopAsyncIteration:
                return
            finally:
                given = None
            try:
                given = yield item
            except GeneratorExit:
                await _steps(context, made.aclose())
                raise
            except BaseException as error:
                step, given = made.athrow, error
            else:
                step = made.asend

    return held


@coroutine  # so that it can be awaited, too
def _steps(context: Context, made: Any) -> Generator[Any, Any, Any]:
    """Run a generator, or what is awaited, each step of it in the context."""
    step, given = made.send, None
    while True:
        with context:
            try:
                item = step(given)
            except StopIteration as stop:
                return stop.value
            finally:
                given = None  # of an error the traceback holds this frame
        try:
            given = yield item
        except GeneratorExit:
            with context:
                made.close()
            raise
        except BaseException as error:
            step, given = made.throw, error
        else:
            step = made.send
