"""Reports for the terminal: the most consequential lines first, within two screens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from promoarray.console import counted, folded, listed, visible, wrapped
from promoarray.diagnostics.findings.causes import (
    DEFAULT,
    SharedCause,
    places_in_words,
    shared_causes,
)
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.findings.verdict import (
    AGREES,
    DIFFERS,
    INCOMPLETE,
    by_policy,
    not_examined,
    open_in_words,
    verdicts,
)
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.model.noted import Stopped
from promoarray.diagnostics.render.entries import Entry, Line, entry_of, lines_of, titled
from promoarray.diagnostics.render.words import legend, remedies, summary
from promoarray.diagnostics.spans import name_of, path_of

SCREENS = 60
"""Lines of two screens, which a report fits unless all is asked for."""

LEAST_LINES = 20
"""So many are of places in any case."""

STYLES = {"": "green", "refuse": "bold red", "bits": "bold red", "dtype": "bold red"}
"""By kind; of other kinds "yellow", as of what only inherits."""


class Page(NamedTuple):
    """Where a report is shown."""

    console: Console
    width: int

    def wrapped(self, start: Text | str, *said: tuple[str, str]) -> Iterator[Text]:
        """Yield a text behind the beginning of its line: parts with their styles."""
        line = Text() + start if isinstance(start, Text) else Text(start)
        yield from wrapped(line, Text.assemble(*said), *self)

    def folded(self, words: str, style: str) -> Iterator[Text]:
        """Yield a text whose further lines are indented."""
        yield from folded(Text(words, style), *self)


def report_lines(report: Results, console: Console, width: int) -> Iterator[Text]:
    """Yield a report as lines for the terminal."""
    page, everything = Page(console, width), report.inherited
    head = [*_stop(report, page), *_policies(report, page)]
    causes = (_cause(each, page, everything) for each in shared_causes(report).found)
    tail = [*chain.from_iterable(causes), *_end(report, page)]
    told: dict[str, str] = {}
    lines = lines_of(report, everything=everything)
    blocks = [
        [*([Text(title, "bold")] if title else []), *_line(line, page, told)]
        for title, line in titled(lines)
    ]
    room = max(SCREENS - len(head) - len(tail), LEAST_LINES)
    shown = len(blocks) if everything else _fitting(blocks, room)
    yield from head
    yield from chain.from_iterable(blocks[:shown])
    if lines[shown:]:
        yield from page.folded(_more(lines[shown:]), "bold")
    yield from tail


def _fitting(blocks: list[list[Text]], room: int) -> int:
    """How many blocks there is room for, the first in any case."""
    shown = 0
    for block in blocks:
        room -= len(block)
        if shown and room < 0:
            break
        shown += 1
    return shown


def _more(lines: list[Line]) -> str:
    kinds = Counter(each.kinds[0] for each in lines)
    unknown = "unknown after a refusal"
    words = {kind: KINDS[kind].left_out if kind in KINDS else unknown for kind in kinds}
    of = [f"{n} {words[kind]}" for kind, n in kinds.items()]
    verb = "is" if len(lines) == 1 else "are"
    return f"{counted(len(lines), 'more line')} {verb} not shown: {listed(of)} (--all shows them)."


# -- what each policy asks for --------------------------------------------------------------------


def _policies(report: Results, page: Page) -> Iterator[Text]:
    """Say what each policy asks for, those together that ask for the same."""
    told = policies_in_words(report)
    if len(told) == 1 and len(told[0][0]) == 1 and told[0][2]:
        same = f"To run the same under {told[0][0][0]} as under {report.run.name}"
        yield from page.wrapped("", (same, "bold"))
    longest = max((len(names[0]) for names, *_ in told if len(names) == 1), default=0)
    for names, words, _ in told:
        if len(names) == 1:
            start = Text(f"{names[0]:<{longest}}  ", "bold")
            yield from page.wrapped(start, (words, ""))
        else:
            yield from folded(Text.assemble((", ".join(names), "bold"), f"  {words}"), *page)


def policies_in_words(report: Results) -> list[tuple[list[str], str, bool]]:
    """Return what policies ask for in words, with the names of those that ask for the same, and
    whether that is an edit; those with the most root causes first."""
    if not report.operations and not report.places:
        return []
    states = {each.policy: each for each in verdicts(report)}
    said = {each.state for each in states.values()}
    if said == {AGREES} or said == {INCOMPLETE}:
        return []  # as the summary says
    found: dict[tuple[str, bool], list[str]] = {}
    for each in by_policy(report):
        verdict = states[each.policy]
        some = bool(each.roots or each.values)
        words = each.words() if some else _NO_ROOTS if verdict.state == DIFFERS else verdict.words()
        found.setdefault((visible(words), some), []).append(visible(each.policy))
    return [(names, words, some) for (words, some), names in found.items()]


_NO_ROOTS = "no root causes; what is found is below"


# -- what stopped the program ---------------------------------------------------------------------


def _stop(report: Results, page: Page) -> Iterator[Text]:
    stopped: Stopped | None = report.stopped
    if stopped is None:
        return
    yield from page.wrapped("", (visible(stopped.headline), "bold red"))
    if stopped.refused is None:
        if stopped.site:
            yield from page.wrapped("    ", (visible(stopped.site.text), "bold"))
        yield from page.wrapped("    ", (visible(stopped.error), ""))
    else:
        place = stopped.refused.place
        yield from _line(Line(place.program, [entry_of(place)]), page, {})
    for word, what in remedies(report, stopped):
        yield from page.wrapped(Text(f"    {word:<12}", "green"), (visible(what), ""))


# -- a line of the program ------------------------------------------------------------------------


def _line(line: Line, page: Page, told: dict[str, str]) -> Iterator[Text]:
    """Say what is said of a line. ``told`` has where each reason was quoted, to which further ones
    refer; it is added to."""
    alone = len(line.entries) == 1 and _same(line.entries[0], line)
    path = Text(f"{path_of(line.site)}  ", "bold cyan")
    if not alone:
        yield from page.wrapped(path, (line.text, "bold"))
    said = "" if alone else line.text
    for entry in line.entries:
        head = path if alone else Text("  ")
        if (entry.site.file, entry.site.line) != line.at:
            head = Text.assemble(head, (f"{path_of(entry.site)}  ", "cyan"))
        expression = "" if entry.text == said else f"{entry.text}  "
        said = entry.text
        yield from page.wrapped(head, (expression, "bold"), (entry.heading, "dim"))
        yield from _entry(entry, page, told)


def _same(entry: Entry, line: Line) -> bool:
    """Whether an entry is its line, or one of its expressions."""
    same_text = (entry.site.file, entry.site.line, entry.text) == (*line.at, line.text)
    return entry.site == line.site or same_text


def _entry(entry: Entry, page: Page, told: dict[str, str]) -> Iterator[Text]:
    at = name_of(entry.site)
    for row in entry.rows:
        style = "yellow" if row.inherited else STYLES.get(row.kind, "yellow")
        start = Text(f"    {row.answer:<11} ", style)
        names = ", ".join(row.policies)
        more = ["(inherited)"] * row.inherited
        more += filter(None, [_reason(row.reason, at, told)])
        rest = "".join(f"  {words}" for words in more)
        yield from page.wrapped(start, (names, ""), (rest if names else rest.lstrip(), "dim"))
    for edit, of in entry.edits.items():
        those = "" if entry.policies <= {*of} else f"  for {', '.join(of)}"
        yield from page.wrapped(Text("    write       ", "green"), (edit, ""), (those, "dim"))


def _reason(reason: str, at: str, told: dict[str, str]) -> str:
    """A reason, or where it was told."""
    if not reason or reason not in told:
        told[reason] = at
        return reason
    return "as above" if told[reason] == at else f"as at {told[reason]}"


# -- the rest -------------------------------------------------------------------------------------


def _cause(cause: SharedCause, page: Page, everything: bool) -> Iterator[Text]:
    """Say a cause that many places share in one line; with all, its edits too."""
    start = Text(f"{counted(len(cause.places), 'line')}  ", "bold cyan")
    what = f"{visible(cause.what)} ({', '.join(map(visible, cause.policies))})"
    yield from page.wrapped(start, (what, ""))
    at = visible(places_in_words(cause.places))
    yield from page.wrapped("    at          ", (at, ""))
    edits = [(site, edit) for site, edit in sorted(cause.edits.items()) if edit]
    if cause.kind != DEFAULT or not everything or len(edits) < 2:
        yield from page.wrapped(Text("    write       ", "green"), (visible(cause.write), ""))
        return
    for n, (site, edit) in enumerate(edits):
        label = "" if n else "write"
        start = Text(f"    {label:<12}", "green")
        yield from page.wrapped(start, (f"{name_of(site)}  {visible(edit)}", ""))


def _end(report: Results, page: Page) -> Iterator[Text]:
    """Yield the counts, what was not examined, and the words that are used."""
    counts = summary(report)
    if counts:
        yield from page.folded(visible(counts), "bold")
    every = [*not_examined(report)]
    unseen = open_in_words(every, most=len(every) if report.inherited else 0)
    if unseen:
        yield from page.folded(visible(unseen), "")
    for words in legend(report, inherited=report.inherited):
        yield from page.folded(words, "dim")
