"""The report of ``promoarray compare`` in its formats."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field, replace
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from promoarray.console import Printable, console, counted, html_table, listed, visible, wrapped
from promoarray.core.call_site import Site
from promoarray.diagnostics.findings.classify import KNOWN, Judged
from promoarray.diagnostics.findings.results import (
    Finding,
    findings,
    of_call,
    of_change,
    of_decision,
    of_divergence,
    of_escape,
)
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.final import Final
from promoarray.diagnostics.model.final_difference import FinalDifference, compared
from promoarray.diagnostics.model.values import ValueChanges
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.render.formats import Formats
from promoarray.diagnostics.render.json import finding_data
from promoarray.diagnostics.render.sarif import RULES
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.program import Ended
from promoarray.diagnostics.spans import base_folder, relative

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

SCHEMA = Path(__file__).with_name("report.schema.json")
"""Of the JSON report; docs/ci.md says what may change in it."""

SCHEMA_VERSION = "1.3"
"""The second number counts additions, the first all else."""


class Compared(NamedTuple):
    """All there is to write."""

    report: Report
    judged: Judged
    outcomes: Outcomes
    ended: Ended
    status: int  # what the command exits with


def write(compared: Compared, args: argparse.Namespace) -> None:
    """Write the report, and the page if one is asked for; see ``Formats.write`` for the errors."""
    report, judged, ended = compared.report, compared.judged, compared.ended
    stopped = [ended.stopped_under(report.run.name)] if ended.status else []
    Formats(
        judged,
        compared.status,
        RULES,
        (report.summary(), judged.left_out),
        [*stopped, *ended.bugs],
        lambda: report_data(compared),
        lambda file: _write_text(compared, args, file),
        lambda command: report.to_html(compared.outcomes.html(), command),
    ).write(args)


# -- text -----------------------------------------------------------------------------------------


def _write_text(compared: Compared, args: argparse.Namespace, file: IO[str] | None) -> None:
    report, judged = compared.report, compared.judged
    shown = without(report, judged.hidden) if judged.hidden else report
    shown.inherited = args.all
    if args.all or not judged.hidden or findings(shown):  # else only what they lead to is left
        console(file).print(shown, crop=False)
    if compared.outcomes.every:
        console(file).print(compared.outcomes, crop=False)
    if args.drift and isinstance(report, RecordedReport):
        for line in report.drift_in_words():
            print(line, file=file)
    for line in _about_findings(judged):
        print(line, file=file)


def _about_findings(judged: Judged) -> list[str]:
    """What is to be said of the baseline and of comments, a line each."""
    lines = [judged.left_out] if judged.left_out else []
    if judged.gone:
        lines.append(
            f"Not found any more, of {judged.baseline} (--update-baseline removes what is gone):"
        )
        lines += [f"    {each}" for each in judged.gone_in_words]
    lines += [f"{relative(n.file, base_folder())}:{n.line}: {n.text}" for n in judged.notices]
    return lines


# -- a report without the findings that are known, or ignored -------------------------------------


Hidden = Collection[Finding]


def without(report: Report, hidden: Hidden) -> Report:
    """Return a report without some of its findings.

    A policy that has no others is left out, too: nothing is said of whether it agrees.
    """
    left = {each.policy for each in findings(report) if each not in hidden}
    gone = {each.policy for each in hidden} - left
    run = report.run.name

    def others(counts: Counter[Any], of: Callable[[Any, int, str], Finding]) -> Counter[Any]:
        every = tuple(counts.items())  # to which other threads may add meanwhile
        return Counter({each: n for each, n in every if of(each, n, run) not in hidden})

    counts: dict[str, Any] = {
        "escapes": others(report.escapes, of_escape),
        "signatures": others(report.signatures, of_call),
        "decisions": others(report.decisions, of_decision),
    }
    kept = replace(report, _found={}, value_changes=ValueChanges(), **counts)
    kept.policies = tuple(policy for policy in report.policies if policy.name not in gone)
    for divergence in report.divergences:
        if (less := _divergence(divergence, hidden, gone)) is not None:
            kept.record(less)
    for change in report.value_changes:
        shown = {each.policy for each in of_change(change, run) if each not in hidden}
        if (fewer := change.of(shown)) is not None:
            kept.value_changes.found[change.place] = fewer
    return kept


def _divergence(divergence: Divergence, hidden: Hidden, left_out: set[str]) -> Divergence | None:
    """A place without the answers that are hidden; None if no policy differs any more."""
    gone = left_out | {each.policy for each in of_divergence(divergence) if each in hidden}
    if not gone:
        return divergence
    answers = {name: answer for name, answer in divergence.answers.items() if name not in gone}
    differ = any(answer.origin for answer in answers.values())
    return replace(divergence, answers=answers) if differ else None


# -- JSON -----------------------------------------------------------------------------------------


def report_data(compared: Compared) -> dict[str, Any]:
    """Return all there is as data, as ``report.schema.json`` has it."""
    ended, judged = compared.ended, compared.judged
    return (
        {"schema_version": SCHEMA_VERSION, "exit_code": compared.status}
        | compared.report.to_dict()
        | {"findings": [finding_data(judged, each) for each in judged.states]}
        | {"fail_on": list(judged.fail_on), "baseline": _baseline(judged)}
        | {"notices": [each._asdict() for each in judged.notices], "program": ended.to_dict()}
        | compared.outcomes.to_dict()
    )


def _baseline(judged: Judged) -> dict[str, Any] | None:
    if not judged.baseline:
        return None
    gone = [entry.to_dict() | {"count": n} for entry, n in sorted(judged.gone.items())]
    return {"file": judged.baseline, "known": len(judged.of(KNOWN)), "gone": gone}


# -- ends of the program under each policy ---------------------------------------------------------


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
    finals = own.probed[0] if own and own.probed and not ended.status else {}
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
