"""Outcome of porting a program: the edits, and how it ends with them under every policy."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from promoarray.console import counted, listed
from promoarray.diagnostics.edits.occurrences import Occurrence, Span, occurrences
from promoarray.diagnostics.edits.planner import Edit, NoEdit, Port
from promoarray.diagnostics.findings.verdict import open_in_words
from promoarray.diagnostics.model.final import Final, final_values
from promoarray.diagnostics.model.final_difference import Unequal
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.port.sources import Source
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.program import Ended, Program, StandardInput, Texts, policy_named
from promoarray.diagnostics.run.task import Probe, Task
from promoarray.promotion.registry import as_policy


class Ends(Probe):
    """Keeps what the globals of a program are at its end."""

    observes = False

    def ended(self, names: dict[str, Any]) -> dict[str, Final]:
        """Return them, those in containers, too."""
        return final_values(names)


class Ran(NamedTuple):
    """How one run went."""

    policy: str  # what it ran under
    seen: list[Occurrence]  # of all its processes
    final: dict[str, Final]  # the globals of the program itself
    ended: Ended
    report: Report | None = None  # what the other policies would have done, where some were asked

    @property
    def stopped(self) -> str:
        """What stopped it, and where; "" if it ran to its end."""
        ended = self.ended
        return f"{ended.why} at {ended.where}" if ended.where else ended.why

    @property
    def computed(self) -> bool:
        """Whether anything was observed that promoarray, or the recorded framework, computed."""
        return bool(self.final or (self.report is not None and self.report.operations))


class Recordings(NamedTuple):
    """How a program of another framework is run."""

    framework: str
    wanted: str = ""  # the policy whose dtypes it shall keep; "" for that of the framework itself


@dataclass
class Runner:
    """Runs a program."""

    program: Program
    given: StandardInput  # its input, the same for each run
    count: int = field(default=0)  # how often it was run
    recorded: Recordings | None = None  # none of a program that computes with promoarray
    step: Callable[[str], None] = lambda words: None  # is told of each run, in words

    def __call__(
        self, policy: str | None, asked: tuple[str, ...] = (), texts: Texts | None = None
    ) -> Ran:
        """Run it under a policy, or what it sets itself, and ask others besides."""
        self.count += 1
        casts = " with casts" if texts else ""
        self.step(f"run {self.count}: the program{casts}" + (f" under {policy}" if policy else ""))
        if self.recorded is None:
            named = dict.fromkeys((policy, *asked) if policy and asked else asked)
            task = Task(tuple(named), policy, probes=(Ends(),))
        else:
            framework, wanted = self.recorded
            named = dict.fromkeys((wanted, *asked) if wanted else asked)
            past = bool(wanted)
            task = Task(tuple(named), probes=(Ends(),), framework=framework, past=past)
        return self._ran(self.program.run(task, self.given, quiet=True, texts=texts), asked)

    def _ran(self, ended: Ended, asked: tuple[str, ...]) -> Ran:
        own = ended.findings[0] if ended.findings else None
        report, run = None, own.run if own else ""
        if ended.reports:
            report = ended.report(policy_named(run), ended.reports[0].policies)
            run = report.run.name
        return Ran(
            run,
            seen(report, asked, self.recorded.wanted if self.recorded else ""),
            own.probed[0] if own and own.probed else {},
            ended,
            report,
        )


def seen(report: Report | None, asked: tuple[str, ...], wanted: str = "") -> list[Occurrence]:
    """Return the operations of a run, with the whole paths of the files that they stand in."""
    if report is None or not asked:
        return []
    run = as_policy(wanted) if wanted else report.run
    found = occurrences(report, tuple(map(as_policy, asked)), run)
    return [replace(each, span=each.span._replace(file=_whole(each.span.file))) for each in found]


def _whole(file: str) -> str:
    return file if file.startswith("<") else os.path.abspath(file)


NOTHING_RECORDED = "no operation of it was recorded"
"""Why a program is not proved of which nothing is known."""


class Checked(NamedTuple):
    """How the edited program ended under one policy."""

    policy: str
    stopped: str  # what stopped it, or ""
    unequal: tuple[Unequal, ...]  # its globals that are not as in the run

    @property
    def agrees(self) -> bool:
        """Whether it ends as the run did."""
        return not self.stopped and not self.unequal

    @property
    def differences(self) -> Iterator[str]:
        """What is not as in the run, in words."""
        if self.stopped:
            yield f"differs: {self.policy}: stopped: {self.stopped}"
        for each in self.unequal:
            yield f"differs: {self.policy}: {each.name}: {each.words}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        differences = [
            {"name": d.name, "what": "dtype" if d.dtype else "value", "words": d.words}
            for d in self.unequal
        ]
        return {
            "policy": self.policy,
            "agrees": self.agrees,
            "stopped": self.stopped or None,
            "differences": differences,
        }


@dataclass(frozen=True)
class Ported:
    """What came of it."""

    port: Port
    edits: tuple[Edit, ...]
    left: tuple[NoEdit, ...]
    changed: tuple[tuple[Source, Source], ...]  # the files before and after
    checked: tuple[Checked, ...]  # under the policy of the run itself first
    final: dict[str, Final]  # what the run ended with, but for what varies from run to run
    varying: tuple[str, ...]  # that
    prints: bool  # whether the program prints the same each time, so that this was compared, too
    runs: int  # how often the program was run
    # of a program of another framework, whose dtypes under the policies are known from its
    # operations; nothing is computed under them
    recorded: Recordings | None = None
    real: str = ""  # the NumPy 1 that its values were compared with; "" if none was given
    # what a program that was recorded did besides, of which nothing is known
    open: tuple[NotExamined, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether the edited program ends alike under all policies."""
        return all(each.agrees for each in self.checked)

    def lines(self, args: argparse.Namespace, folder: Path) -> Iterator[str]:
        """Yield what came of it: the edits that lose something, what is left, who agrees."""
        run = self.port.run.name or "the program's own policy"
        names = [policy.name for policy in self.port.policies] or [run]
        casts = sum(len(edit.wraps) for edit in self.edits)
        lines = {(edit.span.file, edit.span.line) for edit in self.edits}
        done = f"{counted(casts, 'cast')} in {counted(len(lines), 'line')}" if casts else "no casts"
        yield f"{args.module or args.script}, from {run} to {listed(names)}: {done}"
        if casts and args.write:
            yield f"written: {', '.join(_short(new.path) for _, new in self.changed)}"
        elif args.patch:
            yield f"written: {args.patch}"
        if casts and folder != Path.cwd().resolve() and not args.write:
            yield f"apply it in {folder}"
        for edit in self.edits:
            if edit.lossy:
                yield f"lossy: {_at(edit.span)} {edit.operation}: {edit.lossy}"
        for left in self.left:
            policies = ", ".join(left.policies)
            yield f"not edited: {_at(left.span)} {left.operation} ({policies}): {left.why}"
        varying = (*self.varying, *(() if self.prints else ("what it prints",)))
        if varying:
            yield f"not compared, as it varies from run to run: {', '.join(varying)}"
        if self.recorded:
            yield from self._proved(self.recorded)
        elif not self.open:
            yield from self._agreeing()
        if self.open:
            yield f"not examined: {open_in_words(self.open).partition(': ')[2]}"
        if self.open or (self.recorded and not self.agrees):
            yield "not proved"
        for checked in self.checked:
            yield from checked.differences

    def _agreeing(self) -> Iterator[str]:
        agree = [each.policy for each in self.checked if each.agrees]
        if agree:
            verb = "have" if len(self.final) != 1 else "has"
            values = f"{counted(len(self.final), 'final value')} {verb}"
            yield f"agree: {listed(agree)}: {values} the dtypes and values of the run"

    def _proved(self, recorded: Recordings) -> Iterator[str]:
        """What running the edited program has shown."""
        own, *others = self.checked
        if own.agrees:
            where = recorded.framework
            if recorded.wanted:
                where = self.real or f"{own.policy}, as the recorded run carries it"
            prints = "what it prints, and " if self.prints and not self.real else ""
            values = counted(len(self.final), "final value")
            yield f"unchanged in {where}: {prints}{values}, bit for bit"
        agree = [each.policy for each in others if each.agrees]
        if agree and not any(each.why == NOTHING_RECORDED for each in self.open):
            and_values = ", and its values" if recorded.wanted else ""
            every = f"every operation recorded has the dtype of {own.policy}{and_values}"
            yield f"agree: {listed(agree)}: {every}"

    def to_dict(self, patch: bytes, folder: Path) -> dict[str, Any]:
        """Return it as data."""
        return {
            "run": self.port.run.name,
            "policies": [policy.name for policy in self.port.policies],
            "agrees": self.agrees,
            "edits": [_data(e) | _casts(e) | {"lossy": e.lossy or None} for e in self.edits],
            "not_edited": [_data(each) | {"why": each.why} for each in self.left],
            "checked": [each.to_dict() for each in self.checked],
            "final": {name: str(value) for name, value in self.final.items()},
            "varying": list(self.varying),
            "prints_compared": self.prints,
            "runs": self.runs,
            "framework": self.recorded.framework if self.recorded else "promoarray",
            "folder": str(folder),
            "patch": patch.decode(errors="surrogateescape"),
        }


class Stopped(Exception):
    """The program did not run to its end under its own policy."""

    def __init__(self, ran: Ran) -> None:
        super().__init__(ran.stopped)
        self.ran = ran


def _at(span: Span) -> str:
    return f"{_short(Path(span.file))}:{span.line}"


def _short(path: Path) -> str:
    below = os.path.relpath(path)
    return str(path) if below.startswith(os.pardir) else below


def _data(of: Edit | NoEdit) -> dict[str, Any]:
    return {
        "file": of.span.file,
        "line": of.span.line,
        "operation": of.operation,
        "policies": list(of.policies),
    }


def _casts(edit: Edit) -> dict[str, Any]:
    wraps = edit.wraps
    return {"casts": [{"line": w.node.lineno, "dtype": w.dtype.name, "how": w.how} for w in wraps]}
