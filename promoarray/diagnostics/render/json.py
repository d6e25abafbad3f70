"""A report as data: its public attributes, and the findings of ``promoarray compare``."""

from __future__ import annotations

from collections import Counter
from typing import Any

from promoarray.diagnostics.edits.planner import clip
from promoarray.diagnostics.findings.causes import shared_causes
from promoarray.diagnostics.findings.classify import Entry, Judged
from promoarray.diagnostics.findings.results import Finding, Results
from promoarray.diagnostics.findings.verdict import by_policy, verdicts
from promoarray.diagnostics.model.divergence import Answer, Divergence
from promoarray.diagnostics.model.noted import Call, Decided, Stopped, escapes_data
from promoarray.diagnostics.render.sarif import fingerprint
from promoarray.diagnostics.spans import base_folder, called_from, located, span_of


def report_data(report: Results) -> dict[str, Any]:
    """Return a report as data."""
    divergences = [place_data(d) for d in report.divergences]
    return {
        "run": report.run.name,
        "policies": [p.name for p in report.policies],
        "operations": report.operations,
        "max_sites": report.max_sites,
        "max_sites_reached": report.max_sites_reached,
        "stopped": report.stopped and stopped_data(report.stopped),
        "verdicts": [each.to_dict() for each in verdicts(report)],
        "summary": [each.to_dict() for each in by_policy(report)],
        "shared_causes": [each.to_dict() for each in shared_causes(report).found],
        "divergences": divergences,
        "partings": divergences,  # the former name
        "options": [each.to_dict() for each in report.mended],
        "value_changes": [
            change.to_dict() | {"edit": clip(change) or None} for change in report.value_changes
        ],
        "escapes": escapes_data(report.escapes),
        "signatures": _signatures(report.signatures),
        "decisions": _decisions(report.decisions),
    }


def place_data(divergence: Divergence) -> dict[str, Any]:
    """Return a place at which policies differ as data."""
    site, program = divergence.site, divergence.program
    return {
        **located(site, "column", "source", "expression"),
        "operation": divergence.name,
        "operands": list(divergence.operands),
        "part_of": divergence.part_of or None,
        "called_from": called_from(site, program),
        "count": divergence.count,
        "root": divergence.root,
        "answers": {name: _answer(a) for name, a in divergence.answers.items()},
    }


def _answer(answer: Answer) -> dict[str, Any]:
    data: dict[str, Any] = {
        "dtype": answer.dtype.name if answer.dtype else None,
        "origin": answer.origin or "agrees",
        "operands": list(answer.operands),
    }
    if answer.reason:
        data["reason"] = answer.reason
    if answer.fix:
        data["fix"] = answer.fix.to_dict() | {"edit": answer.fix.text or None}
    return data


def stopped_data(stopped: Stopped) -> dict[str, Any]:
    """Return what stopped a program as data."""
    site, refused = stopped.site, stopped.refused
    return {
        "policy": stopped.run,
        "file": site and site.file,
        "line": site and site.line,
        "source": site and site.text,
        "error": stopped.error,
        "refused": refused and place_data(refused.place),
        "refuses": stopped.refuses,
        "goes_on": stopped.goes_on,
        "edit": stopped.edit or None,
        "remedy": stopped.remedy or None,
    }


def _signatures(counts: Counter[Call]) -> list[dict[str, Any]]:
    """Calls that a framework's own function does not take, in the order of the source."""
    return [
        {
            **located(call.site, "expression"),
            "policy": call.policy,
            "reason": call.reason,
            "count": counts[call],
        }
        for call in sorted([*counts])
    ]


def _decisions(counts: Counter[Decided]) -> list[dict[str, Any]]:
    """Places that the run's dtype decides, in the order of the source, in a line as passed."""
    places: dict[tuple[Any, ...], dict[str, list[str]]] = {}
    for each in tuple(counts):
        found = places.setdefault((each.site, each.program, each.run), {})
        found[each.policy] = list(each.other)

    def line(place: tuple[Any, ...]) -> tuple[object, ...]:
        site, program, _ = place
        return program.file, program.line, site.file, site.line

    return [
        {
            "file": site.file,
            "line": site.line,
            "expression": site.expression or site.text,
            "called_from": called_from(site, program),
            "dtypes": list(run),
            "policies": places[site, program, run],
        }
        for site, program, run in sorted(places, key=line)
    ]


def finding_data(judged: Judged, finding: Finding) -> dict[str, Any]:
    """Return a finding as data, and whether it is new."""
    span, inside = span_of(finding.place), finding.inside
    entry = Entry.of(finding, base_folder())
    data = {"kind": finding.kind, "root": finding.root, "policy": finding.policy or None}
    data |= {"file": finding.place.file, "line": span.line}
    data |= {name: getattr(span, name) or None for name in ("column", "end_line", "end_column")}
    data |= {"expression": finding.source, "inside": inside and located(inside, "source")}
    data |= {"operation": finding.operation or None, "operands": list(finding.operands)}
    data |= {name: getattr(finding, name) or None for name in ("run", "answer", "reason", "edit")}
    known = fingerprint(*entry[:5], *entry.operands, *entry[6:])
    data |= {"count": finding.count, "fingerprint": known}
    return data | {"state": judged.states[finding], "fails": judged.fails(finding)}
