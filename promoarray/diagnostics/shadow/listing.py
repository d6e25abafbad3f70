"""The source of a program, with what was found at its lines below them."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from promoarray.core.call_site import Site, shortened
from promoarray.diagnostics.shadow.remarks import KINDS, Remark, Said

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
        How many remarks do not only inherit.
    """

    path: str
    html: str
    roots: int


def listings(remarks: Iterable[Remark]) -> list[Listed]:
    """Return the listing of each file, the one with the most to change first."""
    by_file: dict[str, list[Remark]] = {}
    for each in remarks:
        by_file.setdefault(each.line.file, []).append(each)
    listed = [_listed(number, found) for number, found in enumerate(by_file.values())]
    return sorted(listed, key=lambda each: -each.roots)


def _listed(file: int, found: list[Remark]) -> Listed:
    at: dict[int, list[Remark]] = {}
    for each in found:
        at.setdefault(each.line.line, []).append(each)
    source = _source(found[0].line.file, {n: each[0].line for n, each in at.items()})
    parts: list[str] = []
    for shown, numbers in _stretches(sorted(source), at):
        lines = "".join(_line(file, n, source[n], at.get(n, [])) for n in numbers)
        if shown:
            parts.append(lines)
        else:
            folded = f"lines {numbers[0]} to {numbers[-1]}"
            parts.append(f"<details><summary>{folded}</summary>{lines}</details>")
    path = found[0].line.path.rpartition(":")[0]
    roots = sum(not each.inherited for each in found)
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


def _source(file: str, found: dict[int, Site]) -> dict[int, str]:
    """Return the lines of a file as HTML; of one that is not there, or has changed, those known."""
    lines = [line.rstrip("\r\n") for line in linecache.getlines(file)]
    known = all(
        n <= len(lines) and shortened(lines[n - 1].strip()) == site.text
        for n, site in found.items()
        if site.text
    )
    if not lines or not known:
        return {n: escape(site.text) for n, site in found.items()}
    return dict(enumerate(_highlighted(lines), 1))


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


def _line(file: int, number: int, source: str, found: list[Remark]) -> str:
    name = f"L{number}" if not file else f"F{file}L{number}"
    worst = _worst(found)
    marked = f' class="line marked of-{worst}"' if worst else ' class="line"'
    below = "".join(map(_remark, found))
    return (
        f'<div{marked} id="{name}"><a href="#{name}" aria-label="line {number}">{number}</a>'
        f"<code>{source or ' '}</code></div>{below}"
    )


def _worst(found: list[Remark]) -> str:
    """The most consequential kind of a line's remarks; of those that only inherit "inherits"."""
    kinds = {said.kind for each in found if not each.inherited for said in each.said}
    first = next((kind for kind in KINDS if kind in kinds), "")
    return first or ("inherits" if found else "")


def _remark(remark: Remark) -> str:
    rows = "".join(map(_said, remark.said))
    inherits = " inherits" if remark.inherited else ""
    return f'<div class="finding{inherits}"><div>{remark.head}</div>{rows}</div>'


def _said(said: Said) -> str:
    names = escape(" ".join(said.policies))
    origin = {"root": "", "edit": "edit", "inherits": "inherited"}.get(said.origin, "")
    kind = f"of-{said.kind}" if said.kind else "" if origin else "own"
    classes = " ".join(filter(None, ("said", kind, origin)))
    told = " <i>inherited</i>" if origin == "inherited" else ""
    return (
        f'<div class="{classes}" data-kind="{said.kind}" data-policies="{names}">'
        f"{said.html}{told}</div>"
    )
