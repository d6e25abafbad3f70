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
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any, NamedTuple

from promoarray.diagnostics.run.ending import shorten
from promoarray.diagnostics.run.magics import Say, skipping, translator

COMMAND = "from promoarray.diagnostics.run import notebook; notebook.main()"
"""What ``python -c`` runs; the notebook and its arguments follow."""

Compile = Callable[[str, str, int], CodeType]
"""Makes code of a source, its file, and the flags of ``compile``."""


class Cell(NamedTuple):
    """A code cell.

    Attributes
    ----------
    file : str
        What stands for a file: the notebook, and the cell's number in brackets.
    source : str
    """

    file: str
    source: str


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
        rest = "\n".join(text for file, text in texts.items() if file != cell.file)
        lines = f"{texts[cell.file]}\n{rest}".splitlines(keepends=True)
        # Without a time of change, checkcache() leaves it alone.
        linecache.cache[cell.file] = (len(cell.source), None, lines, cell.file)


def _as_python(source: str) -> str:
    """Return the text of a cell with the lines that are no Python as comments."""
    given = source.split("\n")
    left = skipping(source, lambda line, what: None).split("\n")
    left += [""] * (len(given) - len(left))
    pairs = zip(given, left, strict=True)
    return "\n".join(line if line == of else f"{line}  # {of.strip()}" for of, line in pairs)


def main(compiled: Compile | None = None) -> None:
    """Run the notebook that the command line names, in the process that was started for it.

    Parameters
    ----------
    compiled : callable, optional
        What compiles the cells, if not Python itself.
    """
    _, path, *arguments = sys.argv
    sys.argv = [path, *arguments]
    every = cells(path)
    keep_sources(every)
    names = vars(sys.modules["__main__"])
    names.pop("notebook", None)
    os.chdir(Path(path).resolve().parent)  # where Jupyter runs it
    translate = translator(names)
    for cell in every:
        source = translate(cell.source, _saying(cell))
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        _run(cell, partial(compiled or _compiled, source, cell.file, flags), names)


def _compiled(source: str, file: str, flags: int) -> CodeType:
    code: CodeType = compile(source, file, "exec", flags, dont_inherit=True)
    return code


def _run(cell: Cell, code: Callable[[], CodeType], names: dict[str, Any]) -> None:
    """Run one cell; an error that leaves it is shown from its line on.

    ``code`` compiles it.
    """
    try:
        made = eval(code(), names)
        if inspect.iscoroutine(made):
            import asyncio  # takes long, and few notebooks need it

            asyncio.run(_awaited(made))
    except Exception as error:
        sys.excepthook = _from_cell(_from_file(error.__traceback__, cell.file))
        raise


def _from_cell(inside: TracebackType | None) -> Callable[..., None]:
    """``sys.excepthook`` of an error in a cell, whose lines are in no file."""
    short = sys.excepthook is not sys.__excepthook__

    def hook(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        error.__traceback__ = inside
        if short:
            shorten(error)
        traceback.print_exception(error)

    return hook


async def _awaited(made: Any) -> None:
    await made


def _from_file(entry: TracebackType | None, file: str) -> TracebackType | None:
    """The part of a traceback from a file on; None if it never came there, as a syntax error."""
    while entry is not None and entry.tb_frame.f_code.co_filename != file:
        entry = entry.tb_next
    return entry


def _saying(cell: Cell) -> Say:
    """What says on standard error that a line of a cell is skipped."""

    def say(line: int, what: str) -> None:
        print(f"{os.path.basename(cell.file)}:{line}: skipped, {what}", file=sys.stderr)

    return say
