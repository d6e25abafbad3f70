"""Docstrings of functions that are alike: what they share is written once.

The decorators stand above all others, as a fast path has a docstring of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    Function = TypeVar("Function", bound=Callable[..., object])

    class Decorator(Protocol):
        """What completes the docstring of a function and returns the function."""

        def __call__(self, function: Function, /) -> Function: ...


def documented(function: Function, write: Callable[[str], str]) -> Function:
    """Have a docstring written from the one that stands in the function's source."""
    function.__doc__ = write(function.__doc__ or "")  # none under python -OO
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
            text = said[name]
            return cleandoc(text) if "\n" in text else fill(text, 92, break_on_hyphens=False)

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
