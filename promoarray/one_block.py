"""Context managers of users for one block, to which they hand something over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Block(AbstractContextManager[T]):
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
        return self._made.__exit__(kind, error, traceback)

    def __call__(self, function: Any) -> Any:
        """Refuse to decorate: nobody would have what the block is handed."""
        raise TypeError(
            f"{self._name} decorates nothing, as what it finds would be lost; write "
            f"'with {self._name}(...) as ...' around the call or inside the function"
        )


def one_block(function: Callable[P, Iterator[T]]) -> Callable[P, Block[T]]:
    """Make a context manager of a generator function, as ``contextlib.contextmanager`` does."""
    manager = contextmanager(function)

    @wraps(function)
    def made(*args: P.args, **kwargs: P.kwargs) -> Block[T]:
        return Block(f"pa.{function.__name__}", manager(*args, **kwargs))

    return made
