"""Ends of a program under each policy, and where they differ from the run's.

A policy that refuses a line would stop the program there. So that every policy can be compared to
the end, the cast that the refusal's message proposes is applied, and the place noted; else the
first refusal stops the program as it would stop the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, counted, html_table, listed, visible, wrapped
from promoarray.core.call_site import Site
from promoarray.diagnostics.model.final import Final
from promoarray.diagnostics.model.final_difference import FinalDifference, compared
from promoarray.diagnostics.run.program import Ended

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

MOST = 8
"""So many globals that differ are listed, where none are named, and so many casts."""

LABEL = 11
"""Columns of a label at least."""

STYLES = {"stopped": "red", "cast": "yellow"}


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """The first line printed that differs between two runs."""

    number: int  # which line, from 1
    # what it is; "" where nothing was printed any more
    run: str
    other: str


@dataclass
class Outcome:
    """How a program ended under one policy."""

    policy: str
    values: dict[str, str] = field(default_factory=dict)  # the globals asked for, as text
    # from each place and operation refused to the cast applied there, in words
    recovered: dict[tuple[Site, str], str] = field(default_factory=dict)
    error: str = ""  # what stopped it, or ""
    site: str = ""  # the line of the program where it stopped
    output: str = ""  # what it printed
    # the globals at the end; kept of the run that the others are compared with
    finals: dict[str, Final] = field(default_factory=dict, repr=False)
    differences: tuple[FinalDifference, ...] = ()  # the globals that differ from that run's
    same: tuple[str, ...] = ()  # those that do not
    printed: PrintedLine | None = None  # the first line printed that differs

    @property
    def plain(self) -> bool:
        """Whether there is nothing to say but that all is the same."""
        return not (self.recovered or self.error or self.differences or self.printed)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as data."""
        return {
            "policy": self.policy,
            "values": self.values,
            "differences": [each.to_dict() for each in self.differences],
            "same": list(self.same),
            "printed": self.printed and asdict(self.printed),
            "refusals": [
                {"file": site.file, "line": site.line, "refused": said, "cast": cast}
                for (site, said), cast in self.recovered.items()
            ],
            "error": self.error or None,
            "stopped_at": self.site or None,
            "output": self.output,
        }


def outcome(policy: str, ended: Ended, run: Outcome | None = None) -> Outcome:
    """Return how a program ended under a policy, compared with the run; of one that was stopped no
    globals."""
    own = ended.findings[0] if ended.findings else None
    recovered = {place: cast for each in ended.findings for place, cast in each.refusals.items()}
    finals = own.finals if own and not ended.status else {}
    values = {name: each.text for name, each in finals.items() if each.shown}
    made = Outcome(policy, values, recovered, ended.in_short, ended.where, ended.output)
    if run is None:
        made.finals = finals
    elif not (run.error or made.error):
        made.differences = tuple(compared(run.finals, finals))
        differing = {each.name for each in made.differences}
        made.same = tuple(name for name in run.finals if name not in differing)
        made.printed = _printed(run.output, made.output)
    return made


def _printed(run: str, other: str) -> PrintedLine | None:
    """The first line that differs between two outputs."""
    lines = zip_longest(run.splitlines(), other.splitlines(), fillvalue="")
    found = ((n, *pair) for n, pair in enumerate(lines, 1) if pair[0] != pair[1])
    return next((PrintedLine(*each) for each in found), None)


@dataclass(frozen=True, repr=False)
class Outcomes(Printable):
    """How a program ended under each policy, compared with the first."""

    every: tuple[Outcome, ...]
    named: bool = False  # whether the user named the globals to show

    @property
    def headline(self) -> str:
        """What was run."""
        return "Actual runs under each policy"

    def to_dict(self) -> dict[str, Any]:
        """Return the outcomes as data; ``compared_with`` is the policy of the first."""
        first = self.every[0].policy if self.every else None
        return {"compared_with": first, "outcomes": [outcome.to_dict() for outcome in self.every]}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        if not self.every:
            return
        at = console, options.max_width
        run, *others = self.every
        compared_with = f", compared with {run.policy}" if others else ""
        yield Text(f"{self.headline}{compared_with}", style="bold")
        for outcome in (each for each in self.every if not each.plain or self._of_run(each)):
            if said := [*self._said(outcome)]:
                yield Text(outcome.policy, style="bold cyan")
                width = max(LABEL, *(len(label) for label, _ in said))
                for label, text in said:
                    start = Text(f"    {label:<{width}} ", STYLES.get(label, ""))
                    yield from wrapped(start, Text(text), *at)
        alike = [other.policy for other in others if other.plain]
        if alike:
            count = counted(len(run.finals), "global")
            same = f"{count} and the lines printed are the same"
            yield from wrapped(Text(f"{listed(alike)}  ", "bold cyan"), Text(same), *at)

    def html(self) -> str:
        """Return the outcomes as a part of a page; "" if there are none."""
        if not self.every:
            return ""
        rows = (
            (each.policy, "\n".join(f"{label}: {text}" for label, text in self._said(each)))
            for each in self.every
        )
        head = "policy", f"compared with {self.every[0].policy}"
        table = html_table(head, rows, stacked=True).replace("\n", "<br>")
        return f"<h2>{escape(self.headline)}</h2>{table}"

    def _of_run(self, outcome: Outcome) -> bool:
        return outcome is self.every[0]

    def _said(self, outcome: Outcome) -> Iterator[tuple[str, str]]:
        """Yield what is said of an outcome, each with a label: names of globals are some."""
        yield from ((visible(label), visible(text)) for label, text in self._of(outcome))

    def _of(self, outcome: Outcome) -> Iterator[tuple[str, str]]:
        if outcome.error:
            at = f"at {outcome.site}: " if outcome.site else ""
            yield "stopped", f"{at}{outcome.error}"
        if outcome.printed:
            line = outcome.printed
            yield "prints", f"line {line.number}: {line.other!r} instead of {line.run!r}"
        if self._of_run(outcome) and self.named:
            yield from outcome.values.items()
        elif not self._of_run(outcome) and not outcome.error:
            yield from self._globals(outcome)
        made = outcome.recovered.items()
        casts = dict.fromkeys(f"{at}: {cast}, as it refuses {what}" for (at, what), cast in made)
        yield from (("cast", cast) for cast in [*casts][:MOST])
        if len(casts) > MOST:
            yield "cast", f"and {len(casts) - MOST} more casts (--json has all)"

    def _globals(self, outcome: Outcome) -> Iterator[tuple[str, str]]:
        """Yield names of globals with what is said of them: those that differ, those asked for.

        Where none are asked for, the last to be set come first: they are the program's results.
        """
        if self.named:
            yield from ((each.name, each.words()) for each in outcome.differences)
            yield from ((name, f"the same, {outcome.values[name]}") for name in outcome.same)
            return
        found = outcome.differences[::-1]
        yield from ((each.name, each.words()) for each in found[:MOST])
        more, same = [each.name for each in found[MOST:]], outcome.same
        if more:
            yield "…", f"{len(more)} more differ: {listed(more[:MOST])}{' …' * bool(more[MOST:])}"
        if same:
            names = f"{', '.join(same[:MOST])}{' …' * bool(same[MOST:])}"
            yield "same", f"{counted(len(same), 'global')}: {names}"
