"""The source of a program as HTML, with what was found at its lines below them."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import NamedTuple

from promoarray.console import visible
from promoarray.core.call_site import shortened
from promoarray.diagnostics.model.places import path_of
from promoarray.diagnostics.render.entries import Entry, Line

AROUND = 3
"""Lines that are shown before and after one at which something was found."""

SHORT = 6
"""Fewer lines than this between those are not folded."""


class Listed(NamedTuple):
    """A file's listing.

    Attributes
    ----------
    path : str
    html : str
    roots : int
        How many entries do not only inherit.
    """

    path: str
    html: str
    roots: int


Below = Callable[[Entry, Line], str]


def listings(lines: Iterable[Line], below: Below) -> list[Listed]:
    """Return the listing of each file, the one with the most to change first.

    Parameters
    ----------
    lines : iterable of Line
    below : callable
        Writes what is said of an entry of a line.
    """
    by_file: dict[str, list[Line]] = {}
    for each in lines:
        by_file.setdefault(each.site.file, []).append(each)
    listed = [_listed(number, found, below) for number, found in enumerate(by_file.values())]
    return sorted(listed, key=lambda each: -each.roots)


def _listed(file: int, found: list[Line], below: Below) -> Listed:
    at = {each.site.line: each for each in found}
    source = _source(at)
    parts: list[str] = []
    for shown, numbers in _stretches(sorted(source), at):
        lines = "".join(_line(file, n, source[n], at.get(n), below) for n in numbers)
        folded = f"<summary>lines {numbers[0]} to {numbers[-1]}</summary>"
        parts.append(lines if shown else f"<details>{folded}{lines}</details>")
    path = path_of(found[0].site).rpartition(":")[0]
    roots = sum(not entry.inherited for each in found for entry in each.entries)
    return Listed(path, f'<div class="listing">{"".join(parts)}</div>', roots)


def _stretches(lines: list[int], found: Iterable[int]) -> Iterator[tuple[bool, list[int]]]:
    """Yield runs of lines, and whether they are shown: near one at which something was found."""
    near = {n + k for n in found for k in range(-AROUND, AROUND + 1)}
    runs: list[tuple[bool, list[int]]] = []
    for n in lines:
        if not runs or runs[-1][0] != (n in near):
            runs.append((n in near, []))
        runs[-1][1].append(n)
    for shown, numbers in runs:
        yield shown or len(numbers) < SHORT, numbers


def _source(found: dict[int, Line]) -> dict[int, str]:
    """Return the lines of a file as HTML; of one that is not there, or has changed, those known."""
    file = next(iter(found.values())).site.file
    lines = [line.rstrip("\r\n") for line in linecache.getlines(file)]
    known = all(
        n <= len(lines) and shortened(lines[n - 1].strip()) == each.site.text
        for n, each in found.items()
        if each.site.text
    )
    if not lines or not known:
        return {n: escape(each.text) for n, each in found.items()}
    return dict(enumerate(_highlighted([*map(_shown, lines)]), 1))


def _shown(line: str) -> str:
    return visible(line.expandtabs())


def _highlighted(lines: list[str]) -> list[str]:
    """Return lines of Python as HTML."""
    # Pygments comes with rich, which needs it; only pages do, so it is imported here.
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    lexer = PythonLexer(stripnl=False, ensurenl=False)
    made = highlight("\n".join(lines), lexer, HtmlFormatter(nowrap=True, classprefix="s-"))
    found: list[str] = made.rstrip("\n").split("\n")
    found += [""] * (len(lines) - len(found))
    return found if len(found) == len(lines) else list(map(escape, lines))


def _line(file: int, number: int, source: str, found: Line | None, below: Below) -> str:
    name = f"L{number}" if not file else f"F{file}L{number}"
    worst = _worst(found) if found else ""
    marked = f' class="line marked of-{worst}"' if worst else ' class="line"'
    said = "".join(below(each, found) for each in found.entries) if found else ""
    return (
        f'<div{marked} id="{name}"><a href="#{name}" aria-label="line {number}">{number}</a>'
        f"<code>{source or ' '}</code></div>{said}"
    )


def _worst(line: Line) -> str:
    """The most consequential kind of a line; of one that only inherits "inherits"."""
    return "inherits" if all(each.inherited for each in line.entries) else line.kinds[0]
