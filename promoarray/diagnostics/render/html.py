"""Reports as HTML: a page with the source of the program, and the part that a notebook shows."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Iterator
from html import escape

from promoarray import pages
from promoarray.console import counted, visible
from promoarray.diagnostics.findings.causes import shared_causes
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.findings.verdict import not_examined, open_in_words
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.model.places import name_of, path_of
from promoarray.diagnostics.render.entries import Entry, Line, Row, entry_of, heading, lines_of
from promoarray.diagnostics.render.listing import listings
from promoarray.diagnostics.render.stop import remedies
from promoarray.diagnostics.render.text import policies_in_words
from promoarray.diagnostics.render.words import TITLES, legend, summary

LABELS = {"refuse": "Refused", "bits": "Other values", "dtype": "Other dtypes", **TITLES}
"""Of the boxes that choose what is shown."""

_RUN = " (the run)"
_KEYS = "Keys: n and p go to the next line that has findings, and the one before."
_ESCAPES = (
    "Data leaves the policy: what is computed there follows the rules of the library that took "
    "the data, not the policy's."
)


# -- a page ---------------------------------------------------------------------------------------


def report_page(report: Results, extra: str = "", command: str = "") -> str:
    """Return a report as one self-contained page.

    Parameters
    ----------
    report : Results
    extra : str
        HTML that comes after the source.
    command : str
        How the report was made; "" if it was not by a command.
    """
    lines, first = _with_stop(report, lines_of(report, everything=True)), lines_of(report)
    files = "".join(
        f"<section><h2>{escape(each.path)}</h2>{each.html}</section>"
        for each in listings(lines, entry_html)
    )
    words = [*legend(report.divergences, inherited=True), *([_ESCAPES] if report.escapes else [])]
    foot = [*words, _KEYS] if lines else []
    body = (
        f"{_facts(command)}{_stopped(report)}{_first_edit(first)}"
        f"<p>{prose(summary(report))}</p>{_policies(report)}{_said(report)}{_filters(lines)}"
        f"{files}{extra}<footer>{''.join(f'<p>{small(line)}</p>' for line in foot)}</footer>"
    )
    title = f"Where the policies differ from {report.run.name}"
    return pages.page(title, body, styles=("report.css",), scripts=("report.js",))


def _with_stop(report: Results, lines: list[Line]) -> list[Line]:
    """Put the operation that stopped the run to its line."""
    place = report.stopped and report.stopped.refused and report.stopped.refused.place
    if not place:
        return lines
    entry = entry_of(place)
    for line in lines:
        if (line.site.file, line.site.line) == (place.program.file, place.program.line):
            line.entries.insert(0, entry)
            return lines
    return [Line(place.program, visible(place.program.text), [entry]), *lines]


def _facts(command: str) -> str:
    """How and when the report was made."""
    from importlib.metadata import version  # takes long to import, and is for pages alone

    epoch = os.environ.get("SOURCE_DATE_EPOCH")  # of builds that can be repeated
    made = time.gmtime(int(epoch) if epoch else None)
    facts = [
        f"<code>{_plain(command)}</code>" if command else "",
        f"promoarray {escape(version('promoarray'))}, Python {platform.python_version()}",
        time.strftime("%Y-%m-%d %H:%M UTC", made),
    ]
    return f'<p class="quiet facts">{" · ".join(filter(None, facts))}</p>'


def _first_edit(lines: list[Line]) -> str:
    """The edit to begin with: of the line that matters most and has one."""
    edits = (
        (line, *edit) for line in lines for each in line.entries for edit in each.edits.items()
    )
    for line, edit, names in edits:
        write = f'<span class="write">write <code>{escape(edit)}</code></span>'
        at = f"<b>{escape(path_of(line.site))}</b>: {write} for {escape(', '.join(names))}"
        return f'<p class="first">Begin at {at}</p>'
    return ""


def _stopped(report: Results, *, answers: bool = False) -> str:
    """What stopped the program; ``answers`` tells what every policy says there."""
    stopped = report.stopped
    if stopped is None:
        return ""
    site, place = stopped.site, stopped.refused and stopped.refused.place
    said = [f"{escape(name_of(site))}: <code>{_plain(site.text)}</code>"] if site else []
    said += [] if place else [prose(stopped.error)]
    if place and answers:
        said += [_row(row) for row in entry_of(place).rows]
    for word, what in remedies(report, stopped):
        said.append(
            f"{word} <code>{_plain(what)}</code>" if word == "write" else prose(f"{word} {what}")
        )
    return f'<h2>{_plain(stopped.headline)}</h2><p class="stopped">{"<br>".join(said)}</p>'


def _policies(report: Results) -> str:
    rows = "".join(
        f'<tr><td><button type="button" data-choose="{escape(name)}">{escape(name)}</button></td>'
        f"<td>{prose(words)}</td></tr>"
        for names, words, _ in policies_in_words(report)
        for name in names
    )
    return f'<div class="scroll"><table class="policies list">{rows}</table></div>' if rows else ""


def _said(report: Results) -> str:
    """What holds for many lines, and what was not examined."""
    said = [each.words() for each in shared_causes(report).found]
    said += filter(None, [open_in_words([*not_examined(report)])])
    return "".join(f"<p>{prose(words)}</p>" for words in said)


def _filters(lines: list[Line]) -> str:
    """The form that chooses what is shown; each kind with how many findings are of it."""
    if not lines:
        return ""
    entries = [entry for line in lines for entry in line.entries]
    rows = [row for each in entries for row in each.rows]
    names = dict.fromkeys(name.removesuffix(_RUN) for row in rows for name in row.policies)
    options = "".join(f"<option>{escape(name)}</option>" for name in names)
    inherited = sum(each.inherited for each in entries)
    boxes = [
        f'<label><input type="checkbox" name="kind" value="{kind}" checked> {words}'
        f' <span class="quiet">{count}</span></label>'
        for kind, words, count in _kinds(entries)
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


def _kinds(entries: list[Entry]) -> Iterator[tuple[str, str, int]]:
    own = [each for each in entries if not each.inherited]
    for kind in KINDS:
        count = sum(any(row.kind == kind for row in each.rows) for each in own)
        if count:
            yield kind, LABELS[kind], count


# -- a part of a page -----------------------------------------------------------------------------


def report_part(report: Results) -> str:
    """Return a report as a part of a page: what matters first, what only inherits folded."""
    shown, every = lines_of(report), lines_of(report, everything=True)
    known = {(each.site.file, each.site.line) for each in shown}
    rest = [each for each in every if (each.site.file, each.site.line) not in known]
    more = f"{counted(len(rest), 'more line')}: what only inherits, or shares a cause"
    folded = f"<details><summary>{more}</summary>{_table(rest)}</details>" if rest else ""
    words = "".join(f"<p>{small(line)}</p>" for line in legend(report.divergences, inherited=False))
    return (
        f"{_stopped(report, answers=True)}{_first_edit(shown)}<p>{prose(summary(report))}</p>"
        f"{_words(report)}{_said(report)}{_table(shown)}{folded}{words}"
    )


def _words(report: Results) -> str:
    rows = "".join(
        f"<tr><td>{escape(', '.join(names))}</td><td>{prose(words)}</td></tr>"
        for names, words, _ in policies_in_words(report)
    )
    return f'<table class="policies">{rows}</table>' if rows else ""


def _table(lines: Iterable[Line]) -> str:
    """The lines of a program, each with its place."""
    rows, before = "", ""
    for line in lines:
        kind = line.kinds[0]
        if kind in TITLES and kind != before:
            rows += f'<tr><td colspan="2"><b>{TITLES[kind]}</b></td></tr>'
        before = kind
        entries = "".join(map(entry_html, line.entries))
        rows += f"<tr><td>{escape(path_of(line.site))}</td><td>{entries}</td></tr>"
    return f'<table class="divergences">{rows}</table>' if rows else ""


# -- what is said of an operation -----------------------------------------------------------------


def entry_html(entry: Entry, line: Line | None = None) -> str:
    """Return an operation with what is said of it, for below its line."""
    inherits = " inherits" if entry.inherited else ""
    of = f' <span class="quiet">{escape(heading(entry))}</span>'
    inside = (
        small(f"in {path_of(entry.site)}") if line and entry.site.file != line.site.file else ""
    )
    rows = "".join(map(_row, entry.rows)) + "".join(
        f'<div class="said edit" data-kind="" data-policies="{escape(" ".join(names))}">'
        f'<span class="write">write <code>{escape(edit)}</code></span> <span>for '
        f"{escape(', '.join(names))}</span></div>"
        for edit, names in entry.edits.items()
    )
    head = f"<code>{escape(entry.text)}</code>{of}{inside}"
    return f'<div class="finding{inherits}"><div>{head}</div>{rows}</div>'


def _row(row: Row) -> str:
    names = [name.removesuffix(_RUN) for name in row.policies]
    kind = f"of-{row.kind}" if row.kind else "own"
    classes = f"said {kind}{' inherited' * row.inherited}"
    told = " <i>inherited</i>" if row.inherited else ""
    return (
        f'<div class="{classes}" data-kind="{row.kind}" data-policies="{escape(" ".join(names))}">'
        f"<b>{escape(row.answer)}</b> <span>{escape(', '.join(row.policies))}</span>"
        f"{told}{small(row.reason)}</div>"
    )


def small(text: str) -> str:
    """Return words in small letters; "" of none."""
    return f"<small>{prose(text)}</small>" if text else ""


def prose(text: str) -> str:
    """Return words with what may be a program's: what stands between backticks is code."""
    return pages.prose(visible(text))


def _plain(text: str) -> str:
    return escape(visible(text))
