"""Runs of a program with some of its files edited, under one policy or another."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from promoarray.diagnostics.edits.occurrences import Occurrence, occurrences
from promoarray.diagnostics.model.final import Final, final_values
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
    output: str
    stopped: str  # what stopped it, and where; "" if it ran to its end
    report: Report | None = None  # what the other policies would have done, where some were asked
    interrupted: bool = False
    bugs: list[str] = []  # noqa: RUF012 - read alone
    imported: tuple[str, ...] = ()  # the array libraries that the program itself imported

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
            task = Task(tuple(named), policy, names=(), probes=(Ends(),))
        else:
            framework, wanted = self.recorded
            named = dict.fromkeys((wanted, *asked) if wanted else asked)
            past = bool(wanted)
            task = Task(tuple(named), names=(), probes=(Ends(),), framework=framework, past=past)
        return self._ran(self.program.run(task, self.given, quiet=True, texts=texts), asked)

    def _ran(self, ended: Ended, asked: tuple[str, ...]) -> Ran:
        own = ended.findings[0] if ended.findings else None
        reports = ended.reports
        report, run = reports[0] if reports else None, own.run if own else ""
        if report is not None:
            for other in reports[1:]:
                report.merge(other)
            if self.recorded is None:
                report.run = policy_named(run)
            run = report.run.name
        return Ran(
            run,
            seen(report, asked, self.recorded.wanted if self.recorded else ""),
            own.probed[0] if own and own.probed else {},
            ended.output,
            f"{ended.why} at {ended.where}" if ended.where else ended.why,
            report,
            ended.interrupted,
            ended.bugs,
            ended.imported,
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
