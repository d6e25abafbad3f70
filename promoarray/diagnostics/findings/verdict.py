"""The verdict of each policy on a program: it differs, it agrees, or the answer is incomplete.

A policy agrees if it gives the dtypes and the values of everything in the program, all of which
was examined. Whatever was not examined leaves the answer incomplete, by name and line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.console import counted, listed
from promoarray.core.call_site import Site
from promoarray.diagnostics.findings.finding import findings
from promoarray.diagnostics.model.kinds import DIFFERENCES
from promoarray.diagnostics.model.places import name_of

if TYPE_CHECKING:
    from promoarray.diagnostics.findings.results import Results

DIFFERS, AGREES, INCOMPLETE = "differs", "agrees", "incomplete"

MOST_NAMED = 8
"""So many things that were not examined are named in a sentence; the data has all."""


@dataclass(frozen=True)
class NotExamined:
    """Something of a run that no policy was asked about.

    Attributes
    ----------
    what : str
        Its name.
    why : str
    where : str
        File and line; "" where they are not known.
    count : int
    policies : tuple of str
        Whose answer it leaves open; () for all.
    """

    what: str
    why: str
    where: str = ""
    count: int = 1
    policies: tuple[str, ...] = ()

    def __str__(self) -> str:
        times = f" ×{self.count}" if self.count > 1 else ""
        at = f" at {self.where}" if self.where else ""
        return f"{self.what}{at}{times}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        said = {"what": self.what, "why": self.why, "where": self.where or None}
        return said | {"count": self.count}


class Verdict(NamedTuple):
    """What a comparison says of a policy.

    Attributes
    ----------
    policy : str
    state : str
        ``"differs"``, ``"agrees"`` or ``"incomplete"``.
    examined : int
        Operations that were compared.
    open : tuple of NotExamined
        What else the program did.
    """

    policy: str
    state: str
    examined: int
    open: tuple[NotExamined, ...] = ()

    def words(self) -> str:
        """The verdict in words; of one that differs the summary of the policy says more."""
        done = counted(self.examined, "operation")
        if self.state == AGREES:
            return f"agrees in dtypes and values: {done} examined, all of the program"
        if self.state == INCOMPLETE:
            return f"incomplete: no difference in the {done} examined"
        return DIFFERS

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "policy": self.policy,
            "verdict": self.state,
            "examined": self.examined,
            "not_examined": [each.to_dict() for each in self.open],
        }


def verdicts(report: Results) -> list[Verdict]:
    """Return the verdict of each policy that was asked, but for that of the run."""
    differ = {each.policy for each in findings(report) if each.kind in DIFFERENCES}
    every = tuple(not_examined(report))
    return [
        _verdict(policy.name, policy.name in differ, report.operations, every)
        for policy in report.policies
        if policy.name != report.run.name
    ]


def _verdict(name: str, differs: bool, examined: int, every: tuple[NotExamined, ...]) -> Verdict:
    left = tuple(each for each in every if not each.policies or name in each.policies)
    state = DIFFERS if differs else INCOMPLETE if left or not examined else AGREES
    return Verdict(name, state, examined, left)


def not_examined(report: Results) -> Iterator[NotExamined]:
    """Yield what the program did, or may have done, that no policy was asked about."""
    if report.stopped:
        at = name_of(report.stopped.site) if report.stopped.site else ""
        yield NotExamined("what follows the stop", "the program did not run further", at)
    for each, count in sorted(getattr(report, "unexamined", {}).items(), key=_by_place):
        yield NotExamined(each.what, each.why, name_of(each.program), count)
    named = {each.what.rpartition(".")[2] for each in getattr(report, "unexamined", {})}
    for (kind, name), count in sorted(getattr(report, "calls", {}).items()):
        if kind in OPEN_CALLS and name.rpartition(".")[2] not in named:
            yield NotExamined(name, OPEN_CALLS[kind], "", count)
    yield from _unanswered(report)
    for escape, count in sorted([*report.escapes.items()]):
        if not escape.scalar:
            to = f" to {escape.consumer}" if escape.consumer else ""
            yield NotExamined(f"{escape.dtype} array{to}", _LEFT, name_of(escape.site), count)
    if report.uncomputed:
        yield NotExamined("values of lazy arrays", _LAZY, "", report.uncomputed)
    if report.assumed:
        names = tuple(sorted(report.assumed))
        yield NotExamined("the value of a lazy 0-d array", _LAZY, "", 1, names)
    if report.max_sites_reached:
        yield NotExamined(f"places beyond the limit of {report.max_sites}", "the limit was reached")


def _unanswered(report: Results) -> Iterator[NotExamined]:
    """Yield the calls of which frameworks were not asked, each with the policies."""
    policies: dict[tuple[str, str, Site], list[str]] = {}
    for each in report.unanswered:
        at = each.name, each.why, each.program
        policies.setdefault(at, []).append(each.policy)
    for (name, why, program), names in sorted(policies.items(), key=lambda item: str(item[0])):
        yield NotExamined(name, why, name_of(program), 1, tuple(sorted(names)))


OPEN_CALLS = {
    "unknown": "the call is not understood",
    "unseen": "no Python function is called there",
    "autocast": "autocast casts its operands by lists of its own",
}
"""Why no policy is asked about recorded calls of some kinds."""

_LEFT = "another library's rules decide from there on"
_LAZY = "they are not computed for a report"


def _by_place(item: tuple[Any, int]) -> tuple[str, ...]:
    each = item[0]
    return name_of(each.program), each.what, each.why


def open_in_words(every: tuple[NotExamined, ...] | list[NotExamined], *, most: int = 0) -> str:
    """Say what was not examined, each reason once; "" of nothing."""
    by_reason: dict[str, list[str]] = {}
    for each in every:
        of = f"; {listed(each.policies)}" if each.policies else ""
        by_reason.setdefault(f"{each.why}{of}", []).append(str(each))
    most = most or MOST_NAMED
    parts = []
    for why, names in by_reason.items():
        more = [f"{len(names) - most} more"] if len(names) > most else []
        parts.append(f"{listed([*names[:most], *more])} ({why})")
    return f"Not examined: {'; '.join(parts)}." if parts else ""
