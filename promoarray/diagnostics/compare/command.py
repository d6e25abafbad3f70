"""``promoarray compare``: run a program once and show every line where the policies differ.

With ``--run-all`` the program is run again under each policy, and its globals at the end are shown
side by side, with the refusals.
"""

from __future__ import annotations

import argparse
import linecache
import os
import shlex
import signal
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from typing import Any

from promoarray.diagnostics.check.gathered import Found, gathered
from promoarray.diagnostics.check.report import Report as CheckReport
from promoarray.diagnostics.compare.options import mend
from promoarray.diagnostics.compare.output import (
    SCHEMA,
    Compared,
    Outcome,
    Outcomes,
    outcome,
    write,
)
from promoarray.diagnostics.exit_codes import (
    FAILED,
    FINDINGS,
    INCOMPLETE,
    NOTHING,
    SIGNAL,
    USAGE,
    UsageError,
)
from promoarray.diagnostics.file_format import ONNX, NotReadable, names_format
from promoarray.diagnostics.findings import classify, verdict
from promoarray.diagnostics.findings.classify import KNOWN, NEW, Baseline, Ignored, Judged, judge
from promoarray.diagnostics.findings.results import MAX_SITES
from promoarray.diagnostics.model import kinds
from promoarray.diagnostics.modelfile.command import model_format, of_model, require_options
from promoarray.diagnostics.modelfile.report import ModelReport
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.record.block import FRAMEWORKS, RECORDED, REWRITTEN
from promoarray.diagnostics.record.checks import Asked
from promoarray.diagnostics.record.report import NUMPY, RecordedReport
from promoarray.diagnostics.record.saved import NotSaved, is_saved, require_no_options, save
from promoarray.diagnostics.record.saved import read as read_run
from promoarray.diagnostics.render.formats import require_places
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.attempts import Attempts
from promoarray.diagnostics.run.ending import Shown
from promoarray.diagnostics.run.frameworks import (
    ALL,
    OWN,
    TARGETS,
    Expected,
    expected,
    named,
    other_editions,
    policies_for,
)
from promoarray.diagnostics.run.program import (
    STOPPED,
    Ended,
    Program,
    StandardInput,
    as_module,
    policy_named,
    program_of,
    say,
)
from promoarray.diagnostics.run.steps import Training
from promoarray.diagnostics.run.task import Task
from promoarray.promotion.in_force import process_default
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

TRIES = 4
"""So many edits are tried, each by a run of the program."""

INTERRUPTED = SIGNAL + signal.SIGINT

_say = partial(say, "compare")


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status, one of ``exit_codes``."""
    if args.schema:
        sys.stdout.write(SCHEMA.read_text(encoding="utf-8"))
        return NOTHING
    try:
        if args.types is not None:
            from promoarray.diagnostics.run import kernels

            return kernels.main(args)
        comparison = _comparison(args)
    except (UsageError, NotSaved, NotReadable, FileNotFoundError) as error:
        _say(str(error))
        return USAGE
    sys.stdout.flush()
    sys.stderr.flush()
    every: list[Outcome] = []
    with tempfile.TemporaryFile() as kept:
        given = StandardInput(kept)
        if args.run_all:
            _say(comparison.times)
        ended = comparison.ended(given)
        report = comparison.report(ended)
        linecache.checkcache()  # of files that the program may have written
        if comparison.saved is None and not ended.interrupted:
            attempts = Attempts(
                comparison.program,
                comparison.task,
                given,
                ended,
                most=TRIES,
                asked=args.edit,
                command="compare",
            )
            mend(report, ended, attempts, comparison.report)
        if args.run_all and not ended.interrupted:
            every = comparison.outcomes(report.run.name, given)
    if args.save and comparison.saved is None:
        _save(report, comparison)
    judged = comparison.judged(report, ended, comparison.baseline)
    baseline = comparison.updated(judged, report, ended)
    if baseline is not None:
        judged = comparison.judged(report, ended, baseline)
    status = _status(ended, every, judged, report)
    outcomes = Outcomes(tuple(every), named=bool(args.show))
    write(Compared(report, judged, outcomes, ended, status), args)
    _tell(report, ended, comparison)
    if baseline is not None:
        baseline.write()
    return status


@dataclass(frozen=True)
class Comparison:
    """A program, and what is asked of its runs; or a run of it that was saved."""

    program: Program
    policies: tuple[Policy, ...]  # the policies to compare with
    run: Policy | None  # what it runs under; None for what it would itself
    baseline: Baseline | None  # the findings that are known
    args: argparse.Namespace
    # what is recorded
    expected: Expected
    # the run that is asked about, in place of a program that runs
    saved: RecordedReport | None = None

    @property
    def recorded_for(self) -> tuple[Policy, ...]:
        """The policies whose casts are compared by value as it runs: of a run that is saved all,
        and all that fit what the program may turn out to compute with."""
        every = [named(ALL)] if self.args.save else []
        if self.args.policies is None:
            may_come = [*TARGETS] if self.expected.others else self.expected.libraries
            every += [policies_for(each, self.args.script) for each in may_come]
        return tuple(dict.fromkeys((*self.policies, *(p for asked in every for p in asked))))

    @property
    def framework(self) -> str:
        """What is recorded, as far as the source tells; "" of a program of promoarray."""
        return self.expected.framework

    @property
    def halves(self) -> tuple[str, ...]:
        """The policies that are asked about NumPy's operations alone, where there are others."""
        return () if self.args.policies is not None else tuple(p.name for p in other_editions())

    @property
    def task(self) -> Task:
        """What is asked of its run."""
        args = self.args
        return Task(
            tuple(policy.name for policy in self.recorded_for),
            self._run_name,
            all_frames=args.traceback == "full",
            max_sites=args.max_sites or MAX_SITES,
            framework=self.framework,
            libraries=self.expected.libraries,
            halves=self.halves,
            packages=args.packages,
            steps=Training(args.steps, args.sample),
            recorded=bool(args.save) and not self.framework,
        )

    def ended(self, given: StandardInput) -> Ended:
        """Run it, with what is asked for; of a saved run return how it ended."""
        if self.saved is not None:
            return Ended.of_saved(self.saved)
        args = self.args
        # Where the report is data, standard output is for it alone.
        aside = args.format in ("json", "sarif") and not args.output
        return self.program.run(self.task, given, quiet=False, aside=aside)

    def report(self, ended: Ended) -> Report:
        """Return what all of its processes found."""
        if self.saved is not None:
            return self.saved
        own = ended.findings[0].run if ended.findings else self._run_name or self.framework
        run = policy_named(own) if own else process_default()
        given = self.args.script or ""
        script = "" if given.endswith(".ipynb") or not os.path.isfile(given) else given
        limit, recorded = self.args.max_sites or MAX_SITES, bool(self.framework or self.args.save)
        more: Any = {"max_sites": limit, "script": script, "recorded": recorded}
        found = ended.report(run, self.policies, **more)
        if isinstance(found, RecordedReport) and found.framework and self.args.policies is None:
            found.halves = frozenset(self.halves)
            main, computed = found.framework.partition(" ")[0], found.libraries
            beside = other_editions() if len(computed) > 1 and computed[NUMPY] else ()
            found.policies = (*policies_for(main, self.args.script), *beside)
        return found

    def outcomes(self, own: str, given: StandardInput) -> list[Outcome]:
        """Run it under the policy it ran under, and under each of the others, until stopped."""
        others = [policy.name for policy in self.policies if policy.name != own]
        found: list[Outcome] = []
        with Progress() as progress:
            for name, under in {own: self._run_name, **{name: name for name in others}}.items():
                progress.step(f"the program under {name}", len(found) / (len(others) + 1))
                probes = (Shown(self.args.show),)
                asked = Task((), under, casts=not self.args.stop, probes=probes)
                ended = self.program.run(asked, given, quiet=True)
                found.append(outcome(name, ended, found[0] if found else None))
                if ended.interrupted:
                    break
        return found

    def judged(self, report: Report, ended: Ended, baseline: Baseline | None) -> Judged:
        """Say which findings are new."""
        files = {file for each in ended.findings for file in each.files}
        files |= {os.path.abspath(self.args.script)} if self.args.script else set()
        about: Any = {"whole": _whole(ended), "ignored": Ignored.by(self.args)}
        return judge(report, files, baseline, self.args.fail_on, **about)

    def updated(self, judged: Judged, report: Report, ended: Ended) -> Baseline | None:
        """Return the baseline with what is found now, if that is asked for."""
        if self.baseline is None or not self.args.update_baseline:
            return None
        if not _whole(ended):
            _say(f"{self.baseline.path} is not written, as the program did not run to its end")
            return None
        return self.baseline.updated(judged.of(NEW, KNOWN), [p.name for p in report.policies])

    @property
    def times(self) -> str:
        """How often ``--run-all`` runs the program."""
        others = sum(policy is not self.run for policy in self.policies)
        return (
            f"--run-all runs the program {others + 2} times: once to compare, and once under each "
            "policy; what it does besides computing it does as often"
        )

    @property
    def _run_name(self) -> str | None:
        return self.run.name if self.run else None


def _comparison(args: argparse.Namespace) -> Comparison:
    """Read the arguments: of a run that was saved, of a model file, or of a program."""
    script = args.script or ""
    if not names_format(script) and is_saved(script):
        return _of_saved(args)
    found = model_format(args)
    return _of_model(args, found) if found else _read(args)


def _of_saved(args: argparse.Namespace) -> Comparison:
    """Read the arguments of a comparison of a recorded run."""
    require_no_options(args.script, args, *_OF_RUNS, "drift")
    args.format, framework = _format(args), ""
    policies = () if args.policies is None else named(args.policies)
    saved = read_run(args.script, policies)
    if not policies:
        framework = saved.framework.partition(" ")[0]
        saved = read_run(args.script, policies_for(framework, saved.script))
    asked = saved.policies
    known = classify.asked_baseline(args.baseline, args.update_baseline)
    return Comparison(Program(()), asked, None, known, args, Expected(framework, ()), saved)


def _of_model(args: argparse.Namespace, found: str) -> Comparison:
    """Read the arguments of a comparison of a model file."""
    require_options(args, found, (*_OF_RUNS, "drift"))
    args.format = _format(args)
    require_places(args)
    names = None if args.policies is None else tuple(p.name for p in named(args.policies))
    known = classify.asked_baseline(args.baseline, args.update_baseline)
    report = of_model(args, found, names, Asked())
    if args.max_sites:
        report.max_sites = args.max_sites
    _tell_losses(report)
    if found == ONNX:
        beside = f"promoarray align PROGRAM {os.path.basename(args.script)}"
        report.notes += (f"Dtypes that its exporter changed show beside the program: {beside}.",)
    return Comparison(Program(()), report.policies, None, known, args, Expected("", ()), report)


def _tell_losses(report: ModelReport) -> None:
    """Put what the numbers of a model lose into its report."""
    if report.checked or report.unread:
        checked = CheckReport(report.framework, [])
        gathered(checked, [Found.of(report)], UNDERFLOWS)
        report.losses = tuple(checked.text())


UNDERFLOWS = 0.1
"""The share of results that have to vanish before underflow is told."""

_OF_RUNS = ("run", "run_all", "stop", "save", "packages", "show", "steps", "sample")
"""Options of a program that runs."""


def _save(report: Report, of: Comparison) -> None:
    """Write a recorded run, with all policies that its casts were compared for."""
    asked, report.policies = report.policies, of.recorded_for
    try:
        save(report, of.args.save)
    finally:
        report.policies = asked
    _say(f"written: {of.args.save}")


def _read(args: argparse.Namespace) -> Comparison:
    """Read the arguments, before the program runs for an hour."""
    of = program_of(args)
    args.format = _format(args)
    args.run_all = args.run_all or bool(args.show)
    policies = () if args.policies is None else named(args.policies)
    if args.policies is not None and not policies:
        raise UsageError("--policies names no policy; write --policies torch@2.13,paddle@3.3")
    require_places(args)
    run = as_policy(args.run) if args.run else None
    found = _recorded(args)
    policies = policies or policies_for(found.framework, args.script)
    known = classify.asked_baseline(args.baseline, args.update_baseline)
    return Comparison(of, policies, run, known, args, found)


def _format(args: argparse.Namespace) -> str:
    """Return the one format that is asked for."""
    given: str | None = args.format
    if args.json and given not in (None, "json"):
        raise UsageError(f"--json and --format {given} do not go together")
    return "json" if args.json else given or "text"


def _recorded(args: argparse.Namespace) -> Expected:
    """Return what is recorded; nothing of a program written against promoarray."""
    expected_of = expected(args.script, args.module, args.framework, args.args)
    found = expected_of.framework or OWN
    if args.packages and not REWRITTEN.keys() & {*expected_of.libraries}:
        raise UsageError(
            f"--packages names libraries to rewrite beside a program of {' or '.join(REWRITTEN)}; "
            f"this one is taken for one of {found}'s. Write --framework {' or '.join(REWRITTEN)}"
        )
    if found == OWN:
        if args.drift:
            raise UsageError(
                "--drift is about unmodified programs of a framework, which is recorded; this one "
                f"is taken for one of promoarray's. Write --framework {' or '.join(RECORDED)}"
            )
        return expected_of
    for name in ("run", "run_all", "stop"):  # --show has set run_all
        if getattr(args, name):
            option = "--show" if name == "run_all" and args.show else f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} runs a program of promoarray under another policy; this is a program of "
                f"{found}, which {found} itself computes while it is recorded. Leave {option} out, "
                f"or write --framework {OWN} if it computes with promoarray"
            )
    Training(args.steps, args.sample).of(expected_of.framework)
    return expected_of


def _whole(ended: Ended) -> bool:
    """Whether the program ran to its end, and was observed all the way."""
    return not ended.status and not ended.bugs


def _status(ended: Ended, every: list[Outcome], judged: Judged, report: Report) -> int:
    """Return the exit status: how the program ended goes before what was found."""
    if ended.status < 0:
        return SIGNAL - ended.status
    if every and every[-1].error == STOPPED:
        return INTERRUPTED
    if not _whole(ended) or not (report.operations or report.places):
        return FAILED
    if judged.failing:
        return FINDINGS
    open_ = any(each.state == verdict.INCOMPLETE for each in verdict.verdicts(report))
    return INCOMPLETE if open_ and kinds.INCOMPLETE in judged.fail_on else NOTHING


def _tell(report: Report, ended: Ended, of: Comparison) -> None:
    """Say on standard error what went wrong."""
    if ended.status:
        stopped = ended.stopped_under(report.run.name) + as_module(of.args.script)
        _say(stopped + (_kernels(of, report) or _why(of, ended, report)))
    elif isinstance(report, RecordedReport) and (of.framework or report.framework):
        if not report.calls:
            _say(f"the program called nothing that computes under {report.run.name}{_ELSEWHERE}")
    elif not report.operations:
        _say(
            "the program computed nothing with promoarray; write import promoarray as xp, and "
            "make its arrays with xp.asarray. An unmodified program that imports its framework "
            f"elsewhere takes --framework {' or '.join(RECORDED)}"
        )
    ended.say_bugs("compare")


def _kernels(of: Comparison, report: Report) -> str:
    """Say how the kernels of a file are read that stopped before it computed anything."""
    if report.operations or not of.args.script:
        return ""
    from promoarray.diagnostics.run import kernels

    return kernels.how_to_read(of.args.script)


def _why(of: Comparison, ended: Ended, report: Report) -> str:
    """Name the command that says where the dtypes came from at which a program stops."""
    computed = isinstance(report, RecordedReport) and report.calls
    if not computed or of.framework not in FRAMEWORKS or ended.status != FINDINGS or of.saved:
        return ""
    program = f"-m {of.args.module}" if of.args.module else shlex.quote(of.args.script)
    program += f" -- {shlex.join(of.args.args)}" if of.args.args else ""
    return f"; promoarray why {program} says where the dtypes there come from, and what to write"


_ELSEWHERE = (
    ": write --framework NAME for what it computes with, --packages NAME for a library of its own "
    "that computes with NumPy, or run the part that computes"
)
