"""``promoarray diff``: run a program under one policy, and list what changes under another."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace

from promoarray.console import console, visible
from promoarray.diagnostics.diff.difference import Difference, difference
from promoarray.diagnostics.diff.probe import Changes
from promoarray.diagnostics.exit_codes import FAILED, FINDINGS, INCOMPLETE, NOTHING, SIGNAL
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.frameworks import framework_of
from promoarray.diagnostics.run.program import Ended, as_module, program_of
from promoarray.diagnostics.run.task import Task
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status."""
    before, after = as_policy(args.before), as_policy(args.after)
    names = before.name, after.name
    framework = framework_recorded(args.script, args.module, before, after)
    program, asked = program_of(args), Task(names, before.name, probes=(Changes(after.name),))
    if framework:  # which computes as it does, and is recorded
        asked = Task(names, framework=framework, packages=args.packages, past=True)
    sys.stdout.flush()
    sys.stderr.flush()
    ended = program.run(asked, None, quiet=False, aside=args.json)
    noted = (each.probed[0] for each in ended.findings if each.probed)
    compared = difference(report_of(ended, before, after), noted, after, before)
    found = replace(compared, inherited=args.all)
    if args.json:
        print(json.dumps(found.to_dict() | {"program": _stopped(ended)}, indent=2))
    else:
        console().print(found)
    return _told(found, ended, args.script)


def framework_recorded(
    script: str | None, module: str | None, before: Policy, after: Policy
) -> str:
    """Return what a program computes with itself, if its editions are compared; else ""."""
    for name, framework in REWRITTEN.items():
        if {before, after} <= {as_policy(edition) for _, edition in framework.editions}:
            return name if framework_of(script, module) == name else ""
    return ""


def report_of(ended: Ended, before: Policy, after: Policy) -> Report:
    """Return what all processes of a run have found."""
    made = [each.report for each in ended.findings if each.report is not None]
    report = Report(before, (before, after))
    for each in made:
        if isinstance(each, RecordedReport):
            report = RecordedReport(each.run, (before, after), framework=each.framework)
            break
    for each in made:
        report.merge(each)
    return report


def _stopped(ended: Ended) -> dict[str, object]:
    """The end of a program, as data."""
    return {
        "exit_status": ended.status,
        "error": ended.why or None,
        "stopped_at": ended.where or None,
    }


def _told(found: Difference, ended: Ended, script: str | None) -> int:
    """Say on standard error what went wrong; return the exit status."""
    sys.stdout.flush()
    if ended.status:
        at = f" at {ended.where}" if ended.where else ""
        run = ended.findings[0].run if ended.findings else found.before.name
        _say(f"the program stopped under {run}{at}: {ended.why}{as_module(script)}")
    for bug in ended.bugs:
        print(*map(visible, bug.splitlines()), sep="\n", file=sys.stderr)
        _say("this is a bug in promoarray. Please report it with the lines above")
    if ended.bugs or ended.status > 0:
        return FAILED
    if ended.status:
        return SIGNAL - ended.status
    if found.changes:
        return FINDINGS
    if not found.operations:
        return NOTHING if not ended.imported else FAILED
    return INCOMPLETE if found.open else NOTHING


def _say(what: str) -> None:
    print(visible(f"promoarray diff: {what}"), file=sys.stderr)
