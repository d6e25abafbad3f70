"""How reports reach a reader: through rich in a terminal, as plain text in a pipe, as HTML.

rich is imported when something is shown, never before: importing it costs more than promoarray.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from io import StringIO
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 100
"""Columns for prose where there is no terminal to ask."""

UNBOUNDED = 10_000


def console(file: IO[str] | None = None) -> Console:
    """Return a console: coloured in a terminal, without any escape codes elsewhere."""
    from rich.console import Console

    made = Console(file=file, highlight=False, emoji=False)
    if made.no_color or not made.is_terminal:
        width = made.width if made.is_terminal or "COLUMNS" in os.environ else PIPE_WIDTH
        made = Console(
            file=file, highlight=False, emoji=False, color_system=None, markup=True, width=width
        )
    return made


def show(renderable: Any, file: IO[str] | None = None) -> None:
    """Print a table as wide as it needs: a terminal may fold its lines, but no cell is cut."""
    from rich.measure import Measurement

    target = console(file)
    unbounded = target.options.update(width=UNBOUNDED)
    wanted = Measurement.get(target, unbounded, renderable).maximum
    target.width = max(target.width, wanted)
    target.print(renderable)


def counted(number: int, what: str) -> str:
    """Return "1 place", "2 places"."""
    return f"{number} {what}{'s' * (number != 1)}"


def listed(words: Iterable[str]) -> str:
    """Return "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def plain(renderable: Any) -> str:
    """Return what rich makes of something, without colours."""
    from rich.console import Console

    out = StringIO()
    made = Console(file=out, highlight=False, emoji=False, color_system=None, width=PIPE_WIDTH)
    made.print(renderable)
    return out.getvalue().rstrip("\n")


def text(renderable: Any) -> str:
    """Return what rich makes of something for standard output: coloured only if that is."""
    target = console()
    with target.capture() as captured:
        target.print(renderable)
    return captured.get().rstrip("\n")


_CELL = 'style="text-align:left;vertical-align:top;padding:2px 10px"'


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an HTML table of plain texts."""
    head = "".join(f"<th {_CELL}>{escape(c)}</th>" for c in header)
    body = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{escape(c)}</td>" for c in row) + "</tr>" for row in rows
    )
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>'
