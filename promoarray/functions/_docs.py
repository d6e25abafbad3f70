"""Docstrings of functions that are alike: what they share is written once.

What has a fast path has its docstring written when somebody first asks for it: with a hundred
functions that was a tenth of ``import promoarray``. So these decorators stand above all others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import cleandoc
from typing import TYPE_CHECKING

from promoarray.core._fast_path import FastOperator

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    Function = TypeVar("Function", bound=Callable[..., object])

    class Decorator(Protocol):
        """What completes the docstring of a function and returns the function."""

        def __call__(self, function: Function, /) -> Function: ...


def documented(function: Function, write: Callable[[str], str]) -> Function:
    """Have a docstring written from the one that stands in the function's source."""
    stands = function.__doc__ or ""  # none under python -OO
    if isinstance(function, FastOperator):
        function.__doc__ = partial(write, stands)  # type: ignore[assignment]
    else:
        function.__doc__ = write(stands)
    return function


def _filled(text: str, written: Callable[[str], str]) -> str:
    """Return a text with its lines ``{name}`` replaced, and left out where nothing is written."""
    lines = []
    for line in text.splitlines():
        bare = line.lstrip(" ")
        if bare.startswith("{") and bare.endswith("}"):
            said, margin = written(bare[1:-1]), line[: -len(bare)]
            if said:
                lines.append(margin + said.replace("\n", f"\n{margin}"))
        else:
            lines.append(line)
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    """Return sentences in lines of up to 92 letters; ``textwrap`` takes ten times as long."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= 92:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return "\n".join(lines)


def template(text: str, **usual: str) -> Callable[..., Decorator]:
    """Make decorators that put sections between the summary and the examples of a docstring.

    Parameters
    ----------
    text : str
        Sections as numpydoc has them, with lines ``{name}`` for what differs.
    **usual : str
        What these lines become where a function gives nothing else: sentences, which are wrapped;
        entries of several lines, which are not; or nothing.

    Returns
    -------
    callable
        Takes what one function says, by name, and returns the decorator for it.
    """

    def of_one(**own: str) -> Decorator:
        said = usual | own

        def written(name: str) -> str:
            return cleandoc(said[name]) if "\n" in said[name] else _wrapped(said[name])

        def around(stands: str) -> str:
            summary, head, examples = cleandoc(stands).partition("\n\nExamples\n")
            return f"{summary}\n\n{_filled(cleandoc(text), written).rstrip()}{head}{examples}\n"

        def complete(function: Function) -> Function:
            return documented(function, around)

        return complete

    return of_one


reduction = template(
    """
    Parameters
    ----------
    x : array, any shape
        {x}
    axis : int or tuple of int, optional
        Default: all.
    {option}
    keepdims : bool
        Keep the reduced axes with length 1.

    Returns
    -------
    PArray
        The shape of ``x`` without the axes.
        {result}

    Raises
    ------
    PromotionError
        {refuses}
    ValueError
        {invalid}
    """,
    x="",
    option="",
    invalid="If there is no such axis.",
)
"""For functions that reduce axes."""
