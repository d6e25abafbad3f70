"""The report of a check as HTML: a page of its own, and the part that a notebook shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from promoarray import pages
from promoarray.console import visible
from promoarray.diagnostics.check.told import Told
from promoarray.diagnostics.spans import path_of

TITLE = "Where numbers were lost"


def page(told: Sequence[Told], said: Sequence[str], command: str = "") -> str:
    """Return findings, and what is said besides, as one self-contained page; ``command`` says how
    it was made."""
    made = f"<p><code>{_shown(command)}</code></p>" if command else ""
    return pages.page(TITLE, made + part(told, said), styles=("report.css",))


def part(told: Sequence[Told], said: Sequence[str]) -> str:
    """Return the same as a part of a page."""
    body = "".join(
        f"<h2>{_shown(path)}</h2><pre><code>{_shown(line)}</code></pre>{''.join(map(_told, found))}"
        for (path, line), found in groupby(told, _line)
    )
    return body + "".join(f"<p>{_shown(words)}</p>" for words in said)


def _line(told: Told) -> tuple[str, str]:
    site = told.place.program
    return path_of(site), site.text


def _told(told: Told) -> str:
    rows = "\n".join(map(_shown, _rest(told)))
    return (
        f"<p><strong>{told.place.kind}</strong> {_shown(told.words)}</p>"
        f"{f'<pre>{rows}</pre>' if rows else ''}"
    )


def _rest(told: Told) -> Iterator[str]:
    """The operands with their origins, and the edit: lines of the report behind the first two."""
    yield from (line.removeprefix("    ") for line in [*told.text(quiet=True)][1:])


def _shown(text: str) -> str:
    return escape(visible(text))
