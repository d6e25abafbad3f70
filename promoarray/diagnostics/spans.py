"""Place of an expression in its file, from its first character to behind its last."""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import re
import sys
from typing import Any, NamedTuple

from promoarray.console import visible
from promoarray.core.call_site import Site, is_library, shortened


def called_from(site: Site, program: Site) -> dict[str, Any] | None:
    """Return the line of the program that led to a library's, as data; None if it is that line."""
    if program == site:
        return None
    return located(program, "expression")


def located(site: Site, *names: str) -> dict[str, Any]:
    """Return a place as data: file, line, and what else is named."""
    own = {"column": site.column, "source": site.text, "expression": site.expression}
    return {"file": site.file, "line": site.line} | {name: own[name] for name in names}


class Span(NamedTuple):
    """A part of a file; lines and columns from 1, in characters, the end column behind the last."""

    file: str
    line: int  # 0 if the line is not known
    # 0 where only the line is known
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @property
    def whole(self) -> bool:
        """Whether the end is known."""
        return self.end_line > 0

    def text(self) -> str:
        """Return what stands there; "" if the end is not known."""
        lines = linecache.getlines(self.file)[self.line - 1 : self.end_line]
        if not self.whole or len(lines) <= self.end_line - self.line:
            return ""
        lines[-1] = lines[-1][: self.end_column - 1]
        lines[0] = lines[0][self.column - 1 :]
        return "".join(lines)


def span_of(site: Site) -> Span:
    """Return where the expression of a place stands.

    It has the line alone, where the code does not say the column, and no end, where the file does
    not read so any more.
    """
    if site.column < 0 or site.line < 1:
        return Span(site.file, max(site.line, 0))
    start = Span(site.file, site.line, _column(site.file, site.line, site.column))
    if not site.extent:
        return start
    *_, end_line, end = site.extent
    whole = start._replace(end_line=end_line, end_column=_column(site.file, end_line, end))
    return whole if _reads(whole.text(), site) else start


def _reads(text: str, site: Site) -> bool:
    """Whether a text is the expression that a place quotes."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        text = ast.unparse(ast.parse(f"({text}\n)", mode="eval"))  # else it is quoted as written
    return shortened(" ".join(text.split())) == " ".join(site.expression.split())


def _column(file: str, line: int, offset: int) -> int:
    """The column of an offset in bytes of UTF-8."""
    before = linecache.getline(file, line).encode(errors="replace")[:offset]
    return len(before.decode(errors="replace")) + 1


def exported_from(stack: str) -> Site | None:
    """Return the innermost line of a stack that is no library's; None if there is none."""
    found = [*_FRAME.finditer(stack)]
    own = [each for each in found if not is_library(each[1]) and "/torch/" not in each[1]]
    if not own:
        return None
    file, line, text = own[-1].groups()
    text = shortened(text.strip())
    return Site(file, int(line), -1, text, text)


def frames_of(stack: str) -> list[tuple[str, int]]:
    """Return the lines of a stack, the innermost last."""
    return [(each[1], int(each[2])) for each in _FRAME.finditer(stack)]


_FRAME = re.compile(r'File "([^"\n]+)", line (\d{1,9})(?:, in [^\n]*)?\n?([^\n]*)')


def base_folder() -> str:
    """Return the folder that the paths of reports for other tools begin at.

    That is the repository's in a job of GitHub Actions, where it holds the current one; else the
    current one.
    """
    here, workspace = os.path.realpath(os.getcwd()), os.environ.get("GITHUB_WORKSPACE")
    if not workspace:
        return here
    root = os.path.realpath(workspace)
    return root if f"{here}{os.sep}".startswith(f"{root.rstrip(os.sep)}{os.sep}") else here


def relative(file: str, folder: str) -> str:
    """Return a file's path from a folder on, with slashes; what is no file keeps its name."""
    if file.startswith("<"):
        return file
    try:
        return os.path.relpath(os.path.realpath(file), folder).replace(os.sep, "/")
    except ValueError:  # of another drive
        return file.replace(os.sep, "/")


_INSTALLED = re.compile(r".*[\\/](?:site|dist)-packages[\\/]")
_RUN = {"<string>": "a text given to exec or eval"}
"""Names of files that Python gives to code of no file, and what that is."""
_CELL = re.compile(r"<ipython-input-(\d+)-\w+>")


def path_of(site: Site) -> str:
    """Return file and line: the file from the current folder on, a cell as ``In [4]:3``, an
    installed library from its own folder on."""
    cell = _cell(site.file)
    return f"{cell}:{site.line}" if cell else visible(_INSTALLED.sub("", site.path))


def name_of(site: Site) -> str:
    """Return the file's own name and line: "train.py:12"."""
    cell = _cell(site.file)
    return f"{cell}:{site.line}" if cell else visible(str(site))


def text_at(site: Site) -> str:
    """Return the source at a place, or what stands there for it where no file has it."""
    return visible(site.expression or site.text or _RUN.get(site.file, ""))


def _cell(file: str) -> str:
    """The cell that a file of IPython's stands for, with its number; "" of another file."""
    match = _CELL.fullmatch(file)
    if match:
        return f"In [{match[1]}]"
    number = _numbers().get(file)
    return f"In [{number}]" if isinstance(number, int) else ""


def _numbers() -> dict[str, Any]:
    """From the file of each cell to its number, as IPython has them; it is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    found = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return found if isinstance(found, dict) else {}
