"""Runs of a program with some of its files edited, under one policy or another."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from promoarray.diagnostics.edits.occurrence import Occurrence
from promoarray.diagnostics.edits.occurrences import occurrences
from promoarray.diagnostics.model.final import Final, final_values
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.program import Ended, Program, Texts
from promoarray.diagnostics.run.standard_input import StandardInput
from promoarray.diagnostics.run.task import Probe, Task
from promoarray.errors import UnknownPolicyError
from promoarray.promotion.in_force import process_default
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


class Ends(Probe):
    """Keeps what the globals of a program are at its end."""

    observes = False

    def ended(self, names: dict[str, Any]) -> dict[str, Final]:
        """Return them, those in containers, too."""
        return final_values(names)


class Ran(NamedTuple):
    """How one run went.

    Attributes
    ----------
    policy : str
        What it ran under.
    seen : list of Occurrence
        Of all its processes.
    final : dict
        The globals of the program itself.
    output : str
    stopped : str
        What stopped it, and where; "" if it ran to its end.
    status : int
    interrupted : bool
    bugs : list of str
    report : Report or None
        What the other policies would have done, where some were asked.
    """

    policy: str
    seen: list[Occurrence]
    final: dict[str, Final]
    output: str
    stopped: str
    status: int
    interrupted: bool
    bugs: list[str]
    report: Report | None = None


class Recordings(NamedTuple):
    """How a program of another framework is run.

    Attributes
    ----------
    framework : str
    wanted : str
        The policy whose dtypes it shall keep; "" for that of the framework itself.
    """

    framework: str
    wanted: str = ""


@dataclass
class Runner:
    """Runs a program.

    Attributes
    ----------
    program : Program
    given : StandardInput
        Its input, the same for each run.
    count : int
        How often it was run.
    recorded : Recordings or None
        None of a program that computes with promoarray.
    step : callable
        Is told of each run, in words.
    """

    program: Program
    given: StandardInput
    count: int = field(default=0)
    recorded: Recordings | None = None
    step: Callable[[str], None] = lambda words: None

    def __call__(
        self, policy: str | None, asked: tuple[str, ...] = (), texts: Texts | None = None
    ) -> Ran:
        """Run it under a policy, or what it sets itself, and ask others besides."""
        self.count += 1
        casts = " with casts" if texts else ""
        self.step(f"run {self.count}: the program{casts}" + (f" under {policy}" if policy else ""))
        task = self._task(policy, asked)
        ended = self.program.run(task, self.given, quiet=True, texts=texts)
        return _ran(ended, asked, self.recorded)

    def _task(self, policy: str | None, asked: tuple[str, ...]) -> Task:
        """What a run is asked for."""
        if self.recorded is None:
            own = (policy,) if policy and asked else ()
            return Task(_once(*own, *asked), policy, names=(), probes=(Ends(),))
        framework, wanted = self.recorded
        policies = _once(*filter(None, (wanted, *asked)))
        return Task(policies, names=(), probes=(Ends(),), framework=framework, past=bool(wanted))


def _once(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _ran(ended: Ended, asked: tuple[str, ...], recorded: Recordings | None) -> Ran:
    own = ended.findings[0] if ended.findings else None
    reports = [each.report for each in ended.findings if each.report is not None]
    for other in reports[1:]:
        reports[0].merge(other)
    report = reports[0] if reports else None
    if report is not None and recorded is None and own is not None:
        report.run = named(own.run)
    run = report.run.name if report else own.run if own else ""
    stopped = f"{ended.why} at {ended.where}" if ended.where else ended.why
    return Ran(
        run,
        seen(report, asked, recorded.wanted if recorded else "") if report else [],
        own.probed[0] if own and own.probed else {},
        ended.output,
        stopped,
        ended.status,
        ended.interrupted,
        ended.bugs,
        report,
    )


def seen(report: Report, asked: tuple[str, ...], wanted: str = "") -> list[Occurrence]:
    """Return the operations of a run, with the whole paths of the files that they stand in."""
    policies, run = tuple(map(as_policy, asked)), as_policy(wanted) if wanted else report.run
    found = occurrences(report, policies, run) if asked else []
    return [replace(each, span=each.span._replace(file=_whole(each.span.file))) for each in found]


def _whole(file: str) -> str:
    return file if file.startswith("<") else os.path.abspath(file)


def named(name: str) -> Policy:
    """Return a policy by the name a program gave; one of its own is known by that alone."""
    try:
        return as_policy(name)
    except UnknownPolicyError:
        return process_default().derive(name)
