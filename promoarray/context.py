"""Context managers of users: for any number of blocks, and for one.

``Context`` is what ``policy``, ``no_escape`` and ``no_compute`` are: it decorates functions, too,
and of generators and coroutines it holds while they run. ``single_use`` makes those that hand
something over, as ``trace`` and ``shadow`` do.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, ContextDecorator, contextmanager
from contextvars import ContextVar
from functools import wraps
from types import FrameType, TracebackType, coroutine
from typing import Any, ClassVar, ParamSpec, TypeVar

from promoarray.errors import ends_at_caller, of_compiled

try:
    from promoarray._context import Block
except ImportError as error:
    raise of_compiled(error) from None

P = ParamSpec("P")
T = TypeVar("T")

Entry = tuple[Any, "Context", "Entry | None"]
"""A block that was entered: what holds in it, its context manager, and the block around."""


class Context(Block, ContextDecorator):
    """A context manager that decorates, of which one object serves any number of blocks.

    Blocks may nest and run in several threads and tasks, so the object knows nothing of them: what
    was entered stands in a context variable, ``_here``, which every subclass has. A block that ends
    takes out its own entry, also where others have been entered since and not left, as by a
    generator that stands still inside of one. Where it ends in another context than it began in,
    as that of an asynchronous generator that nobody ran to its end, there is nothing to take out.
    Entering and leaving are each one call in C, so that an interrupt leaves nothing set.
    """

    _here: ClassVar[ContextVar[Entry | None]]
    _held: Any
    """What holds in the block."""

    def __call__(self, function: Any) -> Any:
        """Hold in every call; of a generator or coroutine while it runs, not while it waits."""
        if not callable(function):
            called = type(self).__name__
            raise TypeError(
                f"{called} decorates functions, not {function!r}; of a classmethod or a property "
                f"write @{called}(...) in the line below"
            )
        return _holding_while_it_runs(self, function) or super().__call__(function)


# -- functions that stop and go on ----------------------------------------------------------------


def _holding_while_it_runs(context: Context, function: Any) -> Any | None:
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


# -- one block ------------------------------------------------------------------------------------


class SingleUse(AbstractContextManager[T]):
    """A context manager for one block, to which it hands something over."""

    def __init__(self, name: str, made: AbstractContextManager[T]) -> None:
        self._name = name
        self._unused = [made]  # taken out in one step, so that of two threads one gets it
        self._made = made

    def __enter__(self) -> T:
        try:
            return self._unused.pop().__enter__()
        except IndexError:
            raise RuntimeError(
                f"this {self._name} has had its block; write 'with {self._name}(...) as ...' for "
                "each, in every thread"
            ) from None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        try:
            return self._made.__exit__(kind, error, traceback)
        except BaseException as raised:  # by lines of the block that were run there
            raise raised.with_traceback(_of_program(raised.__traceback__)) from raised.__cause__

    def __call__(self, function: Any) -> Any:
        """Refuse to decorate: nobody would have what the block is handed."""
        raise TypeError(
            f"{self._name} decorates nothing, as what it finds would be lost; write "
            f"'with {self._name}(...) as ...' around the call or inside the function"
        )


def _of_program(traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback from a program's frame on; all of it if there is none."""
    part = traceback
    while part is not None and part.tb_frame.f_code.co_filename.startswith(_OWN):
        part = part.tb_next
    return part or traceback


_OWN = os.path.dirname(__file__) + os.sep, contextlib.__file__


def block_frame() -> FrameType | None:
    """Return the frame that enters a block, asked while it is entered; None of no such block."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not SingleUse.__enter__.__code__:
        frame = frame.f_back
    return frame and frame.f_back


def single_use(function: Callable[P, Iterator[T]]) -> Callable[P, SingleUse[T]]:
    """Make a context manager of a generator function, as ``contextlib.contextmanager`` does."""
    manager = contextmanager(function)

    @ends_at_caller
    @wraps(function)
    def made(*args: P.args, **kwargs: P.kwargs) -> SingleUse[T]:
        return SingleUse(f"pa.{function.__name__.lstrip('_')}", manager(*args, **kwargs))

    return made
