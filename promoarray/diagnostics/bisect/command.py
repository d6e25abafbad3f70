"""``promoarray bisect``: find the lines and rules that change a program's final value."""

from __future__ import annotations

import argparse
import json
import signal
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from promoarray.console import Printed, console, counted, visible, wrapped
from promoarray.diagnostics.bisect.trial import (
    EXPRESSION,
    Line,
    Run,
    Trial,
    differing_rules,
    in_words,
    same,
    shown,
    worded,
)
from promoarray.diagnostics.diff.change import Change
from promoarray.diagnostics.diff.command import difference
from promoarray.diagnostics.diff.probe import Changes
from promoarray.diagnostics.exit_codes import FAILED, FINDINGS, NOTHING, SIGNAL, USAGE
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.run.program import Program, StandardInput, as_module, program_of, say
from promoarray.diagnostics.run.task import Task
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


class Stopped(Exception):
    """There is nothing to find, for a reason that the user is told; with the exit status."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass
class Search:
    """Runs a program with some lines or rules of another policy, and compares its final value."""

    program: Program
    before: Policy
    after: Policy
    expression: str
    tolerance: float  # Relative: how far two final values may be apart and count as the same
    given: StandardInput  # what each run reads
    step: Callable[[str], None]  # is told what is asked next, in words
    runs: int = 0  # how often the program was run
    value: Any = None  # the final value under the first policy, once that has run
    _casts: bool = False

    def found(self) -> Bisection | None:
        """Search; return None if the value is the same under both policies, and raise ``Stopped``
        if a run has no value, or it changes from run to run."""
        before, after = f"under {self.before.name}", f"under {self.after.name}"
        first = _valued(before, self._run(before, lines=(), shadow=True))
        self.value = first.seen.value
        again = _valued("the same again", self._run("the same again", lines=()))
        if not self._same(first, again):
            a, b = shown(first.seen.value), shown(again.seen.value)
            raise Stopped(
                FAILED,
                f"two runs {before} give {a} and {b}: the program is not deterministic. Fix its "
                "seeds, or pass a --tolerance above the difference",
            )
        other = self._run(after)
        if other.ended.status:
            self._casts = True  # else the other policy stops the program
            other = self._run(after)
        _valued(after, other)
        if self._same(first, other):
            return None
        changes, every = self._changes(first), {**other.seen.lines, **first.seen.lines}
        lines = self._lines(sorted(every), {each.line for each in changes}, other)
        met = first.seen.operations | other.seen.operations
        there = {name for line, name in met if line in lines}
        rules = self._rules(lines, differing_rules(self.before, self.after, there), other)
        words = "with what was found"
        last = _valued(words, self._run(words, lines=lines, rules=rules))
        return Bisection(
            self.before,
            self.after,
            self.expression,
            (first, other, last),
            {line: every.get(line, "") for line in sorted(lines)},
            rules,
            self.runs,
            tuple(each for each in changes if each.line in lines),
        )

    def _changes(self, first: Run) -> list[Change]:
        """What changes in the program by itself, as ``promoarray diff`` has it."""
        report = first.ended.report(self.before, (self.before, self.after))
        noted = (each.probed[1] for each in first.ended.findings if each.probed)
        every = difference(report, noted, self.after).changes
        return [each for each in every if not each.inherited]

    def _lines(self, every: list[Line], named: set[Line], other: Run) -> list[Line]:
        """The lines that give the other value: of those at which something changes, if they do."""

        def give(lines: Sequence[Line]) -> bool:
            return self._gives(other, f"{len(lines)} of {len(every)} lines", lines=lines)

        some = [line for line in every if line in named or line[0] == EXPRESSION]
        if 0 < len(some) < len(every) and give(some):
            return ddmin(some, give)
        if give(every):
            return ddmin(every, give)
        raise Stopped(
            FAILED,
            f"the value under {self.after.name} changes from run to run: fix its seeds first",
        )

    def _rules(self, lines: list[Line], rules: list[str], other: Run) -> list[str] | None:
        """The rules that give the other value on these lines; None if not even all of them do."""

        def give(some: Sequence[str]) -> bool:
            return self._gives(other, f"{len(some)} of {len(rules)} rules", lines=lines, rules=some)

        return ddmin(rules, give) if rules and give(rules) else None

    def _gives(self, other: Run, words: str, **asked: Any) -> bool:
        run = self._run(words, **asked)
        return not run.why and self._same(run, other)

    def _run(
        self,
        words: str,
        *,
        lines: Iterable[Line] | None = None,
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
        )
        probes = (asked, Changes(self.after.name)) if shadow else (asked,)
        shadows = names if shadow else ()
        task = Task(shadows, self.before.name, casts=self._casts, probes=probes)
        ended = self.program.run(task, self.given, quiet=True)
        if ended.interrupted:
            raise Stopped(SIGNAL + signal.SIGINT, "interrupted")
        for bug in ended.bugs:
            raise Stopped(FAILED, f"this is a bug in promoarray. Please report it:\n{bug}")
        return Run.of(ended)

    def _same(self, a: Run, b: Run) -> bool:
        return same(a.seen.value, b.seen.value, self.tolerance)


def _valued(words: str, run: Run) -> Run:
    """Return a run that has a value."""
    if run.why:
        raise Stopped(
            USAGE if run.seen.error and not run.ended.status else FAILED, f"{words}: {run.why}"
        )
    return run


# -- delta debugging ---------------------------------------------------------------------------


T = TypeVar("T")


def ddmin(whole: Sequence[T], has_effect: Callable[[Sequence[T]], bool]) -> list[T]:
    """Reduce a sequence that has an effect, and would have none if it were empty, to one of which
    no element can be left out; there may be other such parts. ``has_effect`` is asked of no part
    twice."""

    @cache
    def holds(part: tuple[int, ...]) -> bool:
        return has_effect([whole[i] for i in part])

    kept, pieces = tuple(range(len(whole))), 2
    while len(kept) > 1:
        cuts = [len(kept) * n // pieces for n in range(pieces + 1)]
        parts = [kept[a:b] for a, b in pairwise(cuts)]
        others = [kept[:a] + kept[b:] for a, b in pairwise(cuts)]
        if (smaller := next(filter(holds, parts), None)) is not None:
            kept, pieces = smaller, 2
        elif (rest := next(filter(holds, others), None)) is not None:
            kept, pieces = rest, max(pieces - 1, 2)
        elif pieces >= len(kept):
            break
        else:
            pieces = min(2 * pieces, len(kept))
    return [whole[i] for i in kept]


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status."""
    before, after = as_policy(args.before), as_policy(args.after)
    program = program_of(args)
    if wrong := _wrong(args):
        return _say(wrong, USAGE)
    with tempfile.TemporaryFile() as kept, Progress() as progress:
        asked = args.expression, args.tolerance
        search = Search(program, before, after, *asked, StandardInput(kept), progress.step)
        try:
            found = search.found()
        except Stopped as stopped:
            return _say(f"{stopped}{as_module(args.script)}", stopped.status)
    names = {"from": before.name, "to": after.name, "expression": args.expression}
    same = {"lines": [], "rules": [], "runs": search.runs}
    if args.json:
        print(json.dumps(found.to_dict() if found else names | same, indent=2))
    elif found:
        console().print(found)
    else:
        within = f" (within {args.tolerance:g})" if args.tolerance else ""
        under = f"under {before.name} and {after.name}{within}"
        print(f"{args.expression} is the same {under}: {shown(search.value)}.")
    return FINDINGS if found else NOTHING


def _wrong(args: argparse.Namespace) -> str:
    """What is wrong with the arguments, before the program is run."""
    try:
        compile(args.expression, "--expr", "eval")
    except (SyntaxError, ValueError) as error:
        return f"--expr {args.expression!r} is not an expression: {error}"
    if not 0 <= args.tolerance < float("inf"):
        return f"--tolerance takes a number from 0 up, not {args.tolerance}"
    return ""


def _say(what: str, status: int) -> int:
    say("bisect", what)
    return status


# -- the result ------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Bisection(Printed):
    """The smallest lines and rules that change a final value."""

    before: Policy
    after: Policy
    expression: str
    # under the first policy, under the other, and with the other's rules on the lines found
    ran: tuple[Run, Run, Run]
    lines: dict[Line, str]  # from each line found to its text
    rules: list[str] | None  # None if the rules could not be told apart
    runs: int  # how often the program was run
    changes: tuple[Change, ...]  # what ``promoarray diff`` shows of these lines

    @property
    def values(self) -> list[Any]:
        """The final value of each run."""
        return [run.seen.value for run in self.ran]

    def told(self) -> list[tuple[str, str]]:
        """Return what was run, and the value then."""
        only = "these lines" if len(self.lines) > 1 else "this line"
        rules = f"{counted(len(self.rules), 'rule')} of " if self.rules else ""
        ran = (
            f"under {self.before.name}",
            f"under {self.after.name}",
            f"with {rules}{self.after.name} on {only} only",
        )
        return list(zip(ran, in_words(self.values), strict=True))

    @property
    def about(self) -> dict[str, str]:
        """The rules found, each with what it is about."""
        return {rule: worded(rule) for rule in self.rules or ()}

    def summary(self) -> str:
        """Say what was found in a sentence."""
        there = f" and {counted(len(self.rules), 'rule')} there" if self.rules else ""
        made = counted(len(self.lines), "line") + there
        one = len(self.lines) == 1 and len(self.rules or [0]) == 1
        less = "" if one else "; without any of them it is another value"
        first, other, _ = in_words(self.values)
        runs = counted(self.runs, "run")
        return f"{self.expression} is {other} instead of {first} because of {made}{less} ({runs})."

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        rules = [{"rule": rule, "words": words} for rule, words in self.about.items()]
        names = {"from": self.before.name, "to": self.after.name, "expression": self.expression}
        return names | {
            "value": dict(zip(("from", "to", "minimal"), map(_data, self.values), strict=True)),
            "lines": [
                {"file": file, "line": number, "source": text}
                for (file, number), text in self.lines.items()
            ],
            "rules": None if self.rules is None else rules,
            "changes": [each.to_dict() for each in self.changes],
            "refusals": [
                {"file": site.file, "line": site.line, "refused": said, "cast": cast}
                for (site, said), cast in self.ran[1].ended.refusals.items()
            ],
            "runs": self.runs,
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        told = self.told()
        longest = max(len(what) for what, _ in told)
        for what, value in told:
            run = Text(f"{what:<{longest}}  ")
            yield from wrapped(run, Text(value, "bold"), console, options.max_width)
        for each in self.changes:
            yield from each.shown(self.before.name, self.after.name, console, options.max_width)
        for line in [n for n in self.lines if n not in {each.line for each in self.changes}]:
            source = visible(self.lines[line])
            yield Text(_place(line), "bold cyan").append(f"  {source}", "bold not cyan")
        for rule, words in self.about.items():
            yield Text("rule  ", "green").append(f"{rule}: {words}", "not green")
        if self.rules is None:
            yield Text("The rules could not be told apart: only together do they give this value.")
        for (site, said), cast in self.ran[1].ended.refusals.items():
            refused = f"{self.after.name} refuses {said} at {site}; cast {cast} to go on"
            yield Text(visible(refused), "dim")
        yield from wrapped(Text(), Text(self.summary(), "bold"), console, options.max_width)


def _place(line: Line) -> str:
    file, number = line
    return "the expression itself" if file == EXPRESSION else visible(f"{file}:{number}")


def _data(value: Any) -> Any:
    """A plain value as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind != "c" else [str(x) for x in value.flat]
    if isinstance(value, (list, tuple)):
        return [_data(each) for each in value]
    if isinstance(value, dict):
        return {key: _data(each) for key, each in value.items()}
    return str(value) if isinstance(value, complex) else value
