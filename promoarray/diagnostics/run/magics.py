"""Lines of a notebook that are IPython's own and no Python: ``%precision 3``, ``!ls``, ``x?``.

Where IPython is installed it translates them to calls of itself. Else they are skipped, and that is
said. Magics that only time or catch what a cell of Python does are skipped in both cases, as the
cell is what is compared.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

Say = Callable[[int, str], None]
"""Tells of a line of a cell what became of it."""

Translate = Callable[[str, Say], str]
"""From the text of a cell to Python, line by line."""


def translator(names: dict[str, Any]) -> Translate:
    """Return what makes Python of cells whose names live here."""
    try:
        ipython = import_module("IPython.core.interactiveshell")
    except ImportError:
        return skipping
    shell = ipython.InteractiveShell.instance(user_ns=names)
    names["get_ipython"] = shell.get_ipython

    def translated(source: str, say: Say) -> str:
        source = _of_python(source, say)
        if is_python(source):
            return source
        # IPython drops empty lines at the beginning, and the numbers of the others change.
        made: str = shell.transform_cell(_EMPTY_LINE.sub("pass\n", source))
        return made

    return translated


def skipping(source: str, say: Say) -> str:
    """Leave IPython's own lines out."""
    source = _of_python(source, say)
    if is_python(source):  # where % is an operator, whatever line it begins
        return source
    magic = _CELL_MAGIC.match(source)
    if magic:
        say(magic[1].count("\n") + 1, f"as the cell takes IPython: %%{magic[2]}")
        return ""
    lines = source.split("\n")
    for index, line in enumerate(lines):
        own = _LINE_MAGIC.match(line)
        if own is not None:
            say(index + 1, f"as it takes IPython: {line.strip()}")
            lines[index] = f"{own[1]}pass"  # which may be all there is of a block
    return "\n".join(lines)


def is_python(source: str) -> bool:
    """Whether a cell is plain Python, which may await at its top."""
    try:
        compile(source, "", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return False
    return True


def _of_python(source: str, say: Say) -> str:
    """A cell without the magic that is for all of it, if the rest is Python all the same."""
    magic = _CELL_MAGIC.match(source)
    if magic is None or magic[2] not in _AROUND_PYTHON:
        return source
    what = f"as the cell is Python all the same: %%{magic[2]}"
    say(magic[1].count("\n") + 1, what)
    return f"{magic[1]}pass{source[magic.end() :]}"


_CELL_MAGIC = re.compile(r"(\s*)%%(\w+).*")
_EMPTY_LINE = re.compile(r"\A[ \t]*\n")
_LINE_MAGIC = re.compile(r"(\s*)(?:%|!|\?|(?:[\w.]+\s*=\s*[%!])|[\w.]+\?{1,2}\s*$)")
_AROUND_PYTHON = frozenset({"time", "timeit", "capture", "prun"})
