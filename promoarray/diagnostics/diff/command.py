"""``promoarray diff``: run a program under one policy, and list what changes under another."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace

from promoarray.console import console
from promoarray.diagnostics.diff.difference import Difference, difference
from promoarray.diagnostics.diff.probe import Changes
from promoarray.diagnostics.exit_codes import FAILED, FINDINGS, INCOMPLETE, NOTHING, SIGNAL
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.frameworks import framework_of
from promoarray.diagnostics.run.program import Ended, as_module, program_of, say
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
        print(json.dumps(found.to_dict() | {"program": ended.to_dict()}, indent=2))
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
    made = next((each for each in ended.reports if isinstance(each, RecordedReport)), None)
    if made is None:
        return ended.merged_into(Report(before, (before, after)))
    return ended.merged_into(RecordedReport(made.run, (before, after), framework=made.framework))


def _told(found: Difference, ended: Ended, script: str | None) -> int:
    """Say on standard error what went wrong; return the exit status."""
    if ended.status:
        run = ended.findings[0].run if ended.findings else found.before.name
        say("diff", ended.stopped_under(run) + as_module(script))
    ended.say_bugs("diff")
    if ended.bugs or ended.status > 0:
        return FAILED
    if ended.status:
        return SIGNAL - ended.status
    if found.changes:
        return FINDINGS
    if not found.operations:
        return NOTHING if not ended.imported else FAILED
    return INCOMPLETE if found.open else NOTHING
