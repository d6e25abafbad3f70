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
from promoarray.diagnostics.diff.probe import Changes
from promoarray.diagnostics.exit_codes import FAILED, SIGNAL, USAGE
from promoarray.diagnostics.run.program import Ended, Program
from promoarray.diagnostics.run.standard_input import StandardInput
from promoarray.diagnostics.run.task import Task
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
    """One run of the program; ``probed`` is None if it was killed before it could tell."""

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
    def lines(self) -> dict[LineKey, str]:
        """The lines that asked for a policy, with their texts."""
        return self.probed.lines if self.probed else {}

    @property
    def operations(self) -> frozenset[tuple[LineKey, str]]:
        """The operations that were carried out, each after its line."""
        return self.probed.operations if self.probed else frozenset()

    @property
    def casts(self) -> dict[tuple[Site, str], str]:
        """The casts applied where a policy refused, to go on."""
        return {at: cast for each in self.ended.findings for at, cast in each.refusals.items()}

    @property
    def differing(self) -> set[LineKey]:
        """The lines at which a shadow run has found anything, and those of the expression."""
        sites = set()
        for each in self.ended.findings:
            if each.report is not None:
                sites |= {d.program for d in each.report.divergences if d.root}
                sites |= {change.place.program for change in each.report.value_changes}
        if self.probed and self.probed.noted:
            sites |= {at.program for at in self.probed.noted.other_bits}
        own = {line for line in self.lines if line[0] == trial.EXPRESSION}
        return own | {(site.file, site.line) for site in sites}


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
        before, after = f"under {self.before.name}", f"under {self.after.name}"
        first = self.first = self._valued(before, self._run(before, lines=(), shadow=True))
        again = self._valued("the same again", self._run("the same again", lines=()))
        if not self._same(first, again):
            a, b = value.shown(first.value), value.shown(again.value)
            raise Stopped(
                FAILED,
                f"two runs {before} give {a} and {b}: the program is not deterministic. Fix its "
                "seeds, or pass a --tolerance above the difference",
            )
        other = self._run(after)
        if other.ended.status:
            self.casts = True  # else the other policy stops the program
            other = self._run(after)
        self._valued(after, other)
        if self._same(first, other):
            return None
        every = {**other.lines, **first.lines}
        lines = self._lines(sorted(every), first.differing, other)
        there = {name for line, name in first.operations | other.operations if line in lines}
        rules = self._rules(lines, differing_rules(self.before, self.after, there), other)
        words = "with what was found"
        last = self._valued(words, self._run(words, lines=lines, rules=rules))
        named = [Line(*line, every.get(line, "")) for line in sorted(lines)]
        return Found(first, other, last, named, rules, self.runs)

    def _lines(self, every: list[LineKey], named: set[LineKey], other: Run) -> list[LineKey]:
        """The lines that give the other value: of those that a shadow run names, if they do."""

        def give(lines: Sequence[LineKey]) -> bool:
            return self._gives(other, f"{len(lines)} of {len(every)} lines", lines=lines)

        some = [line for line in every if line in named]
        if 0 < len(some) < len(every) and give(some):
            return ddmin(some, give)
        if give(every):
            return ddmin(every, give)
        raise Stopped(
            FAILED,
            f"the value under {self.after.name} changes from run to run: fix its seeds first",
        )

    def _rules(self, lines: list[LineKey], rules: list[str], other: Run) -> list[str] | None:
        """The rules that give the other value on these lines; None if not even all of them do."""

        def give(some: Sequence[str]) -> bool:
            return self._gives(other, f"{len(some)} of {len(rules)} rules", lines=lines, rules=some)

        return ddmin(rules, give) if rules and give(rules) else None

    def _gives(self, other: Run, words: str, **asked: Any) -> bool:
        run = self._run(words, **asked)
        return not run.why and self._same(run, other)

    @staticmethod
    def _valued(words: str, run: Run) -> Run:
        """Return a run that has a value."""
        if run.why:
            wrong = run.ended.status == 0 and run.probed is not None
            raise Stopped(USAGE if wrong else FAILED, f"{words}: {run.why}")
        return run

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
