"""Where in the user's program an operation stands."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType

_PACKAGE = str(Path(__file__).parent) + os.sep


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A place in a source file.

    Attributes
    ----------
    file : str
    line : int
    column : int
        Where the expression begins, from 0; -1 where the code does not say.
    text : str
        The source of the line.
    expression : str
        The source of the expression, in one line.
    """

    file: str
    line: int
    column: int
    text: str
    expression: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}"


def here() -> Site:
    """Return the innermost place outside promoarray."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return Site("<unknown>", 0, -1, "", "")
    # Code objects of two files are equal if their text is, so the file has to be in the key.
    return _site(frame.f_code.co_filename, frame.f_code, frame.f_lasti, frame.f_lineno)


@lru_cache(maxsize=4096)
def _site(file: str, code: CodeType, instruction: int, lineno: int) -> Site:
    positions = list(code.co_positions())[instruction // 2]
    first, last, column, end = positions
    text = linecache.getline(file, lineno).strip()
    if first is None or last is None or column is None or end is None:
        return Site(file, lineno, -1, text, text)
    return Site(file, first, column, text, _segment(file, first, last, column, end) or text)


def _segment(file: str, first: int, last: int, column: int, end: int) -> str:
    lines = [linecache.getline(file, n) for n in range(first, last + 1)]
    if not all(lines):
        return ""
    # Columns are in bytes of UTF-8.
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][column:]
    # In brackets the lines may end in comments and be indented as they like.
    segment = "\n".join(part.decode() for part in raw)
    try:
        return ast.unparse(ast.parse(f"({segment}\n)", mode="eval"))
    except SyntaxError:  # an augmented assignment is no expression
        return " ".join(segment.split())
