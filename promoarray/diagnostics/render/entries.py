"""What a report says, by line of the program: the same for the terminal, a notebook and a page.

All text of a program (names, source, messages) is made visible here, once for every renderer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promoarray.console import visible
from promoarray.core.call_site import Site
from promoarray.diagnostics.findings.causes import shared_causes
from promoarray.diagnostics.findings.dataflow import reached
from promoarray.diagnostics.findings.finding import Finding, of_divergence, spelled, statements
from promoarray.diagnostics.model.kinds import KINDS, UNKNOWN

if TYPE_CHECKING:
    from promoarray.diagnostics.findings.results import Results
    from promoarray.diagnostics.model.divergence import Divergence

RANK = {kind: rank for rank, kind in enumerate([*KINDS, UNKNOWN])}
"""The order of kinds: refusals first, then values, then dtypes."""

OF_DTYPES = ("refuse", "dtype", UNKNOWN)
"""The kinds of which the run, and the policies that agree with it, have an answer."""


@dataclass
class Row:
    """What some policies say of an operation.

    Attributes
    ----------
    kind : str
    answer : str
        The dtype; else what it is, in a word.
    policies : list of str
        None where it is the same under all.
    reason : str
    inherited : bool
    """

    kind: str
    answer: str
    policies: list[str]
    reason: str = ""
    inherited: bool = False


@dataclass
class Entry:
    """An operation of a line, in all of its passes with one result in the run.

    Attributes
    ----------
    site : Site
    text : str
        The expression.
    operations : list of str
        How it is written with the operands' dtypes: with those of every pass.
    count : int
        How often it was passed.
    rows : list of Row
        The run's answer, if it has one, and those that agree, first.
    edits : dict
        From each edit to the policies that it is for.
    """

    site: Site
    text: str
    operations: list[str] = field(default_factory=list)
    count: int = 0
    rows: list[Row] = field(default_factory=list)
    edits: dict[str, list[str]] = field(default_factory=dict)

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
    """A line of the program, with what is said of it.

    Attributes
    ----------
    site : Site
    text : str
    entries : list of Entry
        Those first that were carried out first: they feed the others.
    """

    site: Site
    text: str
    entries: list[Entry]

    @property
    def kinds(self) -> list[str]:
        """The kinds of what does not only inherit, the most consequential first."""
        rows = [row for each in self.entries for row in each.rows if row.kind]
        own = {row.kind for row in rows if not row.inherited} or {row.kind for row in rows}
        return sorted(own, key=RANK.__getitem__)


def lines_of(report: Results, *, everything: bool = False) -> list[Line]:
    """Return what a report says, a line of the program each, the most consequential first.

    Refusals come first, then other values, then other dtypes. Lines of one kind are ordered by
    how many later places depend on them (``reach.py``), then by how many policies differ.

    Parameters
    ----------
    report : Results
    everything : bool
        Whether to say what only inherits, too, and where each shared cause shows.
    """
    told_once = () if everything else _of_shared_causes(report)

    def shown(each: Finding) -> bool:
        return everything or not (each.inherited or _key(each) in told_once)

    names = [policy.name for policy in report.policies]
    said = (each for each in statements(report) if each.policy != each.under)  # the stop is apart
    return _ordered(grouped(said, shown, names), report)


def grouped(
    said: Iterable[Finding],
    shown: Callable[[Finding], bool] = lambda each: True,
    policies: Sequence[str] = (),
) -> list[Line]:
    """Return statements by line of the program.

    Parameters
    ----------
    said : iterable of Finding
    shown : callable
        Tells which of them are shown; of those that are not their policies do not agree either.
    policies : sequence of str
        Those that were asked.
    """
    by_line: dict[tuple[str, int], list[Finding]] = {}
    for each in said:
        by_line.setdefault((each.place.file, each.place.line), []).append(each)
    left = ((found, [*filter(shown, found)]) for found in by_line.values())
    return [_line(found, those, policies) for found, those in left if those]


def _of_shared_causes(report: Results) -> set[tuple[object, ...]]:
    shared = shared_causes(report)
    places = ((d, each) for d in report.divergences for each in of_divergence(d))
    return {_key(each) for d, each in places if shared.has(d, each.policy)}


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.place, finding.inside, finding.operation, finding.operands, finding.policy


def _line(every: list[Finding], shown: list[Finding], policies: Sequence[str]) -> Line:
    place = shown[0].place
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for each in shown:
        groups.setdefault(_operation_of(each), []).append(each)
    entries = [
        _entry(found, [e for e in every if _operation_of(e) == at], policies)
        for at, found in groups.items()
    ]
    return Line(place, visible(place.text), entries)


def _operation_of(finding: Finding) -> tuple[object, ...]:
    kind = "" if finding.kind in OF_DTYPES else finding.kind
    return finding.place, finding.inside, kind, finding.operation, finding.run


def _entry(shown: list[Finding], every: list[Finding], policies: Sequence[str]) -> Entry:
    first = shown[0]
    site = first.inside or first.place
    entry = Entry(site, visible(site.expression or site.text))
    passes = {(each.operands, each.what): each.count for each in shown}
    entry.count = sum(passes.values())
    source = first.source
    entry.operations = [*dict.fromkeys(visible(e.what) for e in shown if e.what != source)]
    if first.kind in OF_DTYPES:
        differ = {each.policy for each in every}
        agree = [name for name in policies if name not in differ and name != first.under]
        run = [f"{visible(first.under)} (the run)", *map(visible, agree)]
        entry.rows.append(Row("", first.run or "refuses", run))
    rows: dict[tuple[object, ...], Row] = {}
    for each in shown:
        answer, reason = _says(each), visible(each.reason)
        plain = reason if len(entry.operations) < 2 else _HERE.sub("", reason)
        key = each.kind, answer, _HERE.sub("", reason), each.inherited
        row = rows.setdefault(key, Row(each.kind, answer, [], plain, each.inherited))
        if each.policy and visible(each.policy) not in row.policies:
            row.policies.append(visible(each.policy))
        written = visible(each.edit or each.remedy)
        if written and visible(each.policy) not in entry.edits.setdefault(written, []):
            entry.edits[written].append(visible(each.policy))
    entry.rows += rows.values()
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


def _says(finding: Finding) -> str:
    return _WORDS.get(finding.kind) or visible(finding.answer)


def _ordered(lines: list[Line], report: Results) -> list[Line]:
    if len(lines) < 2:
        return lines
    dependents = reached(report.divergences)
    feeds: dict[tuple[str, int], int] = {}
    for each in report.divergences:
        at = each.program.file, each.program.line
        feeds[at] = feeds.get(at, 0) + dependents.get(each.key, 0)

    def key(line: Line) -> tuple[object, ...]:
        at = line.site.file, line.site.line
        policies = {name for entry in line.entries for name in entry.policies}
        return RANK[line.kinds[0]], -feeds.get(at, 0), -len(policies), at

    return sorted(lines, key=key)


def entry_of(place: Divergence) -> Entry:
    """Return the operation that stopped a run: what each policy says of it."""
    entry = Entry(place.site, visible(place.site.expression or place.site.text))
    entry.operations, entry.count = [visible(spelled(place))], place.count
    rows: dict[tuple[str, str], Row] = {}
    run = next(iter(place.answers))
    for name, answer in place.answers.items():
        says, reason = str(answer), visible(answer.reason)
        kind = "refuse" if answer.dtype is None else ""
        row = rows.setdefault((says, reason), Row(kind, says, [], reason))
        row.policies.append(f"{visible(name)}{' (the run)' * (name == run)}")
    entry.rows = [*rows.values()]
    return entry


def heading(entry: Entry) -> str:
    """Return the operation of an entry with its operands' dtypes, and how often it was passed."""
    said = " or ".join(entry.operations)
    times = f"×{entry.count}" if entry.count > 1 else ""
    return "  ".join(filter(None, (f"[{said}]" if said else "", times)))
