"""The report of ``promoarray compare`` in its formats."""

from __future__ import annotations

import argparse
import io
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from promoarray.console import console
from promoarray.diagnostics.compare.run_all import Outcomes
from promoarray.diagnostics.findings.classify import KNOWN, Judged
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
from promoarray.diagnostics.model.values import ValueChange, ValueChanges
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.render.json import finding_data
from promoarray.diagnostics.render.sarif import as_commands, as_sarif
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.program import Ended
from promoarray.diagnostics.spans import base_folder, relative
from promoarray.diagnostics.whole_file import write_whole

SCHEMA = Path(__file__).with_name("report.schema.json")
"""Of the JSON report; docs/ci.md says what may change in it."""

SCHEMA_VERSION = "1.3"
"""The second number counts additions, the first all else."""


class Compared(NamedTuple):
    """All there is to write."""

    report: Report
    judged: Judged
    outcomes: Outcomes
    ended: Ended
    status: int  # what the command exits with


def write(compared: Compared, args: argparse.Namespace) -> None:
    """Write the report, and the page if one is asked for.

    Raises
    ------
    OSError
        If a file cannot be written; what was there is as it was.
    """
    kept = io.StringIO() if args.output else None
    if args.format == "text":
        _write_text(compared, args, kept)
    else:
        for line in _for_tools(compared, args.format):
            print(line, file=kept)
    if kept is not None:
        write_whole(Path(args.output), kept.getvalue())
    if args.html:
        command = shlex.join(["promoarray", *sys.argv[1:]])
        page = compared.report.to_html(compared.outcomes.html(), command)
        Path(args.html).write_text(page, encoding="utf-8", errors="backslashreplace")
    for file in filter(None, (args.output, args.html)):
        if kept is not None or args.format in ("text", "github"):  # else it is data that is read
            print(f"Written: {file}")


def _for_tools(compared: Compared, format_: str) -> Iterator[str]:
    """Yield the report in a format that other tools read, a line each."""
    judged, ended = compared.judged, compared.ended
    if format_ == "json":
        yield json.dumps(report_data(compared), indent=2)
    elif format_ == "sarif":
        stopped = [ended.stopped_under(compared.report.run.name)] if ended.status else []
        data = as_sarif(judged, compared.status, [*stopped, *ended.bugs])
        yield json.dumps(data, indent=2)
    else:
        said = *as_commands(judged), compared.report.summary(), judged.left_out
        yield from filter(None, said)


# -- text -----------------------------------------------------------------------------------------


def _write_text(compared: Compared, args: argparse.Namespace, file: IO[str] | None) -> None:
    report, judged = compared.report, compared.judged
    shown = without(report, judged.hidden) if judged.hidden else report
    shown.inherited = args.all
    if args.all or not judged.hidden or findings(shown):  # else only what they lead to is left
        console(file).print(shown, crop=False)
    if compared.outcomes.every:
        console(file).print(compared.outcomes, crop=False)
    if args.drift and isinstance(report, RecordedReport):
        for line in report.drift_in_words():
            print(line, file=file)
    for line in _about_findings(judged):
        print(line, file=file)


def _about_findings(judged: Judged) -> list[str]:
    """What is to be said of the baseline and of comments, a line each."""
    lines = [judged.left_out] if judged.left_out else []
    if judged.gone:
        lines.append(
            f"Not found any more, of {judged.baseline} (--update-baseline removes what is gone):"
        )
        lines += [f"    {each}" for each in judged.gone_in_words]
    lines += [f"{relative(n.file, base_folder())}:{n.line}: {n.text}" for n in judged.notices]
    return lines


# -- a report without the findings that are known, or ignored -------------------------------------


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
    return change.of({each.policy for each in of_change(change, run) if each not in hidden})


# -- JSON -----------------------------------------------------------------------------------------


def report_data(compared: Compared) -> dict[str, Any]:
    """Return all there is as data, as ``report.schema.json`` has it."""
    ended, judged = compared.ended, compared.judged
    return (
        {"schema_version": SCHEMA_VERSION, "exit_code": compared.status}
        | compared.report.to_dict()
        | {"findings": [finding_data(judged, each) for each in judged.states]}
        | {"fail_on": list(judged.fail_on), "baseline": _baseline(judged)}
        | {"notices": [each._asdict() for each in judged.notices], "program": ended.to_dict()}
        | compared.outcomes.to_dict()
    )


def _baseline(judged: Judged) -> dict[str, Any] | None:
    if not judged.baseline:
        return None
    gone = [entry.to_dict() | {"count": n} for entry, n in sorted(judged.gone.items())]
    return {"file": judged.baseline, "known": len(judged.of(KNOWN)), "gone": gone}
