"""Docstrings of functions that are alike: what they share is written once."""

from __future__ import annotations

import re
from collections.abc import Callable
from inspect import cleandoc
from textwrap import dedent, fill, indent
from typing import Protocol, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])


class Decorator(Protocol):
    """What completes the docstring of a function and returns the function."""

    def __call__(self, function: Function, /) -> Function: ...


_HOLE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)
_LINE = re.compile(r"^( *)\{(\w+)\}\n", re.MULTILINE)


def sharing(text: str) -> Decorator:
    """Make a decorator that writes shared entries into docstrings.

    Parameters
    ----------
    text : str
        Entries as numpydoc has them. Each goes by its first word: a line ``{axis}`` of a docstring
        becomes the entry that begins ``axis : int``.

    Returns
    -------
    callable
        Returns the function it is given.
    """
    entries = {
        entry.split()[0].rstrip(","): entry for entry in re.split(r"\n(?=\S)", dedent(text).strip())
    }

    def complete(function: Function) -> Function:
        doc = function.__doc__ or ""  # none under python -OO
        function.__doc__ = _HOLE.sub(lambda hole: indent(entries[hole[2]], hole[1]), doc)
        return function

    return complete


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
        def written(line: re.Match[str]) -> str:
            said, margin = (usual | own)[line[2]], line[1]
            if not said:
                return ""
            text = cleandoc(said) if "\n" in said else fill(said, 92)
            return indent(text, margin) + "\n"

        def complete(function: Function) -> Function:
            summary, *examples = re.split(r"\n\n(?=Examples\n)", cleandoc(function.__doc__ or ""))
            sections = _LINE.sub(written, cleandoc(text) + "\n").rstrip()
            function.__doc__ = "\n\n".join([summary, sections, *examples]) + "\n"
            return function

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
