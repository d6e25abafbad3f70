"""The verdict of each policy on a program: it differs, it agrees, or the answer is incomplete.

A policy agrees if it gives the dtypes of everything in the program, and the values that its casts
keep, all of which was examined. Whatever was not examined leaves the answer incomplete, by name
and line. What kernels make of the same dtypes is no part of it, such as last bits of ``atan2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os.path import realpath
from typing import Any, NamedTuple

from promoarray.console import counted, listed
from promoarray.core.call_site import Site
from promoarray.diagnostics.findings.causes import SharedCauses, first_of, shared_causes
from promoarray.diagnostics.findings.results import Results, findings
from promoarray.diagnostics.model.divergence import Divergence, settled_finals
from promoarray.diagnostics.model.final import FinalDType
from promoarray.diagnostics.model.kinds import DIFFERENCES
from promoarray.diagnostics.model.noted import NotExamined, behind_the_stop
from promoarray.diagnostics.spans import name_of

DIFFERS, AGREES, INCOMPLETE = "differs", "agrees", "incomplete"

MOST_NAMED = 8
"""So many things that were not examined are named in a sentence; the data has all."""


class Verdict(NamedTuple):
    """What a comparison says of a policy."""

    policy: str
    state: str  # ``"differs"``, ``"agrees"`` or ``"incomplete"``
    examined: int  # operations that were compared
    open: tuple[NotExamined, ...] = ()  # what else the program did
    whose: str = "the program"  # whose operations they all are

    def words(self) -> str:
        """The verdict in words; of one that differs the summary of the policy says more."""
        done = counted(self.examined, "operation")
        if self.state == AGREES:
            return f"agrees in dtypes and cast values: {done} examined, all of {self.whose}"
        if self.state == INCOMPLETE:
            return f"incomplete: no difference in the {done} examined"
        return DIFFERS

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "policy": self.policy,
            "verdict": self.state,
            "examined": self.examined,
            "not_examined": [each.to_dict() for each in self.open],
        }


def verdicts(report: Results) -> list[Verdict]:
    """Return the verdict of each policy that was asked, but for that of the run."""
    differ = {each.policy for each in findings(report) if each.kind in DIFFERENCES}
    every = tuple(not_examined(report))
    return [
        _verdict(policy.name, policy.name in differ, report.asked_about(policy.name), every)
        for policy in report.policies
        if policy.name != report.run.name
    ]


def _verdict(
    name: str, differs: bool, asked: tuple[int, str], every: tuple[NotExamined, ...]
) -> Verdict:
    examined, whose = asked
    left = tuple(each for each in every if not each.policies or name in each.policies)
    state = DIFFERS if differs else INCOMPLETE if left or not examined else AGREES
    return Verdict(name, state, examined, left, whose)


def not_examined(report: Results) -> Iterator[NotExamined]:
    """Yield what the program did, or may have done, that no policy was asked about."""
    if report.stopped:
        yield behind_the_stop(report.stopped.site)
    asked = {policy.name for policy in report.policies}
    of_lines: dict[tuple[str, ...], tuple[NotExamined, int]] = {}
    for each, count in sorted(report.unexamined.items(), key=_by_place):
        key = *_by_place((each, count)), *each.policies
        first, before = of_lines.get(key, (each, 0))  # of several places in a line
        of_lines[key] = first, before + count
    for each, count in of_lines.values():
        policies = tuple(name for name in each.policies if name in asked)
        if policies or not each.policies:  # of a saved run those of others were noted, too
            yield replace(each, count=count, policies=policies)
    named = {each.what.rpartition(".")[2] for each in report.unexamined}
    for (kind, name), count in sorted(getattr(report, "calls", {}).items()):
        if kind in OPEN_CALLS and name.rpartition(".")[2] not in named:
            yield NotExamined(name, OPEN_CALLS[kind], count=count)
    yield from _unanswered(report)
    for escape, count in sorted([*report.escapes.items()]):
        if not escape.scalar:
            to = f" to {escape.consumer}" if escape.consumer else ""
            what = f"{escape.dtype} array{to}", _LEFT
            yield NotExamined(*what, escape.inside, escape.site, count=count)
    if report.uncomputed:
        yield NotExamined("values of lazy arrays", _LAZY, count=report.uncomputed)
    if report.assumed:
        names = tuple(sorted(report.assumed))
        yield NotExamined("the value of a lazy 0-d array", _LAZY, policies=names)
    if report.max_sites_reached:
        yield NotExamined(f"places beyond the limit of {report.max_sites}", "the limit was reached")


def _unanswered(report: Results) -> Iterator[NotExamined]:
    """Yield the calls of which frameworks were not asked, each with the policies."""
    policies: dict[tuple[str, str, Site | None], list[str]] = {}
    for each in report.unanswered:
        policies.setdefault((each.what, each.why, each.program), []).extend(each.policies)
    for (what, why, program), names in sorted(policies.items(), key=lambda item: str(item[0])):
        yield NotExamined(what, why, None, program, tuple(sorted({*names})))


OPEN_CALLS = {
    "unknown": "the call is not understood",
    "unseen": "no Python function is called there",
    "autocast": "autocast casts its operands by lists of its own",
}
"""Why no policy is asked about recorded calls of some kinds."""

_LEFT = "another library's rules decide from there on"
_LAZY = "they are not computed for a report"


def _by_place(item: tuple[NotExamined, int]) -> tuple[str, ...]:
    each = item[0]
    return each.where, each.what, each.why


def open_in_words(every: tuple[NotExamined, ...] | list[NotExamined], *, most: int = 0) -> str:
    """Say what was not examined, each reason once; "" of nothing."""
    by_reason: dict[str, list[str]] = {}
    for each in every:
        of = f"; {listed(each.policies)}" if each.policies else ""
        by_reason.setdefault(f"{each.why}{of}", []).append(str(each))
    most = most or MOST_NAMED
    parts = [f"{listed(names, most=most)} ({why})" for why, names in by_reason.items()]
    return f"Not examined: {'; '.join(parts)}." if parts else ""


MOST_NAMES = 3
"""So many final globals are named, the last to be set first."""

MOST_LINES = 30
"""So many numbers of lines, which are two or three lines themselves."""


class PolicySummary(NamedTuple):
    """What a policy asks of a program."""

    policy: str
    # its root causes, and how many of them it refuses
    roots: int
    refused: int
    casts: int  # the root causes that have an edit in the program's own source
    lines: tuple[int, ...]  # where to make them
    places: tuple[str, ...] = ()  # the same, with their files: "train.py:12"
    # how many of the edits ask for a dtype where an array is made; the others are casts
    made: int = 0
    # how many of the root causes stand in a library, whose lines are not the user's to edit
    inside: int = 0
    # the globals that end with another dtype under it, the last to be set first
    finals: tuple[FinalDType, ...] = ()
    shared: int = 0  # how many of the root causes have several lines in common
    # whether the lines stand in another file than the one that the program was started as
    elsewhere: bool = False
    values: int = 0  # how many casts give other values under it

    def words(self) -> str:
        """The numbers in words."""
        return "; ".join(self._parts())

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        data = self._asdict()
        return data | {"finals": [each.to_dict(self.policy) for each in self.finals]}

    def _parts(self) -> Iterator[str]:
        said = [counted(self.roots, "root cause")] if self.roots or not self.values else []
        said += [f"{self.refused} of them refused"] if self.refused else []
        said += [f"{self.inside} inside libraries"] if self.inside else []
        said += [f"{self.shared} of several lines"] if self.shared else []
        if said:
            yield ", ".join(said)
        if self.values:
            yield f"{counted(self.values, 'cast')} with other values"
        if self.casts:
            casts, made = self.casts - self.made, self.made
            what = [counted(casts, "cast")] if casts else []
            what += [f"{made} dtype="] if made else []
            yield f"{' and '.join(what)} to insert ({self._where()})"
        if self.finals:
            yield f"final {self._ends()}"

    def _ends(self) -> str:
        """The globals that are named, those together that become the same."""
        alike: dict[str, list[str]] = {}
        for each in self.finals[:MOST_NAMES]:
            alike.setdefault(each.becomes(self.policy), []).append(f"`{each.name}`")
        more = len(self.finals) - MOST_NAMES
        named = [f"{listed(names)} {becomes}" for becomes, names in alike.items()]
        return listed([*named, *([f"{more} more"] if more > 0 else [])])

    def _where(self) -> str:
        files = {place.rpartition(":")[0] for place in self.places}
        if len(files) > 1 or self.elsewhere:
            return first_of(self.places)
        listed_lines = first_of([*map(str, self.lines)], MOST_LINES)
        return f"line{'s' if len(self.lines) > 1 else ''} {listed_lines}"


def place_of(divergence: Divergence) -> tuple[object, ...]:
    """Return what is counted once: an operation of an expression, of whatever dtypes."""
    return divergence.shown_at, divergence.name


def _edit_at(place: Divergence, fix: Any) -> tuple[Site, str, Any]:
    """What is counted once: of several operations of a library the cast of what it is given."""
    if place.program == place.site:
        return place.site, place.name, fix
    return place.program, "", fix._replace(operation="")


def by_policy(report: Results) -> list[PolicySummary]:
    """Return what each policy asks for, but that of the run; those with the most root causes
    first."""
    names = [policy.name for policy in report.policies if policy.name != report.run.name]
    shared = shared_causes(report)
    # Of a program that stopped they are not the final ones.
    finals = () if report.stopped else settled_finals(report.finals, report.divergences)
    found = [summary_of(report, name, shared, finals) for name in names]
    return sorted(found, key=lambda each: (-each.roots, -each.values))


def root_causes(report: Results) -> int:
    """Count the root causes: the shared ones, and each place that has its own."""
    shared = shared_causes(report)
    own = {place_of(d) for d in report.divergences if shared.leaves_root(d)}
    return len(shared.found) + len(own)


def summary_of(
    report: Results, policy: str, shared: SharedCauses, finals: tuple[FinalDType, ...]
) -> PolicySummary:
    """Count what a policy asks for, with the shared causes and the final globals of the report."""
    answers = [(d, d.answers[policy]) for d in report.divergences if policy in d.answers]
    roots = [(d, a) for d, a in answers if a.origin == "root" and not shared.has(d, policy)]
    edited = roots + [(d, a) for d, a in answers if shared.edited_at_each(d, policy)]
    of_many = [cause for cause in shared.found if policy in cause.policies]
    causes = {place_of(d): d for d, _ in roots}
    fixes = {_edit_at(d, answer.fix): d.program for d, answer in edited if answer.fix is not None}
    sites = {(site.file, site.line): site for site in fixes.values()}
    at = sorted(sites)
    changes = (tuple(change.differences.values()) for change in report.value_changes)
    script = report.script and realpath(report.script)
    return PolicySummary(
        policy,
        len(causes) + len(of_many),
        len({place_of(d) for d, answer in roots if answer.dtype is None}),
        len({(site, name) for site, name, _ in fixes}),
        tuple(dict.fromkeys(line for _, line in at)),
        tuple(name_of(sites[each]) for each in at),
        len({(site, name) for site, name, fix in fixes if fix.made is not None}),
        sum(d.program != d.site for d in causes.values()),
        tuple(each for each in reversed(finals) if policy in each.others),
        sum(len(cause.places) > 1 for cause in of_many),
        bool(script) and any(realpath(file) != script for file, _ in sites),
        sum(any(policy in each.policies for each in change) for change in changes),
    )
