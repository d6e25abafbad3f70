"""The sections of a trace on data that left the policy: arrays, then single numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from promoarray.console import visible
from promoarray.core.escape import Escape
from promoarray.diagnostics.model.escapes import Row, rows, worded
from promoarray.diagnostics.model.places import name_of, path_of
from promoarray.diagnostics.render.words import TITLES

if TYPE_CHECKING:
    from rich.text import Text

NUMBERS = "Scalars converted to Python"
LEGEND = (
    "What is computed there follows the rules of the library that took the data, not the policy's."
)


def lines(counts: Counter[Escape]) -> Iterator[Text]:
    """Yield escapes as lines for the terminal: arrays under a title, then numbers."""
    from rich.text import Text

    for title, found in _sections(counts):
        yield Text(title, "bold")
        site = None
        for row in found:
            if row[0].site != site:
                site = row[0].site
                source = visible(site.expression or site.text)
                yield Text.assemble((path_of(site), "bold cyan"), (f"  {source}", "bold"))
            yield Text(f"    {visible(worded(row))}")


def html(counts: Counter[Escape]) -> str:
    """Return escapes as sections of a page; "" if there are none."""
    head = "<tr><th>place</th><th>source</th><th>what left</th></tr>"
    return "".join(
        f"<h2>{title}</h2><p>{LEGEND}</p><table>{head}{''.join(map(_row, found))}</table>"
        for title, found in _sections(counts)
    )


def _sections(counts: Counter[Escape]) -> Iterator[tuple[str, list[Row]]]:
    every = [*rows(counts)]
    for title, scalar in ((TITLES["escape"], False), (NUMBERS, True)):
        found = [row for row in every if row[0].scalar is scalar]
        if found:
            yield title, found


def _row(row: Row) -> str:
    site = row[0].site
    source = escape(visible(site.expression or site.text))
    place, what = escape(name_of(site)), escape(visible(worded(row)))
    return f"<tr><td>{place}</td><td><code>{source}</code></td><td>{what}</td></tr>"
