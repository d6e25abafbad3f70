"""Findings of the checks of a run, put together: what is told, and what is meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from os.path import realpath
from typing import NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.check.meant import meant
from promoarray.diagnostics.check.report import Report
from promoarray.diagnostics.check.told import ORDER, Told
from promoarray.diagnostics.findings.classify import comments_in
from promoarray.diagnostics.findings.verdict import OPEN_CALLS, open_in_words
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.model.lost import NAN, OVERFLOW, LostPlace
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.record.checks import Checks
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.why.origin import Origins


class Run(NamedTuple):
    """One framework, or one process, of what is checked."""

    report: RecordedReport
    checks: Checks
    flow: Flow

    def found(self) -> Found:
        """Return what was lost so far."""
        checks, report = self.checks, self.report
        left, told = checks.unread + report.unexamined, (self.flow, tuple(report.eagerly()))
        return Found(report.framework, checks.found(), checks.examined, left, *told)


class Found(NamedTuple):
    """What one of them has lost."""

    framework: str
    lost: list[LostPlace]
    examined: int
    unread: Counter[NotExamined]
    flow: Flow
    eagerly: tuple[str, ...] = ()  # of what is compiled else, in words

    @classmethod
    def of(cls, report: RecordedReport) -> Found:
        """Return what the report of a process has."""
        flow = report.flows[0] if report.flows else Flow()
        left, eagerly = report.unread + report.unexamined, tuple(report.eagerly())
        libraries = " and ".join((report.framework, *report.beside))
        return cls(libraries, report.lost, report.checked, left, flow, eagerly)


def gathered(
    report: Report, runs: Iterable[Run | Found], share: float, *, ignored: bool = False
) -> None:
    """Fill a report with what was lost: by line in the order in which it was met, then by kind.

    What comments have ignored is left out if it is ``ignored``; else whoever judges the findings
    looks at them.
    """
    every = [each.found() if isinstance(each, Run) else each for each in runs]
    passed, told = Counter[str](), list[Told]()
    for found in every:
        origins = Origins(found.flow)
        for place in found.lost:
            if why := meant(place, share, found.flow):
                passed[why] += 1
            else:
                told.append(Told(place, [origins.of(source, "") for source in place.sources]))
    if ignored:
        comments = comments_in({each.place.program.file for each in told})
        kept = [t for t in told if not any(each.covers(t.finding) for each in comments)]
        passed["ignored by comments"] += len(told) - len(kept)
        told = kept
    forward = {_at(each) for each in told if not each.place.backward}
    told = [each for each in told if not (each.place.backward and _follows(each, forward))]
    first: dict[tuple[str, int], int] = {}
    for each in sorted(told, key=lambda each: each.place.order):
        first.setdefault(line_of(each.place), len(first))
    told.sort(key=lambda each: (first[line_of(each.place)], ORDER[each.place.kind]))
    report.told, report.meant = told, dict(+passed)
    report.examined = sum(found.examined for found in every)
    report.eagerly = [line for found in every for line in found.eagerly]
    looked = [found.framework for found in every if found.examined]
    report.framework = " and ".join(dict.fromkeys(looked or [found.framework for found in every]))
    report.unread = open_in_words(
        [
            replace(left, count=n)
            for found in every
            for left, n in found.unread.items()
            if left.why not in _NO_POLICY
            and left.what not in _LOOKED_AT.get(found.framework.partition(" ")[0], ())
        ]
    )


def _at(told: Told) -> tuple[Site, str, str]:
    return told.place.site, told.place.name, told.place.kind


def _follows(told: Told, forward: set[tuple[Site, str, str]]) -> bool:
    """Whether what is lost in the gradient follows from what is lost at the line itself."""
    site, name, kind = _at(told)
    return any((site, name, each) in forward for each in (kind, OVERFLOW, NAN))


_NO_POLICY = frozenset({OPEN_CALLS["unknown"], OPEN_CALLS["autocast"]})
"""Why policies are not asked about calls whose values are looked at as those of others."""

_LOOKED_AT = {"torch": ("backward",)}
"""Calls that no hook hears of, and whose values are looked at by others."""


def line_of(place: LostPlace) -> tuple[str, int]:
    """Return the line of the program."""
    return realpath(place.program.file), place.program.line
