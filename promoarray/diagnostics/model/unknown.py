"""Answers that hang on a refusal for which there is no edit: no framework gives them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from promoarray.core.call_site import Site
from promoarray.diagnostics.model.divergence import UNKNOWN, Answer, Divergence
from promoarray.diagnostics.model.final import FinalDType
from promoarray.diagnostics.model.slots import RefusedOperation

Unedited = dict[str, dict[RefusedOperation, Site]]
"""By policy: the refusals that have no edit, each with the line of the program."""


def unedited(divergences: Iterable[Divergence]) -> Unedited:
    """Return the refusals for which there is no edit in the program's own source."""
    found: Unedited = {}
    for each in divergences:
        for policy, answer in each.answers.items():
            if answer.dtype is None and not _is_edited(each, answer):
                refusal = RefusedOperation(each.name, each.operands)
                found.setdefault(policy, {}).setdefault(refusal, each.program)
    return found


def _is_edited(place: Divergence, answer: Answer) -> bool:
    return place.site == place.program and answer.fix is not None


def after(
    pending: Iterable[RefusedOperation], missing: dict[RefusedOperation, Site]
) -> Site | None:
    """Return the first line of those refusals that have no edit; None if all have one."""
    return min((missing[each] for each in pending if each in missing), default=None)


def settled(divergences: list[Divergence]) -> list[Divergence]:
    """Return places at which no policy answers what hangs on a refusal without an edit.

    A root is one for the run's own operands, and stays.
    """
    missing = unedited(divergences)
    return [_settled(each, missing) for each in divergences] if missing else divergences


def _settled(place: Divergence, missing: Unedited) -> Divergence:
    answers = dict(place.answers.items())
    changed = False
    for policy, answer in answers.items():
        line = after(answer.pending, missing.get(policy, {}))
        if line is not None and answer.origin != "root":
            reason = f"unknown after {line}"
            answers[policy] = replace(answer, dtype=None, reason=reason, origin=UNKNOWN, fix=None)
            changed = True
    return replace(place, answers=answers) if changed else place


def settled_finals(
    finals: Iterable[FinalDType], divergences: Iterable[Divergence]
) -> tuple[FinalDType, ...]:
    """Return the final dtypes that differ, or are unknown after a refusal without an edit."""
    missing = unedited(divergences)
    found = []
    for each in finals:
        others = dict(each.others)
        for policy, pending in each.pending.items():
            line = after(pending, missing.get(policy, {}))
            if line is not None:
                others[policy] = f"unknown after {line}"
        if others:
            found.append(each._replace(others=others))
    return tuple(found)
