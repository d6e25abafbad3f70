"""Docstring entries that several functions share, written once."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import dedent, indent
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

_HOLE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def sharing(text: str) -> Callable[[Function], Function]:
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

    def fill(function: Function) -> Function:
        doc = function.__doc__ or ""  # none under python -OO
        function.__doc__ = _HOLE.sub(lambda hole: indent(entries[hole[2]], hole[1]), doc)
        return function

    return fill
