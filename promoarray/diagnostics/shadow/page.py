"""A report as one page: a summary by policy, the program's source with the remarks, the rest."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from promoarray import pages
from promoarray.diagnostics.shadow.listing import listings
from promoarray.diagnostics.shadow.remarks import KINDS, Remark

_KEYS = (
    "<p><small>Keys: n and p go to the next line that has findings, and the one before.</small></p>"
)


@dataclass(frozen=True)
class Overview:
    """What a page says before it shows the source.

    Attributes
    ----------
    title, summary : str
    policies : list of (str, str)
        Each policy and what it asks of the program, in words.
    legend : list of str
    command : str
        How the report was made; "" if it was not by a command.
    stopped : str
        HTML: what stopped the program; "" if it ran to its end.
    shared : list of str
        The root causes that several places have in common.
    """

    title: str
    summary: str
    policies: Sequence[tuple[str, str]]
    legend: Sequence[str]
    command: str = ""
    stopped: str = ""
    shared: Sequence[str] = ()


def report_page(overview: Overview, remarks: Sequence[Remark], extra: str) -> str:
    """Return a self-contained page.

    Parameters
    ----------
    overview : Overview
    remarks : sequence of Remark
    extra : str
        HTML that comes after the source.
    """
    listed = listings(remarks)
    files = "".join(
        f"<section><h2>{escape(each.path)}</h2>{each.html}</section>" for each in listed
    )
    legend = "".join(f"<p><small>{pages.prose(line)}</small></p>" for line in overview.legend)
    shared = "".join(f"<p>{pages.prose(words)}</p>" for words in overview.shared)
    body = (
        f"{_facts(overview.command)}{overview.stopped}<p>{pages.prose(overview.summary)}</p>"
        f"{_policies(overview.policies)}{shared}{_filters(remarks)}{files}{extra}"
        f"<footer>{legend if remarks else ''}{_KEYS if remarks else ''}</footer>"
    )
    return pages.page(overview.title, body, styles=("report.css",), scripts=("report.js",))


def _facts(command: str) -> str:
    """How and when the report was made."""
    from importlib.metadata import version  # takes long to import, and is for pages alone

    epoch = os.environ.get("SOURCE_DATE_EPOCH")  # of builds that can be repeated
    made = time.gmtime(int(epoch) if epoch else None)
    facts = [
        f"<code>{escape(command)}</code>" if command else "",
        f"promoarray {escape(version('promoarray'))}, Python {platform.python_version()}",
        time.strftime("%Y-%m-%d %H:%M UTC", made),
    ]
    return f'<p class="quiet facts">{" · ".join(filter(None, facts))}</p>'


def _policies(policies: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f'<tr><td><button type="button" data-choose="{escape(name)}">{escape(name)}</button></td>'
        f"<td>{pages.prose(words)}</td></tr>"
        for name, words in policies
    )
    return f'<div class="scroll"><table class="policies list">{rows}</table></div>' if rows else ""


def _filters(remarks: Sequence[Remark]) -> str:
    """The form that chooses what is shown; each kind with how many remarks are of it."""
    if not remarks:
        return ""
    names = dict.fromkeys(n for each in remarks for said in each.said for n in said.policies)
    options = "".join(f"<option>{escape(name)}</option>" for name in names)
    inherited = sum(each.inherited for each in remarks)
    boxes = [
        f'<label><input type="checkbox" name="kind" value="{kind}" checked> {words}'
        f' <span class="quiet">{count}</span></label>'
        for kind, words, count in _kinds(remarks)
    ]
    if inherited:
        boxes.append(
            '<label><input type="checkbox" id="inherited"> places that only inherit'
            f' <span class="quiet">{inherited}</span></label>'
        )
    return (
        '<form id="filters" onsubmit="return false"><label>Policy <select id="policy">'
        f'<option value="">all</option>{options}</select></label>{"".join(boxes)}'
        '<span id="shown" aria-live="polite"></span></form>'
    )


def _kinds(remarks: Sequence[Remark]) -> Iterator[tuple[str, str, int]]:
    for kind, words in KINDS.items():
        own = [each for each in remarks if not each.inherited]
        count = sum(any(said.kind == kind for said in each.said) for each in own)
        if count:
            yield kind, words, count
