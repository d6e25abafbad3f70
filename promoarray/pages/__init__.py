"""Templates of the HTML that reports and pages are made of, with their styles and scripts.

A *page* is one file that needs nothing else; a *fragment* is what a notebook shows. Both have the
same styles, which follow the reader's light or dark mode. The files beside this one are the
templates: ``shared.css`` is everybody's, what belongs to one page is named after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain, repeat


@cache
def read(name: str) -> str:
    """Return the text of a file of this room."""
    from importlib.resources import files  # milliseconds that only notebooks and pages need

    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def page(title: str, body: str, *, styles: Sequence[str] = (), scripts: Sequence[str] = ()) -> str:
    """Return a self-contained page.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML; what it shows of others is escaped already.
    styles, scripts : sequence of str
        Files of this room, besides ``shared.css``.
    """
    from html import escape
    from string import Template

    return Template(read("page.html")).substitute(
        title=escape(title),
        style="\n".join(map(read, ("shared.css", *styles))),
        body=body,
        script="\n".join(f"<script>\n{read(name)}</script>" for name in scripts),
    )


def fragment(title: str, body: str) -> str:
    """Return what a notebook shows: a title, the body, and the styles of both."""
    from html import escape

    style = f"<style>{read('shared.css')}</style>"
    return f'<div class="promoarray">{style}<b>{escape(title)}</b>{body}</div>'


def prose(text: str) -> str:
    """Return words as HTML: what stands between backticks is code.

    Examples
    --------
    >>> prose("`a < b` is float32")
    '<code>a &lt; b</code> is float32'
    """
    import re
    from html import escape

    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, stacked: bool = False) -> str:
    """Return an HTML table of plain texts.

    Parameters
    ----------
    header : sequence of str
        None is shown where all are empty.
    rows : iterable of sequences of str
    stacked : bool
        Whether on a narrow screen the cells of a row stand below each other, and counts behind
        what they count: no matrix may.
    """
    from html import escape

    head = "".join(f"<th>{escape(c)}</th>" for c in header)

    def cell(name: str, text: str) -> str:
        told = f' data-head="{escape(name)}"' if stacked and text.isdigit() else ""
        return f"<td{told}>{escape(text)}</td>"

    # A row may end before the header does, or go on after it.
    cells = ("".join(map(cell, chain(header, repeat("")), row)) for row in rows)
    body = "".join(f"<tr>{each}</tr>" for each in cells)
    head = f'<tr class="head">{head}</tr>' if any(header) else ""
    kind = ' class="list"' if stacked else ""
    return f'<div class="scroll"><table{kind}>{head}{body}</table></div>'
