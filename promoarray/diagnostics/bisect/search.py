"""The search for the lines and rules that change a program's final value, one run a question."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.bisect import trial, value
from promoarray.diagnostics.bisect.ddmin import ddmin
from promoarray.diagnostics.bisect.rules import differing_rules
from promoarray.diagnostics.bisect.trial import Line, LineKey, Trial
from promoarray.diagnostics.run.program import Ended, Program
from promoarray.diagnostics.run.standard_input import StandardInput
from promoarray.diagnostics.run.task import Task
from promoarray.diagnostics.diff.probe import Changes
from promoarray.diagnostics.exit_codes import FAILED, SIGNAL, USAGE
from promoarray.promotion.policy import Policy


class Stopped(Exception):
    """There is nothing to find, for a reason that the user is told.

    Attributes
    ----------
    status : int
        The exit status of the command.
    """

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Run(NamedTuple):
    """One run of the program.

    Attributes
    ----------
    ended : Ended
    probed : trial.Ended or None
        None if it was killed before it could tell.
    """

    ended: Ended
    probed: trial.Ended | None

    @property
    def value(self) -> Any:
        """The final value."""
        return self.probed.value if self.probed else None

    @property
    def why(self) -> str:
        """Why there is no final value; "" if there is."""
        if self.ended.status:
            at = f" at {self.ended.where}" if self.ended.where else ""
            return f"the program stopped{at}: {self.ended.why}"
        if self.probed is None:
            return "the program computed nothing with promoarray"
        return f"the expression failed: {self.probed.error}" if self.probed.error else ""

    @property
    def casts(self) -> dict[tuple[Site, str], str]:
        """The casts applied where a policy refused, to go on."""
        return {at: cast for each in self.ended.findings for at, cast in each.refusals.items()}


class Found(NamedTuple):
    """What the search has found.

    Attributes
    ----------
    first, other, last : Run
        Under the first policy, under the other, and with the other's rules on the lines found.
    lines : list of Line
    rules : list of str or None
        None if the rules could not be told apart.
    runs : int
    """

    first: Run
    other: Run
    last: Run
    lines: list[Line]
    rules: list[str] | None
    runs: int


@dataclass
class Search:
    """Runs a program with some lines or rules of another policy, and compares its final value.

    Attributes
    ----------
    program : Program
    before, after : Policy
    expression : str
    tolerance : float
        Relative: how far two final values may be apart and count as the same.
    given : StandardInput
        What each run reads.
    step : callable
        Is told what is asked next, in words.
    runs : int
        How often the program was run.
    casts : bool
        Whether refusals are answered with the casts that they propose, so that a program goes on
        that the other policy would stop.
    first : Run or None
        The run under the first policy.
    """

    program: Program
    before: Policy
    after: Policy
    expression: str
    tolerance: float
    given: StandardInput
    step: Callable[[str], None]
    runs: int = 0
    casts: bool = False
    first: Run | None = None

    def found(self) -> Found | None:
        """Search; return None if the value is the same under both policies.

        Raises
        ------
        Stopped
            If a run has no value, or the value changes from run to run.
        """
        first = self.first = self._valued("under " + self.before.name, lines=(), shadow=True)
        self._require_same(first, self._valued("the same again", lines=()))
        other = self._run("under " + self.after.name)
        if other.ended.status:
            self.casts = True  # else the other policy stops the program
            other = self._valued("under " + self.after.name)
        self._require_value(other, "under " + self.after.name)
        if self._same(first, other):
            return None
        lines = self._lines(first, other)
        at = {**_seen(other), **_seen(first)}
        rules, last = self._rules(lines, first, other)
        named = [Line(file, number, at.get((file, number), "")) for file, number in sorted(lines)]
        return Found(first, other, last, named, rules, self.runs)

    def _lines(self, first: Run, other: Run) -> list[LineKey]:
        """The lines that give the other value: of those that a shadow run names, if they do."""

        def give(lines: Sequence[LineKey]) -> bool:
            words = f"{len(lines)} of {len(every)} lines"
            return self._gives(other, words, lines=lines)

        every = sorted({**_seen(other), **_seen(first)})
        named = [line for line in every if line in _where_policies_differ(first)]
        if 0 < len(named) < len(every) and give(named):
            return ddmin(named, give)
        if not give(every):
            raise Stopped(
                FAILED,
                f"the value under {self.after.name} changes from run to run: fix its seeds first",
            )
        return ddmin(every, give)

    def _rules(self, lines: list[LineKey], first: Run, other: Run) -> tuple[list[str] | None, Run]:
        """The rules that give the other value on these lines; None if not even all of them do."""
        ran = _operations(first) | _operations(other)
        there = {name for line, name in ran if line in lines}
        rules = differing_rules(self.before, self.after, there)

        def give(some: Sequence[str]) -> bool:
            return self._gives(other, f"{len(some)} of {len(rules)} rules", lines=lines, rules=some)

        kept = ddmin(rules, give) if rules and give(rules) else None
        return kept, self._valued("with what was found", lines=lines, rules=kept)

    def _gives(self, other: Run, words: str, **asked: Any) -> bool:
        run = self._run(words, **asked)
        return not run.why and self._same(run, other)

    def _valued(self, words: str, **asked: Any) -> Run:
        run = self._run(words, **asked)
        self._require_value(run, words)
        return run

    @staticmethod
    def _require_value(run: Run, words: str) -> None:
        if run.why:
            wrong = run.ended.status == 0 and run.probed is not None
            raise Stopped(USAGE if wrong else FAILED, f"{words}: {run.why}")

    def _run(
        self,
        words: str,
        *,
        lines: Iterable[LineKey] | None = None,
        rules: Iterable[str] | None = None,
        shadow: bool = False,
    ) -> Run:
        self.runs += 1
        self.step(f"run {self.runs}: {words}")
        names = self.before.name, self.after.name
        asked = Trial(
            *names,
            self.expression,
            None if lines is None else frozenset(lines),
            None if rules is None else tuple(rules),
            Changes(self.after.name) if shadow else None,
        )
        shadows = names if shadow else ()
        task = Task(shadows, self.before.name, casts=self.casts, names=(), probe=asked)
        ended = self.program.run(task, self.given, quiet=True)
        if ended.interrupted:
            raise Stopped(SIGNAL + signal.SIGINT, "interrupted")
        for bug in ended.bugs:
            raise Stopped(FAILED, f"this is a bug in promoarray. Please report it:\n{bug}")
        return Run(ended, ended.findings[0].probed if ended.findings else None)

    def _same(self, a: Run, b: Run) -> bool:
        return value.same(a.value, b.value, self.tolerance)

    def _require_same(self, first: Run, again: Run) -> None:
        if not self._same(first, again):
            a, b = value.shown(first.value), value.shown(again.value)
            raise Stopped(
                FAILED,
                f"two runs under {self.before.name} give {a} and {b}: the program is not "
                "deterministic. Fix its seeds, or pass a --tolerance above the difference",
            )


def _seen(run: Run) -> dict[LineKey, str]:
    return run.probed.lines if run.probed else {}


def _operations(run: Run) -> frozenset[tuple[LineKey, str]]:
    return run.probed.operations if run.probed else frozenset()


def _where_policies_differ(run: Run) -> set[LineKey]:
    """The lines at which a shadow run has found anything, and those of the expression itself."""
    sites = set()
    for each in run.ended.findings:
        if each.report is not None:
            sites |= {d.program for d in each.report.divergences if d.root}
            sites |= {change.place.program for change in each.report.value_changes}
    if run.probed and run.probed.noted:
        sites |= {at.program for at in run.probed.noted.other_bits}
    own = {line for line in _seen(run) if line[0] == trial.EXPRESSION}
    return own | {(site.file, site.line) for site in sites}
