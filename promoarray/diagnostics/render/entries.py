"""Entries of a report by line of the program: the same for the terminal, a notebook and a page.

All text of a program (names, source, messages) is made visible here, once for every renderer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from promoarray.console import visible
from promoarray.core.call_site import Site
from promoarray.diagnostics.findings.causes import reached, shared_causes
from promoarray.diagnostics.findings.results import (
    Finding,
    Results,
    edits_in,
    of_divergence,
    spelled,
    statements,
)
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.kinds import KINDS, UNKNOWN
from promoarray.diagnostics.spans import text_at

RANK = {kind: rank for rank, kind in enumerate([*KINDS, UNKNOWN])}
"""The order of kinds: refusals first, then values, then dtypes."""

OF_DTYPES = ("refuse", "dtype", UNKNOWN)
"""The kinds of which the run, and the policies that agree with it, have an answer."""


@dataclass
class Row:
    """What some policies say of an operation."""

    kind: str
    answer: str  # the dtype; else what it is, in a word
    policies: list[str]  # None where it is the same under all
    reason: str = ""
    inherited: bool = False


@dataclass
class Entry:
    """An operation of a line, in all of its passes with one result in the run."""

    site: Site
    # how it is written with the operands' dtypes: with those of every pass
    operations: list[str] = field(default_factory=list)
    count: int = 0  # how often it was passed
    # the run's answer, if it has one, and those that agree, first
    rows: list[Row] = field(default_factory=list)
    # from each edit to the policies that it is for
    edits: dict[str, list[str]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The expression."""
        return text_at(self.site)

    @property
    def heading(self) -> str:
        """The operation with its operands' dtypes, and how often it was passed."""
        said = " or ".join(self.operations)
        times = f"×{self.count}" if self.count > 1 else ""
        return "  ".join(filter(None, (f"[{said}]" if said else "", times)))

    @property
    def inherited(self) -> bool:
        """Whether only the operands differ, because of an earlier line."""
        return all(row.inherited for row in self.rows if row.kind)

    @property
    def policies(self) -> set[str]:
        """The policies that differ here for the first time."""
        return {p for row in self.rows if row.kind and not row.inherited for p in row.policies}


@dataclass
class Line:
    """A line of the program, with what is said of it."""

    site: Site
    entries: list[Entry]  # those first that were carried out first: they feed the others

    @property
    def at(self) -> tuple[str, int]:
        """File and line."""
        return self.site.file, self.site.line

    @property
    def text(self) -> str:
        """The source."""
        return visible(self.site.text)

    @property
    def kinds(self) -> list[str]:
        """The kinds of what does not only inherit, the most consequential first."""
        rows = [row for each in self.entries for row in each.rows if row.kind]
        own = {row.kind for row in rows if not row.inherited} or {row.kind for row in rows}
        return sorted(own, key=RANK.__getitem__)


def lines_of(report: Results, *, everything: bool = False) -> list[Line]:
    """Return what a report says, a line of the program each, the most consequential first.

    Refusals come first, then other values, then other dtypes. Lines of one kind are ordered by
    how many later places depend on them (``causes.reached``), then by how many policies differ.
    ``everything`` has what only inherits, too, and where each shared cause shows.
    """
    told_once = set() if everything else _of_shared_causes(report)
    names = [policy.name for policy in report.policies]
    by_line: dict[tuple[str, int], list[Finding]] = {}
    for each in statements(report):
        if each.policy != each.under:  # the stop is apart
            by_line.setdefault((each.place.file, each.place.line), []).append(each)
    lines = []
    for found in by_line.values():
        shown = [e for e in found if everything or not (e.inherited or _key(e) in told_once)]
        if shown:
            under = shown[0].under
            asked = [name for name in names if report.is_asked(name, under)]
            lines.append(_line(shown, found, asked))
    return _ordered(lines, report)


def titled(lines: Iterable[Line]) -> Iterator[tuple[str, Line]]:
    """Yield lines with what stands above them: the heading of a kind that is only noted above its
    first line."""
    before = ""
    for line in lines:
        kind = line.kinds[0]
        noted = kind != before and kind in KINDS and KINDS[kind].level == "note"
        yield KINDS[kind].heading if noted else "", line
        before = kind


def _of_shared_causes(report: Results) -> set[tuple[object, ...]]:
    shared = shared_causes(report)
    places = ((d, each) for d in report.divergences for each in of_divergence(d))
    return {_key(each) for d, each in places if shared.has(d, each.policy)}


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.place, finding.inside, finding.operation, finding.operands, finding.policy


def _line(shown: list[Finding], every: list[Finding], policies: list[str]) -> Line:
    """The line of some findings; of those that are not shown the policies do not agree either."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for each in shown:
        groups.setdefault(_operation_of(each), []).append(each)
    entries = [
        _entry(found, {e.policy for e in every if _operation_of(e) == at}, policies)
        for at, found in groups.items()
    ]
    return Line(shown[0].place, entries)


def _operation_of(finding: Finding) -> tuple[object, ...]:
    kind = "" if finding.kind in OF_DTYPES else finding.kind
    return finding.place, finding.inside, kind, finding.operation, finding.run


def _entry(shown: list[Finding], differ: set[str], policies: list[str]) -> Entry:
    first = shown[0]
    entry = Entry(first.inside or first.place)
    entry.count = sum({(each.operands, each.what): each.count for each in shown}.values())
    entry.operations = [*dict.fromkeys(visible(e.what) for e in shown if e.what != e.source)]
    if first.kind in OF_DTYPES:
        agree = [name for name in policies if name not in differ and name != first.under]
        run = [f"{visible(first.under)} (the run)", *map(visible, agree)]
        entry.rows.append(Row("", first.run or "refuses", run))
    rows: dict[tuple[object, ...], Row] = {}
    for each in shown:
        answer = _WORDS.get(each.kind) or visible(each.answer)
        reason, alike = visible(each.reason), _HERE.sub("", visible(each.reason))
        plain = reason if len(entry.operations) < 2 else alike
        made = Row(each.kind, answer, [], plain, each.inherited)
        row = rows.setdefault((each.kind, answer, alike, each.inherited), made)
        if each.policy and visible(each.policy) not in row.policies:
            row.policies.append(visible(each.policy))
    entry.rows += rows.values()
    for edit, names in edits_in(shown).items():
        entry.edits[visible(edit)] = [*map(visible, names)]
    return entry


_HERE = re.compile(r" \(here [\w ]+(\[\])?\)$")
"""The dtype that a reason is about."""

_WORDS = {
    "refuse": "refuses",
    "bits": "values",
    "signature": "not taken",
    "escape": "leaves",
    UNKNOWN: "unknown",
}


def _ordered(lines: list[Line], report: Results) -> list[Line]:
    if len(lines) < 2:
        return lines
    feeds = reached(report.divergences)

    def key(line: Line) -> tuple[object, ...]:
        policies = {name for entry in line.entries for name in entry.policies}
        return RANK[line.kinds[0]], -feeds[line.at], -len(policies), line.at

    return sorted(lines, key=key)


def entry_of(place: Divergence) -> Entry:
    """Return the operation that stopped a run: what each policy says of it."""
    rows: dict[tuple[str, str], Row] = {}
    run = next(iter(place.answers))
    for name, answer in place.answers.items():
        says, reason = str(answer), visible(answer.reason)
        kind = "refuse" if answer.dtype is None else ""
        row = rows.setdefault((says, reason), Row(kind, says, [], reason))
        row.policies.append(f"{visible(name)}{' (the run)' * (name == run)}")
    return Entry(place.site, [visible(spelled(place))], place.count, [*rows.values()])
