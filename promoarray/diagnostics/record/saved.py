"""A recorded run in a file, of which other policies are asked without running the program."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from promoarray.core.call_site import Site
from promoarray.core.escape import Escape
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.model.flow import Flow, as_data, from_data
from promoarray.diagnostics.model.noted import Stopped, Unanswered
from promoarray.diagnostics.model.values import Difference, Example, Place, ValueChange
from promoarray.diagnostics.record.report import Drift, RecordedReport, Unexamined, Warned
from promoarray.dtypes import BY_CODE, DType
from promoarray.operations import Form
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

FORMAT = "promoarray recorded run"
VERSION = 1


class NotSaved(ValueError):
    """A file is no recorded run, or its program has changed since."""


def is_saved(path: str) -> bool:
    """Return whether a file is a recorded run, by how it begins."""
    try:
        with open(path, encoding="utf-8") as file:
            return FORMAT in file.read(100)
    except (OSError, UnicodeDecodeError):
        return False


def as_json(report: RecordedReport) -> str:
    """Return a recorded run as JSON.

    Parameters
    ----------
    report : RecordedReport
        Of a run, whose ``policies`` are those whose casts were compared by value meanwhile.
    """
    with notify_lock:
        stopped = report.stopped
        data = {
            "format": FORMAT,
            "version": VERSION,
            "framework": report.framework,
            "run": report.run.name,
            "policies": [policy.name for policy in report.policies],
            "script": report.script,
            "files": dict(_digests(report.flows)),
            "flows": [as_data(flow) | _besides(flow) for flow in report.flows],
            "calls": [[*key, n] for key, n in report.calls.items()],
            "drift": [[d.operation, d.form.name, *d[2:], n] for d, n in report.drift.items()],
            "unexamined": [*report.unexamined.items()],
            "warned": [*report.warned.items()],
            "escapes": [[dataclasses.astuple(each), n] for each, n in report.escapes.items()],
            "stopped": stopped and (stopped.run, stopped.error, stopped.site),
        }
        return json.dumps(data, indent=None, separators=(",", ":"), default=_row)


def _row(x: Site | DType) -> Any:
    """A place as a row of its fields, a dtype as its code."""
    return dataclasses.astuple(x) if isinstance(x, Site) else x.code


def read(path: str, policies: tuple[Policy, ...] = ()) -> RecordedReport:
    """Return a recorded run, of which policies are asked as its report is read.

    Parameters
    ----------
    path : str
    policies : tuple of Policy
        Those to ask; by default those that were asked as it was recorded.

    Raises
    ------
    NotSaved
        If it is no recorded run, is one of another version, or its program has changed since.
    OSError
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise NotSaved(f"{path} is no recorded run of this version: record it again, --save")
        report, files = _report(data, policies), dict(data["files"])
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise NotSaved(f"{path} is no recorded run: {error!r}") from error
    except NotSaved:
        raise
    except ValueError as error:
        raise NotSaved(f"{path} is no recorded run: {error}") from error
    changed = [file for file, digest in files.items() if _digest(file) not in ("", digest)]
    if changed:
        raise NotSaved(f"{changed[0]} has changed since it was recorded in {path}: record it again")
    return report


def _report(data: dict[str, Any], policies: tuple[Policy, ...]) -> RecordedReport:
    saved, run = tuple(map(as_policy, data["policies"])), as_policy(data["run"])
    asked = policies or saved
    for name in ("framework", "script"):
        if not isinstance(data[name], str):
            raise TypeError(f"{name} is no text")
    report = RecordedReport(run, asked, framework=data["framework"], script=data["script"])
    report.flows = [_flow(each) for each in data["flows"]]
    report.calls.update({(kind, name): n for kind, name, n in data["calls"]})
    for (name, form, operands, policy, framework), n in (
        (row[:-1], row[-1]) for row in data["drift"]
    ):
        report.drift[Drift(name, Form[form], tuple(operands), policy, framework)] += n
    for (what, why, site, program), n in data["unexamined"]:
        report.unexamined[Unexamined(what, why, _site(site), _site(program))] += n
    for (text, program), n in data["warned"]:
        report.warned[Warned(text, _site(program))] += n
    for (site, inside, consumer, channel, dtype, shape), n in data["escapes"]:
        own = consumer, channel, dtype, tuple(shape)
        report.escapes[Escape(_site(site), _site(inside), *own)] += n
    if data["stopped"] is not None:
        name, error, site = data["stopped"]
        report.stopped = Stopped(name, error, site and _site(site))
    report.uncompared = {*_uncompared(report, tuple(p for p in asked if p not in saved))}
    return report


def _uncompared(report: RecordedReport, others: tuple[Policy, ...]) -> Iterator[Unanswered]:
    """Yield the casts whose values were not compared for policies that nobody named then."""
    for flow in report.flows:
        for each in flow.operations:
            given = [BY_CODE[x.code] for x in each.operands if x.code]
            match each.kind, given:
                case "cast", [source]:
                    (target,) = each.dtypes()
                case "assignment", [target, source]:
                    pass
                case _:
                    continue
            effect = report.run.cast.effect(source, target)
            for policy in others:
                if source is not target and policy.cast.effect(source, target) != effect:
                    what = f"values of {source.name} cast to {target.name}"
                    yield Unanswered(what, _NOT_THEN, each.place.program, policy.name)


_NOT_THEN = "the run was recorded without this policy, so they were not compared"


# -- parts ----------------------------------------------------------------------------------------


def _digests(flows: list[Flow]) -> Iterator[tuple[str, str]]:
    """Yield the program's files, each with the digest of its text."""
    files = {each.place.program.file for flow in flows for each in flow.operations}
    for file in sorted(files):
        if digest := _digest(file):
            yield file, digest


def _digest(file: str) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""


def _besides(flow: Flow) -> dict[str, Any]:
    values = [
        {
            "place": each.place,
            "size": each.size,
            "passes": each.passes,
            "routes": each.routes,
            "differences": [*each.differences.values()],
        }
        for each in flow.values
    ]
    return {"unread": [*flow.unread.items()], "values": values, "uncomputed": flow.uncomputed}


def _flow(data: dict[str, Any]) -> Flow:
    flow = from_data(data)
    for (site, program), n in data["unread"]:
        flow.unread[_site(site), _site(program)] += n
    for each in data["values"]:
        flow.values.add(_changed(each))
    flow.uncomputed = data["uncomputed"]
    return flow


def _site(row: list[Any]) -> Site:
    file, line, column, text, expression, extent, stores = row
    return Site(file, line, column, text, expression, tuple(extent), stores)


def _changed(data: dict[str, Any]) -> ValueChange:
    site, program, *rest = data["place"]
    found = [
        Difference(tuple(names), count, Example(tuple(of[0]), *of[1:]), beyond, largest)
        for names, count, of, beyond, largest in data["differences"]
    ]
    return ValueChange(
        Place(_site(site), _site(program), *rest),
        data["size"],
        data["passes"],
        {each.policies: each for each in found},
        tuple(BY_CODE[code] for code in data["routes"]),
    )
