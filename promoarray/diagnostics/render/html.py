"""Reports as HTML: a page with the source of the program, and the part that a notebook shows."""

from __future__ import annotations

import linecache
import os
import platform
import time
from collections.abc import Iterable
from html import escape
from itertools import groupby

from promoarray import pages
from promoarray.console import counted, visible
from promoarray.core.call_site import shortened
from promoarray.diagnostics.findings.causes import shared_causes
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.findings.verdict import not_examined, open_in_words
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.render.entries import Entry, Line, Row, entry_of, lines_of, titled
from promoarray.diagnostics.render.text import policies_in_words
from promoarray.diagnostics.render.words import legend, remedies, summary
from promoarray.diagnostics.spans import name_of, path_of

AROUND = 3
"""Lines that are shown before and after one at which something was found."""

SHORT = 6
"""Fewer lines than this between those are not folded."""

_RUN = " (the run)"
_KEYS = "Keys: n and p go to the next line that has findings, and the one before."
_ESCAPES = (
    "Data leaves the policy: what is computed there follows the rules of the library that took "
    "the data, not the policy's."
)


def report_page(report: Results, extra: str = "", command: str = "") -> str:
    """Return a report as one self-contained page; ``extra`` comes after the source, ``command`` is
    how it was made."""
    lines = _with_stop(report, lines_of(report, everything=True))
    words = [*legend(report, inherited=True), *([_ESCAPES] if report.escapes else [])]
    foot = "".join(map(_paragraph, [*words, _KEYS])) if lines else ""
    body = (
        f"{_facts(command)}{_head(report, lines_of(report), page=True)}{_filters(lines)}"
        f"{_listings(lines)}{extra}<footer>{foot}</footer>"
    )
    title = f"Where the policies differ from {report.run.name}"
    return pages.page(title, body, styles=("report.css",), scripts=("report.js",))


def report_part(report: Results) -> str:
    """Return a report as a part of a page: what matters first, what only inherits folded."""
    shown, every = lines_of(report), lines_of(report, everything=True)
    known = {each.at for each in shown}
    rest = [each for each in every if each.at not in known]
    more = f"{counted(len(rest), 'more line')}: what only inherits, or shares a cause"
    folded = f"<details><summary>{more}</summary>{_table(rest)}</details>" if rest else ""
    words = "".join(map(_paragraph, legend(report, inherited=False)))
    return f"{_head(report, shown, page=False)}{_table(shown)}{folded}{words}"


# -- what stands above the lines ------------------------------------------------------------------


def _head(report: Results, first: list[Line], *, page: bool) -> str:
    """What stopped the program, where to begin, the counts, and what each policy asks for.

    A page has the answers of what stopped at its line, and lets a policy be chosen.
    """
    said = [each.words() for each in shared_causes(report).found]
    said += filter(None, [open_in_words([*not_examined(report)])])
    return (
        f"{_stopped(report, answers=not page)}{_first_edit(first)}<p>{prose(summary(report))}</p>"
        f"{_policies(report, choose=page)}{''.join(f'<p>{prose(words)}</p>' for words in said)}"
    )


def _with_stop(report: Results, lines: list[Line]) -> list[Line]:
    """Put the operation that stopped the run to its line."""
    place = report.stopped and report.stopped.refused and report.stopped.refused.place
    if not place:
        return lines
    stop = Line(place.program, [entry_of(place)])
    for line in lines:
        if line.at == stop.at:
            line.entries[:0] = stop.entries
            return lines
    return [stop, *lines]


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


def _policies(report: Results, *, choose: bool) -> str:
    def name_cell(name: str) -> str:
        shown = escape(name)
        return f'<button type="button" data-choose="{shown}">{shown}</button>' if choose else shown

    rows = "".join(
        f"<tr><td>{name_cell(name)}</td><td>{prose(words)}</td></tr>"
        for names, words, _ in policies_in_words(report)
        for name in names
    )
    return f'<div class="scroll"><table class="policies list">{rows}</table></div>' if rows else ""


def _filters(lines: list[Line]) -> str:
    """The form that chooses what is shown; each kind with how many findings are of it."""
    if not lines:
        return ""
    entries = [entry for line in lines for entry in line.entries]
    rows = [row for each in entries for row in each.rows]
    names = dict.fromkeys(name.removesuffix(_RUN) for row in rows for name in row.policies)
    options = "".join(f"<option>{escape(name)}</option>" for name in names)
    boxes = []
    for kind, words in KINDS.items():
        of_kind = (any(row.kind == kind for row in e.rows) for e in entries if not e.inherited)
        box = f'name="kind" value="{kind}" checked> {words.heading}'
        boxes.append((box, sum(of_kind)))
    inherited = sum(each.inherited for each in entries)
    boxes.append(('id="inherited"> places that only inherit', inherited))
    shown = "".join(
        f'<label><input type="checkbox" {box} <span class="quiet">{count}</span></label>'
        for box, count in boxes
        if count
    )
    return (
        '<form id="filters" onsubmit="return false"><label>Policy <select id="policy">'
        f'<option value="">all</option>{options}</select></label>{shown}'
        '<span id="shown" aria-live="polite"></span></form>'
    )


# -- the source, with what is said of each line below it ------------------------------------------


def _listings(lines: list[Line]) -> str:
    """The listing of each file, the one with the most to change first."""
    by_file: dict[str, list[Line]] = {}
    for each in lines:
        by_file.setdefault(each.site.file, []).append(each)
    listed = [
        (sum(not entry.inherited for each in found for entry in each.entries), _listing(n, found))
        for n, found in enumerate(by_file.values())
    ]
    return "".join(html for _, html in sorted(listed, key=lambda each: -each[0]))


def _listing(file: int, found: list[Line]) -> str:
    at = {each.site.line: each for each in found}
    source = _source(at)
    near = {n + k for n in at for k in range(-AROUND, AROUND + 1)}
    parts: list[str] = []
    for shown, run in groupby(sorted(source), near.__contains__):
        numbers = [*run]
        lines = "".join(_line(file, n, source[n], at.get(n)) for n in numbers)
        folded = f"<summary>lines {numbers[0]} to {numbers[-1]}</summary>"
        whole = shown or len(numbers) < SHORT
        parts.append(lines if whole else f"<details>{folded}{lines}</details>")
    path = path_of(found[0].site).rpartition(":")[0]
    listing = f'<div class="listing">{"".join(parts)}</div>'
    return f"<section><h2>{escape(path)}</h2>{listing}</section>"


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
    return dict(enumerate(_highlighted([visible(line.expandtabs()) for line in lines]), 1))


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


def _line(file: int, number: int, source: str, found: Line | None) -> str:
    name = f"F{file}L{number}" if file else f"L{number}"
    marked, said = "", ""
    if found:
        inherits = all(each.inherited for each in found.entries)
        marked = f" marked of-{'inherits' if inherits else found.kinds[0]}"
        said = "".join(_entry(each, found) for each in found.entries)
    return (
        f'<div class="line{marked}" id="{name}"><a href="#{name}" aria-label="line {number}">'
        f"{number}</a><code>{source or ' '}</code></div>{said}"
    )


def _table(lines: Iterable[Line]) -> str:
    """The lines of a program, each with its place."""
    rows = ""
    for title, line in titled(lines):
        rows += f'<tr><td colspan="2"><b>{title}</b></td></tr>' if title else ""
        entries = "".join(map(_entry, line.entries))
        rows += f"<tr><td>{escape(path_of(line.site))}</td><td>{entries}</td></tr>"
    return f'<table class="divergences">{rows}</table>' if rows else ""


def _entry(entry: Entry, line: Line | None = None) -> str:
    """An operation with what is said of it, for below its line."""
    inherits = " inherits" if entry.inherited else ""
    of = f' <span class="quiet">{escape(entry.heading)}</span>'
    inside = (
        _small(f"in {path_of(entry.site)}") if line and entry.site.file != line.site.file else ""
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
        f"{told}{_small(row.reason)}</div>"
    )


def _small(text: str) -> str:
    return f" <small>{prose(text)}</small>" if text else ""  # a notebook may show no styles


def _paragraph(text: str) -> str:
    return f"<p>{_small(text)}</p>"


def prose(text: str) -> str:
    """Return words with what may be a program's: what stands between backticks is code."""
    return pages.prose(visible(text))


def _plain(text: str) -> str:
    return escape(visible(text))
