"""Keyword arguments that a function has not: the error names ours, if it is another library's."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, cast

from promoarray.errors import quoted

if TYPE_CHECKING:
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable[..., object])


def names_keywords(function: Function) -> Function:
    """Let a function name its own keyword where it is called by another library's.

    Nothing is looked at before Python has refused the call.
    """

    @wraps(function)
    def called(*args: Any, **options: Any) -> object:
        try:
            return function(*args, **options)
        except TypeError:
            from promoarray.other_names import for_keyword

            parameters = signature(function).parameters
            for name in options.keys() - parameters.keys():
                if instead := for_keyword(name, parameters):
                    wrong = (
                        f"{function.__name__}() got an unexpected keyword argument {quoted(name)}"
                    )
                    raise TypeError(wrong + instead) from None
            raise

    return cast("Function", called)
