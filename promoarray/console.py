"""Reports for a reader: through rich in a terminal, as plain text in a pipe, as HTML.

rich is imported when something is shown, never before: importing it costs more than promoarray.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from promoarray import pages

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

PIPE_WIDTH = 100
"""Columns for prose where there is no terminal."""

UNBOUNDED = 10_000

ZERO_D = "[] marks a 0-d array"
"""What ``float64[]`` means, for the legends of reports."""


def console(file: IO[str] | None = None) -> Console:
    """Return a console: coloured in a terminal, without any escape codes elsewhere."""
    from rich.console import Console

    made = Console(file=file, highlight=False, emoji=False)
    if made.no_color or not made.is_terminal:
        width = made.width if made.is_terminal or "COLUMNS" in os.environ else PIPE_WIDTH
        made = Console(
            file=file,
            highlight=False,
            emoji=False,
            color_system=None,
            width=width,
            force_terminal=made.is_terminal,
            force_jupyter=False,  # rich would display an empty output beside what is captured
        )
    return made


def show(renderable: Any, file: IO[str] | None = None) -> None:
    """Print a table: folded to the screen, or as wide as it needs where there is none."""
    target = console(file)
    if not _has_screen(target):
        _widen(target, renderable)
    target.print(renderable)


def _has_screen(console: Console) -> bool:
    """Return whether lines have an end: in a terminal, or where ``COLUMNS`` names it."""
    return console.is_terminal or "COLUMNS" in os.environ


def _widen(target: Console, renderable: Any) -> None:
    from rich.measure import Measurement

    unbounded = target.options.update(width=UNBOUNDED)
    wanted = Measurement.get(target, unbounded, renderable).maximum
    target.width = max(target.width, wanted)


def visible(text: str) -> str:
    r"""Return a text of others with its control characters spelled as escapes.

    A terminal would obey them: move the cursor, clear the screen, turn the direction of writing.
    The blanks of every script stay, line breaks do not.

    Examples
    --------
    >>> visible("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode() for c in text)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def counted(number: int, what: str) -> str:
    """Return "1 place", "2 places"."""
    plural = "es" if what.endswith("ss") else "s"
    return f"{number} {what}{plural * (number != 1)}"


def listed(words: Iterable[str], conjunction: str = "and", most: int = 0) -> str:
    """Return "a, b and c"; of more than ``most`` "a, b and 5 more"."""
    every = [*words]
    if 0 < most < len(every):
        every[most:] = [f"{len(every) - most} more"]
    *first, last = every
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def text(renderable: Any, *, wide: bool = False) -> str:
    """Return what rich makes of something for standard output: coloured only if that is.

    ``wide`` is for tables, of which no cell is cut.
    """
    target = console()
    if wide:
        _widen(target, renderable)
    with target.capture() as captured:
        target.print(renderable, crop=False)
    return captured.get().rstrip("\n")


def wrapped(line: Text, said: Text, console: Console, width: int) -> Iterator[Text]:
    """Yield a text behind the beginning of its line, wrapped to the width and indented.

    Where the beginning leaves no room, the text follows below it.
    """
    line.no_wrap, line.overflow = True, "ignore"  # a long path stays whole
    if not len(said):
        yield line
        return
    if len(line) > width - LEAST:
        line.rstrip()
        yield line
        line = type(line)(" " * INDENT)
    for part in said.wrap(console, max(width - len(line), LEAST)):
        part.rstrip()
        yield line + part
        line = type(line)(" " * len(line))


def folded(text: Text, console: Console, width: int) -> Iterator[Text]:
    """Yield a text wrapped to the width, what follows its first line indented more."""
    indent = len(text.plain) - len(text.plain.lstrip())
    parts = text[indent:].wrap(console, max(width - indent - HANGING, LEAST))
    for n, part in enumerate(parts):
        part.rstrip()
        yield type(text)(" " * (indent + HANGING * (n > 0))) + part


LEAST, INDENT, HANGING = 24, 8, 4
"""Columns that a wrapped text has at least, its indentation below a long beginning, and that of
folded lines."""


class Matrix:
    """Table of narrow columns, in parts below each other where the screen ends; no cell is cut.

    Parameters
    ----------
    rows : sequence of sequences of str or Text
        First the head. Texts that overflow by "fold" may go on in another line where that spares
        parts.
    gap : int
        Blanks between columns.
    """

    def __init__(self, rows: Sequence[Sequence[str | Text]], gap: int = 1) -> None:
        from rich.text import Text

        made = ([x if isinstance(x, Text) else Text(visible(x)) for x in row] for row in rows)
        self.columns = list(zip(*made, strict=True))
        self.gap = gap

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        whole = sum(self._widths(whole=True))
        return Measurement(whole, min(whole, console.width) if _has_screen(console) else whole)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first, *widths = self._widths(whole=True)
        if first + sum(widths) > options.max_width:
            first, *widths = self._widths(whole=False)
        parts: list[list[int]] = [[]]
        for index, width in enumerate(widths):
            if parts[-1] and first + width + sum(widths[i] for i in parts[-1]) > options.max_width:
                parts.append([])
            parts[-1].append(index)
        for number, part in enumerate(parts):
            if number:
                yield ""
            yield self._part([(self.columns[i + 1], widths[i]) for i in part], first)

    def _part(self, columns: list[tuple[Sequence[Text], int]], first: int) -> Table:
        from rich.table import Table

        shown = Table(show_edge=False, padding=(0, self.gap, 0, 0), box=None)
        for index, (column, width) in enumerate([(self.columns[0], first), *columns]):
            style = "" if index else "bold"
            shown.add_column(column[0], width=width - self.gap, overflow="fold", style=style)
        for row in zip(self.columns[0], *(column for column, _ in columns), strict=True):
            if row[0] is not self.columns[0][0]:
                shown.add_row(*row)
        return shown

    def _widths(self, *, whole: bool) -> list[int]:
        """Columns of the screen that each of the table takes."""

        def width(cell: Text) -> int:
            words = cell.split(" ") if cell.overflow == "fold" and not whole else [cell]
            return max((word.cell_len for word in words), default=0)

        return [max(map(width, column)) + self.gap for column in self.columns]


class Printed:
    """What prints in a terminal, and can be had as data.

    A class defines ``to_dict`` and ``__rich__`` (or ``__rich_console__``); the rest is here.
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as data, which ``json`` writes."""
        raise NotImplementedError

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__


class Printable(Printed):
    """The same that shows in a notebook, too, or as a page; it has a ``headline`` and ``html``."""

    __slots__ = ()

    @property
    def headline(self) -> str:
        """What it is, in a line."""
        raise NotImplementedError

    def html(self) -> str:
        """Return it as a part of a page."""
        raise NotImplementedError

    def to_html(self, extra: str = "") -> str:
        """Return it as one self-contained page; ``extra`` is put at its end."""
        return html_page(self.headline, self.html() + extra)

    def _repr_html_(self) -> str:
        return pages.fragment(self.headline, self.html())


html_table = pages.table
html_page = pages.page
