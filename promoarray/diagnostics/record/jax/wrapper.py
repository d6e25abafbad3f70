"""What stands in place of a function of JAX's, and in all else is that function."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any


class Wrapper:
    """In all but its call the function that it wraps."""

    def __init__(self, func: Callable[..., Any]) -> None:
        update_wrapper(self, func)
        self.__wrapped__ = func

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["__wrapped__"], name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> Any:
        return _same, (self.__wrapped__,)


class WrapperOfFunction(Wrapper):
    """That of a function, which in a class is a method."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)


def _same(x: Any) -> Any:
    return x
