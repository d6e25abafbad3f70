"""Findings: everything a report says, one place and one policy at a time.

Each channel (text, HTML, SARIF, GitHub, JSON, the pytest plugin) shows these. Places that only
inherit a difference are *said*, and no findings, as the edit of an earlier line mends them; where
a policy refuses such a place it is one, as the program would stop there. Numbers that a program
makes Python's own (``float(loss)``) are none either: that is what they are written for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from promoarray.console import counted, listed
from promoarray.core.call_site import Site
from promoarray.core.escape import Escape
from promoarray.diagnostics.edits.planner import clip
from promoarray.diagnostics.model.divergence import ASKED_DTYPE, ENTRY, Answer, Divergence
from promoarray.diagnostics.model.kinds import ROOT, UNKNOWN
from promoarray.diagnostics.model.noted import Call, Decided
from promoarray.operations import OPERATIONS, Form

if TYPE_CHECKING:
    from promoarray.diagnostics.findings.results import Results
    from promoarray.diagnostics.model.noted import Refused
    from promoarray.diagnostics.model.values import ValueChange


@dataclass(frozen=True, slots=True)
class Finding:
    """What one policy makes of one place of a program."""

    kind: str  # one of ``kinds.KINDS``
    root: bool  # whether it does not come of an earlier line; only of a dtype or a refusal
    policy: str  # "" where it is the same under every policy
    place: Site  # the line of the program
    inside: Site | None  # the line of a library, if the operation is one of a library
    what: str  # the operation with its operands' dtypes, in words
    operation: str
    operands: tuple[str, ...]  # their dtypes in the run
    under: str  # the policy of the run
    # the dtype in the run, and under the policy; "" where it is refused, or there is none
    run: str = ""
    answer: str = ""
    reason: str = field(default="", compare=False)  # why, in words
    # the expression as it should be written; "" where that is not known
    edit: str = field(default="", compare=False)
    count: int = field(default=1, compare=False)  # how often it was met
    # whether only the operands differ, because of an earlier line
    inherited: bool = field(default=False, compare=False)

    @property
    def names(self) -> frozenset[str]:
        """The names that select it."""
        return frozenset({self.kind, ROOT} if self.root else {self.kind})

    @property
    def source(self) -> str:
        """The text of the program there."""
        return self.place.expression or self.place.text

    @property
    def counts(self) -> bool:
        """Whether it is a finding, and not only said."""
        return self.kind != UNKNOWN and not (self.kind == "dtype" and self.inherited)


def findings(report: Results) -> list[Finding]:
    """Return the findings of a report, in the order of the source and of its policies."""
    found: dict[Finding, Finding] = {}
    for each in statements(report):
        if each.counts:
            known = found.get(each)
            found[each] = replace(each, count=each.count + known.count) if known else each
    order = {policy.name: n for n, policy in enumerate(report.policies)}

    def place(each: Finding) -> tuple[object, ...]:
        what = each.kind, each.operation, each.operands
        return each.place, each.inside or each.place, *what, order.get(each.policy, -1), each.answer

    return sorted(found.values(), key=place)


def statements(report: Results) -> Iterator[Finding]:
    """Yield all that a report says, what only inherits, too."""
    run = report.run.name
    if report.stopped and report.stopped.refused:
        yield of_refused(report.stopped.refused)
    for divergence in report.divergences:
        yield from of_divergence(divergence)
    for change in report.value_changes:
        yield from of_change(change, run)
    for call, count in sorted([*report.signatures.items()]):
        yield of_call(call, count, run)
    for decided, count in sorted([*report.decisions.items()]):
        yield of_decision(decided, count, run)
    for escape, count in sorted([*report.escapes.items()]):
        if not escape.scalar:
            yield of_escape(escape, count, run)


def of_divergence(divergence: Divergence) -> Iterator[Finding]:
    """Yield what each policy says that gives another dtype, or refuses."""
    under, run = next(iter(divergence.answers.items()))
    own = divergence.program == divergence.site  # a library's lines are not the user's to edit
    outside = divergence.shown_at != divergence.site
    places = _places(divergence.program if outside else divergence.site, divergence.program)
    for name, answer in divergence.answers.items():
        if answer.origin:
            kind = "dtype" if answer.dtype else "refuse"
            yield Finding(
                UNKNOWN if answer.origin == UNKNOWN else kind,
                answer.origin == ROOT,
                name,
                *places,
                spelled(divergence),
                divergence.name,
                divergence.operands,
                under,
                _name(run),
                _name(answer),
                answer.reason,
                answer.fix.text if own and answer.fix is not None else "",
                count=divergence.count,
                inherited=answer.origin != ROOT,
            )


def _name(answer: Answer) -> str:
    return answer.dtype.name if answer.dtype else ""


def of_refused(refused: Refused) -> Finding:
    """Return the finding of the operation that stopped the run, as its own policy refuses it."""
    place = refused.place
    under, answer = next(iter(place.answers.items()))
    where = *_places(place.site, place.program), spelled(place), place.name, place.operands
    return Finding("refuse", True, under, *where, under, reason=answer.reason, edit=refused.edit)


def of_change(change: ValueChange, run: str) -> Iterator[Finding]:
    """Yield a finding for each policy that makes other values of a cast."""
    site, program, operation, source, target = change.place
    places = _places(site, program)
    edit = clip(change)
    for each in tuple(change.differences.values()):
        at, given, mine, other = each.example
        first = f"{given} at [{', '.join(map(str, at))}]" if at else given
        of = f"{each.elements} of {counted(change.size, 'element')}"
        which = "the first" if each.largest is None else "the one that changes most"
        becomes = f"becomes {other} and not {mine}"
        if given == other:  # it is the run that changes it
            becomes = f"stays, and becomes {mine} in the run"
        reason = f"{of}; {which}, {first}, {becomes}"
        said = *places, change.cast, operation, (source, target), run, "", "", reason, edit
        for name in each.policies:
            yield Finding("bits", False, name, *said, count=change.passes)


def of_escape(escape: Escape, count: int, run: str) -> Finding:
    """Return the finding of an array that left the policy."""
    places = _places(escape.inside, escape.site)
    what = f"{escape.dtype} array by {escape.how}"
    reason = f"to {escape.consumer}" if escape.consumer else "taken by the program itself"
    said = *places, what, escape.channel, (escape.dtype,), run
    return Finding("escape", False, "", *said, reason=reason, count=count)


def of_call(call: Call, count: int, run: str) -> Finding:
    """Return the finding of a call that a framework's own function does not take."""
    said = call.site, None, call.site.expression or call.site.text, "", (), run
    return Finding("signature", False, call.policy, *said, reason=call.reason, count=count)


def of_decision(decided: Decided, count: int, run: str) -> Finding:
    """Return the finding of a place that reads a dtype which a policy has otherwise."""
    places = _places(decided.site, decided.program)
    what = decided.site.expression or decided.site.text
    mine, other = listed(decided.run), listed(decided.other)
    said = *places, what, "dtype", decided.run, run, mine, other, f"the run goes by {mine}"
    return Finding("decision", False, decided.policy, *said, count=count)


def _places(site: Site, program: Site) -> tuple[Site, Site | None]:
    return program, site if site != program else None


# -- a place at which policies differ -------------------------------------------------------------


def spelled(divergence: Divergence) -> str:
    """Write a place's operation with its operands' dtypes, and what it is a step of."""
    inside = f", in {divergence.part_of}" if divergence.part_of else ""
    return _operation(divergence) + inside


def _operation(divergence: Divergence) -> str:
    operands, name = divergence.operands, divergence.name
    if name == "setitem":
        return "{}[...] = {}".format(*operands)
    if name == ASKED_DTYPE:
        return f"dtype={operands[0]}"
    if name == ENTRY:
        return f"{operands[0]} data"
    symbol = OPERATIONS[name].symbol if name in OPERATIONS else ""
    if symbol and len(operands) == 2 and divergence.form is not Form.FUNCTION:
        return f" {symbol}{divergence.form} ".join(operands)
    return f"{name}({', '.join(operands)})"


def edits(divergence: Divergence) -> dict[str, list[str]]:
    """Return the edits of a place, each with the policies that it is for."""
    return edits_in(of_divergence(divergence))


def edits_in(found: Iterable[Finding]) -> dict[str, list[str]]:
    """Return the edits of findings, each with the policies that it is for."""
    policies: dict[str, list[str]] = {}
    for each in found:
        if each.edit and each.policy not in policies.setdefault(each.edit, []):
            policies[each.edit].append(each.policy)
    return policies
