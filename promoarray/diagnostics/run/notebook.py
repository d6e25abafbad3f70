"""Running a notebook as a program: its code cells in order, in one namespace.

A notebook is JSON, of which nothing but the code cells is read; no library of Jupyter's is needed.
Each cell is a file of its own for tracebacks and reports, ``analysis.ipynb[3]``, numbered as
Jupyter numbers them when all are run.
"""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

Compile = Callable[..., CodeType]
"""Makes code of a source, its file, and the flags of ``compile``."""


class Cell(NamedTuple):
    """A code cell."""

    file: str  # what stands for a file: the notebook, and the cell's number in brackets
    source: str


def is_notebook(path: str) -> bool:
    """Return whether the name of a file says that it is a notebook."""
    return path.endswith(".ipynb") and os.path.isfile(path)


def cells(path: str) -> list[Cell]:
    """Return the code cells of a notebook, but for those that are empty.

    Raises
    ------
    OSError
        If the file cannot be read, or is not a notebook of code cells in Python.
    """
    try:
        read: Any = json.loads(Path(path).read_text(encoding="utf-8"))
        language = read.get("metadata", {}).get("kernelspec", {}).get("language", "python")
        # Before version 4 of the format the cells lay in worksheets, and their text was "input".
        every = read["cells"] if "worksheets" not in read else read["worksheets"][0]["cells"]
        texts = [
            "".join(cell.get("source", cell.get("input", "")))
            for cell in every
            if cell["cell_type"] == "code"
        ]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise OSError(f"{path} is not a notebook ({why})") from None
    if language.lower() not in ("python", "python3"):
        raise OSError(f"{path} is a notebook of {language}, not of Python")
    written = filter(str.strip, texts)
    return [Cell(f"{path}[{number}]", text) for number, text in enumerate(written, 1)]


def keep_sources(every: list[Cell]) -> None:
    """Have tracebacks and reports find the cells' text.

    Behind each cell lie the lines of the others: what a name is imported as stands in one of them.
    All of it can be read as Python.
    """
    texts = {cell.file: _as_python(cell.source) for cell in every}
    for cell in every:
        order = [cell.file, *(file for file in texts if file != cell.file)]
        lines = "\n".join(texts[file] for file in order).splitlines(keepends=True)
        _order[cell.file] = [(file, texts[file].count("\n") + 1) for file in order]
        # Without a time of change, checkcache() leaves it alone.
        linecache.cache[cell.file] = (len(cell.source), None, lines, cell.file)


_order: dict[str, list[tuple[str, int]]] = {}
"""The cells whose lines lie behind each other in what is kept of each, with how many they have."""


def own_line(file: str, line: int) -> tuple[str, int]:
    """Return the cell, or other file, that a line of what is kept of one stands in, and where."""
    for cell, count in _order.get(file, ()):
        if line <= count:
            return cell, line
        line -= count
    return file, line


def _as_python(source: str) -> str:
    """Return the text of a cell with the lines that are no Python as comments."""
    given = source.split("\n")
    left = skipping(source, lambda line, what: None).split("\n")
    left += [""] * (len(given) - len(left))
    pairs = zip(given, left, strict=True)
    return "\n".join(line if line == of else f"{line}  # {of.strip()}" for of, line in pairs)


def compiled(source: str | bytes, file: str, flags: int = 0) -> CodeType:
    """Compile a program as Python does."""
    code: CodeType = compile(source, file, "exec", flags, dont_inherit=True)
    return code


def run(path: str, names: dict[str, Any], compiled: Compile) -> None:
    """Run the cells of a notebook in the folder where Jupyter runs it."""
    every = cells(path)
    keep_sources(every)
    os.chdir(Path(path).resolve().parent)
    translate = translator(names)
    for cell in every:

        def say(line: int, what: str, file: str = os.path.basename(cell.file)) -> None:
            print(f"{file}:{line}: skipped, {what}", file=sys.stderr)

        source = translate(cell.source, say)
        made = eval(compiled(source, cell.file, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
        if inspect.iscoroutine(made):
            import asyncio  # takes long, and few notebooks need it

            asyncio.run(made)


# -- lines that are IPython's own --------------------------------------------------------------


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
    # Of Jupyter's shells, ``%matplotlib inline`` asks for a window's loop: there is none.
    without_loop: Any = {"enable_gui": lambda shell, gui=None: None}
    kind: Any = type("Shell", (ipython.InteractiveShell,), without_loop)
    shell = kind.instance(user_ns=names)
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
