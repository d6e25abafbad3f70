"""Summary of what each policy asks of a program, in a line."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import realpath
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.console import counted, listed
from promoarray.diagnostics.findings.causes import SharedCauses, first_of, shared_causes
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.final import FinalDType
from promoarray.diagnostics.model.places import name_of
from promoarray.diagnostics.model.unknown import settled_finals

if TYPE_CHECKING:
    from promoarray.diagnostics.findings.results import Results

MOST_NAMES = 3
"""So many final globals are named, the last to be set first."""

MOST_LINES = 30
"""So many numbers of lines, which are two or three lines themselves."""


class PolicySummary(NamedTuple):
    """What a policy asks of a program.

    Attributes
    ----------
    policy : str
    roots, refused : int
        Its root causes, and how many of them it refuses.
    casts : int
        The root causes that have an edit in the program's own source.
    lines : tuple of int
        Where to make them.
    places : tuple of str
        The same, with their files: "train.py:12".
    made : int
        How many of the edits ask for a dtype where an array is made; the others are casts.
    inside : int
        How many of the root causes stand in a library, whose lines are not the user's to edit.
    finals : tuple of FinalDType
        The globals that end with another dtype under it, the last to be set first.
    shared : int
        How many of the root causes have several lines in common.
    elsewhere : bool
        Whether the lines stand in another file than the one that the program was started as.
    values : int
        How many casts give other values under it.
    """

    policy: str
    roots: int
    refused: int
    casts: int
    lines: tuple[int, ...]
    places: tuple[str, ...] = ()
    made: int = 0
    inside: int = 0
    finals: tuple[FinalDType, ...] = ()
    shared: int = 0
    elsewhere: bool = False
    values: int = 0

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
    fixes = {
        (d.site, d.name, answer.fix): d.program
        for d, answer in edited
        if answer.fix is not None and d.program == d.site  # a library's lines are not the user's
    }
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
