"""Runs of a program with some of its files edited, under one policy or another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from promoarray.diagnostics.edits.occurrence import Occurrence
from promoarray.diagnostics.model.final import Final
from promoarray.diagnostics.port.recording import Recorded, Recording
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.program import Ended, Program, Texts
from promoarray.diagnostics.run.standard_input import StandardInput
from promoarray.diagnostics.run.task import Task


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
        Of a program that was recorded: what the other policies would have done, as far as they are
        not asked for one operation alone.
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
        return _ran(self.program.run(task, self.given, quiet=True, texts=texts))

    def _task(self, policy: str | None, asked: tuple[str, ...]) -> Task:
        """What a run is asked for."""
        if self.recorded is None:
            return Task((), policy, names=(), probe=Recording(asked))
        framework, wanted = self.recorded
        policies = tuple(dict.fromkeys(filter(None, (wanted, *asked))))
        probe = Recording(asked, framework, wanted)
        return Task(policies, names=(), probe=probe, framework=framework, past=bool(wanted))


def _ran(ended: Ended) -> Ran:
    recorded = [each.probed for each in ended.findings if isinstance(each.probed, Recorded)]
    own = ended.findings[0] if ended.findings else None
    reports = [each.report for each in ended.findings if each.report is not None]
    for other in reports[1:]:
        reports[0].merge(other)
    report = reports[0] if reports else None
    run = report.run.name if report else own.run if own else ""
    stopped = f"{ended.why} at {ended.where}" if ended.where else ended.why
    return Ran(
        run,
        [seen for each in recorded for seen in each.seen],
        recorded[0].final if recorded else {},
        ended.output,
        stopped,
        ended.status,
        ended.interrupted,
        ended.bugs,
        report,
    )
