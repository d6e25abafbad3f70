"""All that changes in a program from one policy to another, as text, data and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from promoarray.console import ZERO_D, Printable, counted, html_table, listed, wrapped
from promoarray.core.call_site import Site
from promoarray.core.events import OperationEvent
from promoarray.core.refusals import spelled as written
from promoarray.diagnostics.diff.change import REFUSES, Change, Values
from promoarray.diagnostics.diff.probe import At, Noted
from promoarray.diagnostics.diff.reasons import NO_REASONS, reasons_of
from promoarray.diagnostics.edits.occurrences import occurrences
from promoarray.diagnostics.edits.of_report import Planned, planned
from promoarray.diagnostics.findings.finding import spelled
from promoarray.diagnostics.findings.verdict import NotExamined, not_examined, open_in_words
from promoarray.diagnostics.model.answers import OperationAnswers
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.value_changes import ValueChange
from promoarray.diagnostics.report import Report
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

KINDS = {
    "dtype": "other dtypes",
    "refusal": "refusals",
    "value": "other values of the same dtype",
    "signature": "calls that the framework's function does not take",
}


@dataclass(frozen=True, repr=False)
class Difference(Printable):
    """What changes in a program from one policy to another.

    Attributes
    ----------
    before, after : Policy
    operations : int
        How many operations were compared.
    changes : tuple of Change
        In the order of the source.
    inherited : bool
        Whether printing shows the places that only inherit, too.
    open : tuple of NotExamined
        What else the program did, of which neither policy was asked.
    """

    before: Policy
    after: Policy
    operations: int
    changes: tuple[Change, ...]
    inherited: bool = False
    open: tuple[NotExamined, ...] = ()

    @property
    def headline(self) -> str:
        """What was compared."""
        return f"What changes from {self.before.name} to {self.after.name}"

    @property
    def shown(self) -> list[Change]:
        """The changes that are printed."""
        return [each for each in self.changes if self.inherited or not each.inherited]

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "from": self.before.name,
            "to": self.after.name,
            "operations": self.operations,
            "changes": [each.to_dict() for each in self.changes],
            "not_examined": [each.to_dict() for each in self.open],
        }

    def summary(self) -> str:
        """Return the counts in a sentence."""
        way = f"from {self.before.name} to {self.after.name}"
        done = counted(self.operations, "operation")
        left = open_in_words(self.open)
        if not self.operations:
            return f"No operation ran under {self.before.name}: there is nothing to compare."
        if not self.changes:
            examined = " of what was examined" if self.open else ""
            return " ".join(filter(None, (f"{done}: nothing changes {way}{examined}.", left)))
        roots = [each for each in self.changes if not each.inherited]
        kinds = Counter(each.kind for each in roots)
        counts = {words: kinds[kind] for kind, words in KINDS.items() if kinds[kind]}
        found = [f"{words} at {counted(n, 'place')}" for words, n in counts.items()]
        lines = counted(len({(c.program.file, c.program.line) for c in roots}), "line")
        verb = "changes" if lines == "1 line" else "change"
        said = f"{done}: {lines} {verb} {way}: {listed(found)}.{self._rest()}"
        return " ".join(filter(None, (said, left)))

    def _rest(self) -> str:
        """The lines that are left out, as only their operands differ."""
        roots = {(c.program.file, c.program.line) for c in self.shown}
        left = {(c.program.file, c.program.line): c.program for c in self.changes} if roots else {}
        lines = sorted(line for (file, line) in left if (file, line) not in roots)
        if not lines:
            return ""
        which = ", ".join(map(str, lines[:_MOST])) + (", …" if lines[_MOST:] else "")
        more = counted(len(lines), "more line")
        return f" Because of these, operands differ on {more} ({which}; --all shows them)."

    def legend(self) -> Iterator[str]:
        """Say what holds for all of the report: the two rules, and its signs."""
        if any(each.kind != "value" for each in self.changes):
            for policy in (self.before, self.after):
                if policy.principle:
                    yield f"{policy.name}: {policy.principle}"
        if any("[]" in each.operation for each in self.shown):
            yield ZERO_D

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        for each in self.shown:
            yield from each.shown(self.before.name, self.after.name, console, options.max_width)
        yield from wrapped(Text(), Text(self.summary(), "bold"), console, options.max_width)
        for line in self.legend():
            yield from wrapped(Text(), Text(line, "dim"), console, options.max_width)

    def html(self) -> str:
        """Return it as a part of a page."""
        head = ("place", "source", "operation", self.before.name, self.after.name, "write")
        rows = [
            (
                str(each.site),
                each.site.expression or each.site.text,
                each.operation,
                " ".join(filter(None, (each.before, each.why("before")))),
                " ".join(filter(None, (each.after, each.why("after")))),
                each.edit,
            )
            for each in self.changes
        ]
        table = html_table(head, rows, stacked=True) if rows else ""
        return f"<p>{escape(self.summary())}</p>{table}"


_MOST = 8
"""So many lines that only inherit are named."""


def difference(
    report: Report, every: Iterable[Noted], after: Policy, before: Policy | None = None
) -> Difference:
    """Ask two policies about a run, and put together what changes from one to the other.

    Parameters
    ----------
    report : Report
        Of a run, with both policies asked.
    every : iterable of Noted
        What the probes of its processes have found.
    after, before : Policy
        The policies; the first is that of the run, if it is not named.
    """
    run = before or report.run
    events = {_at(d): event for d in report.found if (event := _event_of(d)) is not None}
    places = report.edited(_planned(report, run, after))
    scalars = {(c.place.site, c.place.operation) for c in report.value_changes}
    changes = [
        *(_of_dtype(each, events.get(_at(each)), run, after) for each in places),
        *(c for each in report.value_changes for c in _of_values(each)),
        *_of_signatures(report, run, after),
        *(c for noted in every for c in _noted(noted, scalars)),
    ]
    real = {each: None for each in changes if each.before != each.after}
    ordered = sorted(real, key=lambda c: (c.program, c.site, c.kind, c.operation))
    return Difference(run, after, report.operations, tuple(ordered), open=(*not_examined(report),))


def _planned(report: Report, before: Policy, after: Policy) -> Planned:
    """The edits after which the program keeps under the second policy what the first gives."""
    wanted = before if before is not report.run else None
    return planned(before, (after,), occurrences(report, (after,), wanted))


def _at(d: Divergence) -> tuple[object, ...]:
    return d.site, d.program, d.name, d.part, d.form, d.operands


def _event_of(d: Divergence) -> OperationEvent | None:
    answers = d.answers
    return answers.event if isinstance(answers, OperationAnswers) else None


def _of_dtype(d: Divergence, event: OperationEvent | None, before: Policy, after: Policy) -> Change:
    run, other = d.answers[before.name], d.answers[after.name]
    inherited = "inherits" in (run.origin, other.origin)  # of a recorded run, either's
    fix = other.fix or run.fix
    edit = fix.text if fix and d.program == d.site and not inherited else ""
    refusal = other.reason or run.reason
    if d.framework:  # the rest is how to write it with promoarray
        refusal = refusal.partition(" Write pa.")[0]
    why = NO_REASONS
    if event is not None:
        why = reasons_of(event.name, event.form, event.operands, before, after)
    return Change(
        "dtype" if other.dtype and run.dtype else "refusal",
        d.site,
        d.program,
        spelled(d),
        str(run),
        str(other),
        why,
        refusal,
        edit,
        inherited=inherited,
        count=d.count,
    )


def _of_values(change: ValueChange) -> Iterator[Change]:
    place = change.place
    for each in change.differences.values():
        example = each.example
        values = Values(change.size, each.elements, example.at, example.given)
        yield Change(
            "value",
            place.site,
            place.program,
            f"{place.operation}: {change.cast}",
            example.run,
            example.other,
            values=values,
            count=change.passes,
        )


def _of_signatures(report: Report, before: Policy, after: Policy) -> Iterator[Change]:
    """The calls that one framework's function takes and the other's does not."""
    taken_by_neither = {c.site for c in report.signatures if c.policy == before.name}
    for call, count in report.signatures.items():
        if call.policy == after.name and call.site not in taken_by_neither:
            yield Change(
                "signature",
                call.site,
                call.site,
                "call",
                "takes it",
                REFUSES,
                refusal=call.reason,
                count=count,
            )


def _noted(noted: Noted, scalars: set[tuple[Site, str]]) -> Iterator[Change]:
    for at, bits in noted.other_bits.items():
        if (at.site, at.operation) in scalars:  # which says it of the scalar already
            continue
        values = Values(bits.size, bits.elements, bits.index, "")
        yield Change(
            "value",
            at.site,
            at.program,
            f"{_operation(at)}: {bits.dtype}",
            bits.before,
            bits.after,
            bits.reasons,
            values=values,
            count=bits.passes,
        )
    for at, refused in noted.refused.items():
        if refused.before != refused.after:
            yield Change(
                "refusal",
                at.site,
                at.program,
                _operation(at),
                refused.before or REFUSES,
                refused.after or REFUSES,
                refused.reasons,
                refused.reason,
                count=refused.count,
            )


def _operation(at: At) -> str:
    if at.operation == "setitem":
        return "{}[...] = {}".format(*at.operands)
    return written(at.operation, at.operands, at.form)
