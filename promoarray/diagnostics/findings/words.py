"""Findings in words, those of one place together."""

from __future__ import annotations

from collections.abc import Iterable

from promoarray.console import listed
from promoarray.diagnostics.findings.finding import Finding

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
        said.append(f"computed at {first.inside}")
    wanted = [f"Write {edit} for {listed(policies)}." for edit, policies in edits.items()]
    return " ".join([f"{first.what}: {'; '.join(said)}.", *wanted])


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
    return _TITLES[first.kind].format(", ".join(dict.fromkeys(f.policy for f in place)))


_TITLES = {
    "dtype": "other dtype under {}",
    "refuse": "refused under {}",
    "bits": "other values under {}",
    "escape": "data leaves the policy",
    "signature": "not taken by {}",
    "decision": "decided by a dtype that is another under {}",
}
