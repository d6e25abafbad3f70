"""The words of reports: findings of one place in a sentence, the legend, and titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from promoarray.console import ZERO_D, counted, listed, visible
from promoarray.diagnostics.findings.finding import Finding
from promoarray.diagnostics.findings.summary import place_of, root_causes
from promoarray.diagnostics.findings.verdict import DIFFERS, INCOMPLETE, verdicts
from promoarray.diagnostics.model.divergence import DEFAULT_DTYPE, Divergence
from promoarray.diagnostics.model.escapes import summary_of
from promoarray.diagnostics.model.places import name_of

if TYPE_CHECKING:
    from promoarray.diagnostics.findings.results import Results

Place = tuple[Finding, ...]
"""The findings of one kind at one place, of one operation."""


def by_place(findings: Iterable[Finding]) -> list[Place]:
    """Return findings that differ in policy and answer alone together."""
    places: dict[tuple[object, ...], list[Finding]] = {}
    for each in findings:
        key = each.place, each.inside, each.kind, each.root, each.operation, each.operands, each.run
        places.setdefault(key, []).append(each)
    return [tuple(place) for place in places.values()]


def message(place: Place) -> str:
    """Say what the policies make of a place, and what to write."""
    first = place[0]
    answers: dict[tuple[str, str], list[str]] = {}
    edits: dict[str, list[str]] = {}
    for each in place:
        answers.setdefault((_SAYS.get(each.kind, each.answer), each.reason), []).append(each.policy)
        if each.edit or each.remedy:
            edits.setdefault(each.edit or each.remedy, []).append(each.policy)
    said = [_said(*answer, policies) for answer, policies in answers.items()]
    if first.kind in ("dtype", "refuse", "decision"):
        run = f"{first.run} in the run under {first.under}"
        said.append(run if first.run else "the run stopped here")
    if first.inside:
        said.append(f"computed at {name_of(first.inside)}")
    wanted = [f"Write {edit} for {listed(policies)}." for edit, policies in edits.items()]
    return visible(" ".join([f"{first.what}: {'; '.join(said)}.", *wanted]))


_SAYS = {
    "refuse": "refused",
    "bits": "other values",
    "escape": "leaves the policy",
    "signature": "not taken",
}


def _said(says: str, reason: str, policies: list[str]) -> str:
    under = f" under {listed(policies)}" if any(policies) else ""
    return f"{says}{under}: {reason}" if reason else f"{says}{under}"


def title(place: Place) -> str:
    """Say what a place is about, in a few words."""
    first = place[0]
    names = ", ".join(dict.fromkeys(f.policy for f in place))
    return visible(_TITLES[first.kind].format(names))


_TITLES = {
    "dtype": "other dtype under {}",
    "refuse": "refused under {}",
    "bits": "other values under {}",
    "escape": "data leaves the policy",
    "signature": "not taken by {}",
    "decision": "decided by a dtype that is another under {}",
}

TITLES = {
    "signature": "Calls that a framework's own function does not take",
    "decision": "Decided by the run's dtype: other policies may take another branch",
    "escape": "Where data left the policy",
}
"""What stands above the lines of a kind that is no difference in dtypes or values."""

LEFT_OUT = {
    "refuse": "refused",
    "bits": "with other values",
    "dtype": "with other dtypes",
    "signature": "with calls that a framework does not take",
    "decision": "decided by a dtype",
    "escape": "at which data leaves the policy",
    "unknown": "unknown after a refusal",
}
"""Lines of each kind, in words behind their number."""


def legend(divergences: Sequence[Divergence], *, inherited: bool) -> Iterator[str]:
    """Explain the words and signs that are used where policies differ, a line each.

    Parameters
    ----------
    divergences : sequence of Divergence
    inherited : bool
        Whether those that only inherit are shown, too.
    """
    if divergences:
        yield _ROOT
        yield _INHERITED if inherited else _HIDDEN
    if any(d.program != d.site and d.name != DEFAULT_DTYPE for d in divergences):
        yield _LIBRARY
    if any(operand.endswith("[]") for d in divergences for operand in d.operands):
        yield ZERO_D


_ROOT = (
    "Root cause: this policy gives another dtype for the same operand dtypes. Sorted by how many "
    "later lines depend on it, refusals first."
)
_INHERITED = (
    "Inherited: only the operands differ, because of an earlier line. After a refusal a policy "
    "goes on as if you had made the edit."
)
_HIDDEN = "Hidden: lines that differ only because an earlier line did (--all shows them)."
_LIBRARY = "Lines of a library are not yours to edit: cast what you pass to it."


def summary(report: Results) -> str:
    """Return the counts of a report in a sentence, and others of what was left out."""
    casts = len(report.value_changes)
    values = f"{counted(casts, 'cast')} {'gives' if casts == 1 else 'give'} other values."
    limit = _LIMIT.format(report.max_sites) if report.max_sites_reached else ""
    lazy = _UNCOMPUTED.format(counted(report.uncomputed, "cast")) if report.uncomputed else ""
    assumed = _ASSUMED.format(listed(sorted(report.assumed))) if report.assumed else ""
    said = _found(report), values * bool(casts), lazy, assumed, summary_of(report.escapes), limit
    return " ".join(filter(None, said))


def _found(report: Results) -> str:
    """How many places differ, and how many root causes they have; else who agrees."""
    done, run = counted(report.operations, "operation"), report.run.name
    places = len({place_of(d) for d in report.divergences})
    if places:
        where, roots = counted(places, "place"), counted(root_causes(report), "root cause")
        return f"{done} under {run}; {where} where the policies differ, {roots}."
    if not report.operations:
        nothing = f"No operation ran under {run}: there is nothing to compare."
        return "" if report.stopped else nothing
    every = verdicts(report)
    states = {each.state for each in every}
    if not every or DIFFERS in states or len(states) > 1:
        return f"{done} under {run}."
    names = ", ".join(each.policy for each in every if each.state == INCOMPLETE)
    if names:
        return f"{done} under {run}; incomplete: no difference in what was examined under {names}."
    names = ", ".join(each.policy for each in every)
    agree = "all agree" if len(every) > 1 else "agrees"
    return f"{done}: {names} {agree} with {run} in dtypes and values."


_LIMIT = (
    "Places beyond the limit of {} are left out; write --max-sites N, or pa.shadow(max_sites=N), "
    "for another limit."
)
_UNCOMPUTED = (
    "Of {} of lazy arrays the policies may give other values, which were not compared, as that "
    "would compute them; write x.compute() before to compare."
)
_ASSUMED = (
    "{} promotes by the values of lazy 0-d arrays, which are not computed for a report and count "
    "for 1; write x.compute() before to have them."
)
