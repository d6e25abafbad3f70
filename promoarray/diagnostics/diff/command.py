"""``promoarray diff``: run a program under one policy, and list what changes under another."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from promoarray.console import ZERO_D, Printed, console, counted, listed, wrapped
from promoarray.core.events import OperationEvent
from promoarray.diagnostics.diff.change import OPEN, REFUSES, Change, Values
from promoarray.diagnostics.diff.probe import Changes
from promoarray.diagnostics.edits.occurrences import occurrences
from promoarray.diagnostics.edits.planner import planned
from promoarray.diagnostics.exit_codes import FAILED, FINDINGS, INCOMPLETE, NOTHING, SIGNAL, USAGE
from promoarray.diagnostics.findings.verdict import not_examined, open_in_words
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.saved import NotSaved, is_saved, read, require_no_options
from promoarray.diagnostics.render.words import library_to_record, whom_to_tell
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.frameworks import expected
from promoarray.diagnostics.run.program import Ended, as_module, program_of, say
from promoarray.diagnostics.run.task import Task
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

KINDS = {
    "dtype": "other dtypes",
    "refusal": "refusals",
    "value": "other values of the same dtype",
    "signature": "calls that the framework's function does not take",
}

_MOST = 8
"""So many lines that only inherit are named."""


@dataclass(frozen=True, repr=False)
class Difference(Printed):
    """What changes in a program from one policy to another."""

    before: Policy
    after: Policy
    operations: int  # how many were compared
    changes: tuple[Change, ...]  # in the order of the source
    inherited: bool = False  # whether printing shows the places that only inherit, too
    open: tuple[NotExamined, ...] = ()  # what else the program did, of which neither was asked

    @property
    def _way(self) -> str:
        return f"from {self.before.name} to {self.after.name}"

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
        """Return the counts in a sentence, and what was not examined in another."""
        if not self.operations:
            return f"No operation ran under {self.before.name}: there is nothing to compare."
        found = f"{counted(self.operations, 'operation')}: {self._found()}"
        return " ".join(filter(None, (found, open_in_words(self.open))))

    def _found(self) -> str:
        if not self.changes:
            return f"nothing changes {self._way}{' of what was examined' if self.open else ''}."
        roots = [each for each in self.changes if not each.inherited]
        lines = counted(len({each.line for each in roots}), "line")
        verb = "changes" if lines == "1 line" else "change"
        kinds = Counter(each.kind for each in roots)
        found = [f"{KINDS[k]} at {counted(kinds[k], 'place')}" for k in KINDS if kinds[k]]
        return f"{lines} {verb} {self._way}: {listed(found)}.{self._rest()}"

    def _rest(self) -> str:
        """The lines that are left out, as only their operands differ."""
        told = {each.line for each in self.shown}
        lines = sorted(n for file, n in {each.line for each in self.changes} - told) if told else []
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
        yield from whom_to_tell((c.site, c.program, bool(c.edit)) for c in self.shown)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        for each in self.shown:
            yield from each.shown(self.before.name, self.after.name, console, options.max_width)
        yield from wrapped(Text(), Text(self.summary(), "bold"), console, options.max_width)
        for line in self.legend():
            yield from wrapped(Text(), Text(line, "dim"), console, options.max_width)


def difference(
    report: Report, every: Iterable[Iterable[Change]], after: Policy, before: Policy | None = None
) -> Difference:
    """Put together what changes in a run from one policy, its own if ``before`` is not named, to
    another; ``every`` has what the probes of its processes have noted."""
    run = before or report.run
    changes = [
        *_of_dtypes(report, run, after),
        *_of_values(report),
        *_of_signatures(report, run, after),
        *_noted(report, every),
    ]
    real = {each: None for each in changes if each.before != each.after and each.kind != OPEN}
    ordered = sorted(real, key=lambda each: each.place)
    left = [*not_examined(report)]
    left += [
        NotExamined(each.operation, each.refusal, each.site, each.program, count=each.count)
        for each in changes
        if each.kind == OPEN
    ]
    return Difference(run, after, report.operations, tuple(ordered), open=tuple(left))


def _of_dtypes(report: Report, before: Policy, after: Policy) -> Iterator[Change]:
    """The places, with edits after which the program keeps what the first policy gives."""
    events = {_at(d): d.event for d in report.found if isinstance(d.event, OperationEvent)}
    wanted = before if before is not report.run else None
    passes = occurrences(report, (after,), wanted)
    edits = planned(before, (after,), passes, flows=report.flows)
    for each in report.edited(edits):
        yield Change.of(each, events.get(_at(each)), before, after)


def _at(d: Divergence) -> tuple[object, ...]:
    return d.site, d.program, d.name, d.part, d.form, d.operands


def _of_values(report: Report) -> Iterator[Change]:
    for change in report.value_changes:
        site, program, name, *_ = change.place
        for each in change.differences.values():
            at, given, run, other = each.example
            values = Values(change.size, each.elements, at, given)
            words = f"{name}: {change.cast}"
            own = "value", site, program, name, words, run, other
            yield Change(*own, values=values, count=change.passes)


def _of_signatures(report: Report, before: Policy, after: Policy) -> Iterator[Change]:
    """The calls that one framework's function takes and the other's does not."""
    taken_by_neither = {c.site for c in report.signatures if c.policy == before.name}
    for call, count in report.signatures.items():
        if call.policy == after.name and call.site not in taken_by_neither:
            own = "signature", call.site, call.site, "", "call", "takes it", REFUSES
            yield Change(*own, refusal=call.reason, count=count)


def _noted(report: Report, every: Iterable[Iterable[Change]]) -> Iterator[Change]:
    """What the probes of all processes have noted, each place once."""
    scalars = {(each.place.site, each.place.operation) for each in report.value_changes}
    found: dict[tuple[object, ...], Change] = {}
    for change in (change for noted in every for change in noted):
        if change.kind != "value" or (change.site, change.name) not in scalars:
            known = found.get(change.place)  # of scalars the report says it already
            found[change.place] = known.again(change) if known else change
    yield from found.values()


def main(args: argparse.Namespace) -> int:
    """Run the command; return its exit status."""
    before, after = as_policy(args.before), as_policy(args.after)
    if args.script and is_saved(args.script):
        return _of_saved(args, before, after)
    names = before.name, after.name
    framework = framework_recorded(args.script, args.module, before, after)
    program, asked = program_of(args), Task(names, before.name, probes=(Changes(after.name),))
    if framework:  # which computes as it does, and is recorded
        asked = Task(names, framework=framework, packages=args.packages, past=True)
    sys.stdout.flush()
    sys.stderr.flush()
    ended = program.run(asked, None, quiet=False, aside=args.json)
    noted = (each.probed[0] for each in ended.findings if each.probed)
    report = ended.report(before, (before, after))
    compared = difference(report, noted, after, before)
    found = replace(compared, inherited=args.all)
    if args.json:
        print(json.dumps(found.to_dict() | {"program": ended.to_dict()}, indent=2))
    else:
        console().print(found)
    return _told(found, ended, report, args.script, framework)


def _of_saved(args: argparse.Namespace, before: Policy, after: Policy) -> int:
    """Compare two policies of a recording; one of them is that of its run."""
    try:
        require_no_options(args.script, args, "packages")
        report = read(args.script, (before, after))
        if report.run is not before:
            raise NotSaved(
                f"{args.script} is a recording under {report.run.name}: write --from "
                f"{report.run.name}"
            )
    except NotSaved as error:
        say("diff", str(error))
        return USAGE
    found = replace(difference(report, (), after, before), inherited=args.all)
    found = replace(found, open=(*found.open, NotExamined("values but for casts", _NO_VALUES)))
    if args.json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        console().print(found)
    return FINDINGS if found.changes else INCOMPLETE


_NO_VALUES = "a recording has none"


def framework_recorded(
    script: str | None, module: str | None, before: Policy, after: Policy
) -> str:
    """Return what a program computes with itself, if its editions are compared; else ""."""
    for name, framework in REWRITTEN.items():
        if {before, after} <= {as_policy(edition) for _, edition in framework.editions}:
            return name if name in expected(script, module).libraries else ""
    return ""


def _told(
    found: Difference, ended: Ended, report: Report, script: str | None, framework: str
) -> int:
    """Say on standard error what went wrong; return the exit status."""
    if ended.status:
        run = ended.findings[0].run if ended.findings else ""
        package = report.stopped and library_to_record(report, report.stopped)
        more = f"; --packages {package} records the library that stopped, too" if package else ""
        say("diff", ended.stopped_under(run) + as_module(script) + more)
    ended.say_bugs("diff")
    if ended.bugs or ended.status > 0:
        return FAILED
    if ended.status:
        return SIGNAL - ended.status
    if found.changes:
        return FINDINGS
    if not found.operations:
        if not framework:
            say(
                "diff",
                _ELSEWHERE.format(script or "SCRIPT", f"{found.before.name},{found.after.name}"),
            )
        return FAILED
    return INCOMPLETE if found.open else NOTHING


_ELSEWHERE = (
    "the program computed nothing with promoarray, and of an unmodified one two editions of NumPy "
    "are compared; what another policy changes in it promoarray compare {} --policies {} shows"
)
