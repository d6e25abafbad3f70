"""A report without some of its findings: those that are known, or ignored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from promoarray.diagnostics.findings.finding import (
    Finding,
    findings,
    of_call,
    of_change,
    of_decision,
    of_divergence,
    of_escape,
)
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.value_changes import ValueChange, ValueChanges
from promoarray.diagnostics.report import Report

Hidden = Collection[Finding]


def without(report: Report, hidden: Hidden) -> Report:
    """Return a report without some of its findings.

    A policy that has no others is left out, too: nothing is said of whether it agrees.
    """
    left = {each.policy for each in findings(report) if each not in hidden}
    gone = {each.policy for each in hidden} - left
    run = report.run.name

    def others(counts: Counter[Any], of: Callable[[Any, int, str], Finding]) -> Counter[Any]:
        every = tuple(counts.items())  # to which other threads may add meanwhile
        return Counter({each: n for each, n in every if of(each, n, run) not in hidden})

    counts: dict[str, Any] = {
        "escapes": others(report.escapes, of_escape),
        "signatures": others(report.signatures, of_call),
        "decisions": others(report.decisions, of_decision),
    }
    kept = replace(report, _found={}, value_changes=ValueChanges(), **counts)
    kept.policies = tuple(policy for policy in report.policies if policy.name not in gone)
    for divergence in report.divergences:
        if (less := _divergence(divergence, hidden, gone)) is not None:
            kept.record(less)
    for change in report.value_changes:
        if (fewer := _change(change, run, hidden)) is not None:
            kept.value_changes.found[change.place] = fewer
    return kept


def _divergence(divergence: Divergence, hidden: Hidden, left_out: set[str]) -> Divergence | None:
    """A place without the answers that are hidden; None if no policy differs any more."""
    gone = left_out | {each.policy for each in of_divergence(divergence) if each in hidden}
    if not gone:
        return divergence
    answers = {name: answer for name, answer in divergence.answers.items() if name not in gone}
    differ = any(answer.origin for answer in answers.values())
    return replace(divergence, answers=answers) if differ else None


def _change(change: ValueChange, run: str, hidden: Hidden) -> ValueChange | None:
    """A cast without the policies that are hidden; None if there are no others."""
    gone = {each.policy for each in of_change(change, run) if each in hidden}
    left = {}
    for each in tuple(change.differences.values()):
        names = tuple(name for name in each.policies if name not in gone)
        if names:
            left[names] = each._replace(policies=names)
    return replace(change, differences=left) if left else None
