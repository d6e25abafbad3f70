"""The edits that a report prints: planned for all passes of each place, one for all policies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from promoarray.diagnostics.edits.known import read
from promoarray.diagnostics.edits.occurrence import Occurrence, span_of
from promoarray.diagnostics.edits.planner import Edit, Outcome, Place, edits_of
from promoarray.diagnostics.model.divergence import Answer, Divergence
from promoarray.promotion.policy import Policy

Planned = dict[Place, tuple[Outcome, ...]]
"""From where an operation stands, and its name, to its edits."""


def planned(run: Policy, policies: Sequence[Policy], occurrences: Iterable[Occurrence]) -> Planned:
    """Plan the edits of a run, whose sources are as they were when it began."""
    return edits_of(run, policies, occurrences, cache(read))


def with_edits(places: Iterable[Divergence], found: Planned) -> list[Divergence]:
    """Return places whose answers have the edits that hold for every pass through them."""
    return [
        _edited(place, found.get((span_of(place.program, place.part), place.name), ()))
        for place in places
    ]


def _edited(place: Divergence, planned: Sequence[Outcome]) -> Divergence:
    if not planned or place.site != place.program:
        return place
    by_policy = {name: each for each in planned for name in each.policies if not each.optional}
    answers = {n: _with(answer, by_policy.get(n)) for n, answer in place.answers.items()}
    return replace(place, answers=answers)


def _with(answer: Answer, planned: Outcome | None) -> Answer:
    if planned is None or answer.origin != "root":
        return answer
    return replace(answer, fix=planned if isinstance(planned, Edit) else None)
