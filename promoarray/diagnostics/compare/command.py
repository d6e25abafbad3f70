"""``promoarray compare``: run a program once and show every line where the policies differ.

With ``--run-all`` the program is run again under each policy, and its globals at the end are shown
side by side, with the refusals.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from promoarray.console import show
from promoarray.diagnostics.compare.program import STOPPED, Ended, Program, of_module, of_script
from promoarray.diagnostics.compare.run_all import Outcome, Outcomes, outcome
from promoarray.diagnostics.compare.standard_input import StandardInput
from promoarray.diagnostics.compare.task import Task
from promoarray.diagnostics.shadow.observer import DEFAULT
from promoarray.diagnostics.shadow.report import Report
from promoarray.errors import UnknownPolicyError
from promoarray.promotion.in_force import process_default
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

FAILED, BUG, INTERRUPTED = 2, 3, 130
"""Exit statuses: the program failed, promoarray did, the user stopped either."""


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status.

    That is 0 if the program ran to its end, 2 if it failed, 3 if promoarray did, and what shells
    make of a signal that ended the program: 130 after Ctrl-C.
    """
    comparison = _read(args)
    if comparison is None:
        return FAILED
    sys.stdout.flush()
    sys.stderr.flush()
    every: list[Outcome] = []
    with tempfile.TemporaryFile() as kept:
        given = StandardInput(kept) if args.run_all else None
        ended = comparison.compared(given)
        report = comparison.report(ended)
        if given and not ended.interrupted:
            every = comparison.outcomes(report.run.name, given)
    _write(report, Outcomes(tuple(every)), ended, args)
    told = _told(report, ended)
    return INTERRUPTED if every and every[-1].error == STOPPED else told


@dataclass(frozen=True)
class Comparison:
    """A program, and what is asked of its runs.

    Attributes
    ----------
    program : Program
    policies : tuple of Policy
        The policies to compare with.
    run : Policy or None
        What it runs under; None for what it would itself.
    args : Namespace
    """

    program: Program
    policies: tuple[Policy, ...]
    run: Policy | None
    args: argparse.Namespace

    def compared(self, given: StandardInput | None) -> Ended:
        """Run it, and compare."""
        names = tuple(policy.name for policy in self.policies)
        asked = Task(names, self._run_name, all_frames=self.args.traceback == "full")
        return self.program.run(asked, given, quiet=False, aside=self.args.json)

    def report(self, ended: Ended) -> Report:
        """Return what all of its processes found."""
        own = ended.findings[0].run if ended.findings else self._run_name
        report = Report(_named(own) if own else process_default(), self.policies)
        for each in ended.findings:
            if each.report is not None:
                report.merge(each.report)
        return report

    def outcomes(self, own: str, given: StandardInput) -> list[Outcome]:
        """Run it under the policy it ran under, and under each of the others, until stopped."""
        others = [policy.name for policy in self.policies if policy.name != own]
        found = []
        for name, under in {own: self._run_name, **{name: name for name in others}}.items():
            shown = self.args.show
            asked = Task((), under, casts=not self.args.stop, names=shown and tuple(shown))
            ended = self.program.run(asked, given, quiet=True)
            found.append(outcome(name, ended))
            if ended.interrupted:
                break
        return found

    @property
    def _run_name(self) -> str | None:
        return self.run.name if self.run else None


def _read(args: argparse.Namespace) -> Comparison | None:
    """Read the arguments; None if there is no such program, which is told."""
    try:
        of = of_module(args.module, args.args) if args.module else of_script(args.script, args.args)
    except FileNotFoundError as error:
        print(f"promoarray compare: {error}", file=sys.stderr)
        return None
    if args.html and not Path(args.html).resolve().parent.is_dir():
        print(f"promoarray compare: no such folder for {args.html}", file=sys.stderr)
        return None
    names = args.policies.split(",") if args.policies else list(DEFAULT)
    policies = tuple(dict.fromkeys(as_policy(name.strip()) for name in names))
    if args.html and Path(args.html).is_dir():  # before the program runs for an hour
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), args.html)
    return Comparison(of, policies, as_policy(args.run) if args.run else None, args)


def _named(name: str) -> Policy:
    """Return a policy by the name a program gave; one of the program's own is known by it alone."""
    try:
        return as_policy(name)
    except UnknownPolicyError:
        return process_default().derive(name)


def _write(report: Report, outcomes: Outcomes, ended: Ended, args: argparse.Namespace) -> None:
    if args.json:
        stopped = {
            "exit_status": ended.status,
            "error": ended.why or None,
            "stopped_at": ended.where or None,
        }
        data = report.to_dict() | {"program": stopped} | outcomes.to_dict()
        print(json.dumps(data, indent=2))
    else:
        report.inherited = args.all
        show(report)
        if outcomes.every:
            show(outcomes)
    if args.html:  # last, as writing a file may fail
        page = report.to_html(outcomes.html(), shlex.join(["promoarray", *sys.argv[1:]]))
        Path(args.html).write_text(page, encoding="utf-8", errors="backslashreplace")
    if args.html and not args.json:
        print(f"Written: {args.html}")


def _told(report: Report, ended: Ended) -> int:
    """Say on standard error what went wrong; return the exit status."""
    sys.stdout.flush()
    if ended.status:
        at = f" at {ended.where}" if ended.where else ""
        _say(f"the program stopped under {report.run.name}{at}: {ended.why}")
    elif not report.operations:
        _say(
            "the program computed nothing with promoarray; write import promoarray as xp, and "
            "make its arrays with xp.asarray"
        )
    for bug in ended.bugs:
        print(bug, file=sys.stderr)
        _say("this is a bug in promoarray. Please report it with the lines above")
    if ended.bugs:
        return BUG
    return FAILED if ended.status > 0 else -ended.status and 128 - ended.status


def _say(what: str) -> None:
    print(f"promoarray compare: {what}", file=sys.stderr)
