"""One line of a program that changes from one policy to another, as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.console import visible, wrapped
from promoarray.core.call_site import Site
from promoarray.core.events import OperationEvent, RefusalEvent
from promoarray.diagnostics.explain.case import Case
from promoarray.diagnostics.findings.results import spelled
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.spans import called_from, located, text_at
from promoarray.operations import OPERATIONS
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Event = OperationEvent | RefusalEvent
Step = tuple[str, list[str]]
"""What it is about, such as "promote", and what is said of that."""

_SHOWN = ("result: ", "results: ", "refused: ", "raises ")
"""Steps that the report shows by itself."""


class Reasons(NamedTuple):
    """The steps by which two policies come to other answers, without those that they share."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


NO_REASONS = Reasons()
"""Where nobody was asked."""


def reasons_of(event: Event | None, before: Policy, after: Policy) -> Reasons:
    """Return the steps of two policies on the same operands; none of what is no operation."""
    if event is None or event.name not in OPERATIONS:
        return NO_REASONS
    one, other = _steps(event, before), _steps(event, after)
    return Reasons(tuple(_own(one, other)), tuple(_own(other, one)))


def _steps(event: Event, policy: Policy) -> list[Step]:
    """The steps but the general rule and the result."""
    steps = Case(event.name, event.form, event.operands, policy, supposed=True).steps()
    own = (step.rstrip(".") for step in steps if step != policy.principle)
    parts = (step.partition(": ") for step in own if not step.startswith(_SHOWN))
    return [(label, said.split("; ")) for label, _, said in parts]


def _own(steps: list[Step], others: list[Step]) -> Iterator[str]:
    """What is said in these steps and not in the others."""
    shared = {(label, part) for label, said in others for part in said}
    for label, said in steps:
        own = [part for part in said if (label, part) not in shared]
        if own:
            yield f"{label}: {'; '.join(own)}" if any(own) else label


REFUSES = "refuses"

OPEN = "open"
"""The kind of what may change in values, of which it is not known."""


class Values(NamedTuple):
    """Values that differ though their dtype does not."""

    # how many there are, and how many of them differ
    size: int
    elements: int
    at: tuple[int, ...]  # where the first of them is
    given: str = ""  # what it was made of, where that is one value; else ""


@dataclass(frozen=True)
class Change:
    """What changes at one place."""

    # ``"dtype"``, ``"refusal"``, ``"value"`` or ``"signature"``, of a call that only the
    # framework's own function does not take
    kind: str
    # where it is, and the line of the program that led there
    site: Site
    program: Site
    name: str  # the operation
    operation: str  # the same with its operands' dtypes, such as ``"float32 + float64[]"``
    # a dtype, a value, or ``"refuses"``
    before: str
    after: str
    # the steps by which the two policies come to that, where they are known
    reasons: Reasons = NO_REASONS
    refusal: str = ""  # why one of them refuses; "" where neither does
    # what to write so that the second policy gives what the first one gave; "" where nothing is
    # known
    edit: str = ""
    values: Values | None = None  # of a change of values
    inherited: bool = False  # whether only the operands differ, because of an earlier line
    count: int = 1  # how often it was passed

    @classmethod
    def of(cls, d: Divergence, event: Event | None, before: Policy, after: Policy) -> Change:
        """Return what changes at a place at which one policy has another dtype, or refuses."""
        run, other = d.answers[before.name], d.answers[after.name]
        inherited = "inherits" in (run.origin, other.origin)  # of a recorded run, either's
        fix = other.fix or run.fix
        refusal = other.reason or run.reason
        return cls(
            "dtype" if other.dtype and run.dtype else "refusal",
            d.site,
            d.program,
            d.name,
            spelled(d),
            str(run),
            str(other),
            reasons_of(event, before, after),
            # Of a framework the rest is how to write it with promoarray.
            refusal.partition(" Write pa.")[0] if d.framework else refusal,
            fix.text if fix and not inherited else "",
            inherited=inherited,
            count=d.count,
        )

    @property
    def place(self) -> tuple[object, ...]:
        """What changes met at the same place have in common."""
        return self.program, self.site, self.kind, self.operation

    @property
    def line(self) -> tuple[str, int]:
        """The file and line of the program."""
        return self.program.file, self.program.line

    def again(self, other: Change) -> Change:
        """Return this one with what further passes have found at its place."""
        values, its = self.values, other.values
        if values and its:
            size, elements = values.size + its.size, values.elements + its.elements
            values = values._replace(size=size, elements=elements)
        return replace(self, values=values, count=self.count + other.count)

    def to_dict(self) -> dict[str, Any]:
        """Return the change as data."""
        site = self.site
        return {
            "kind": self.kind,
            **located(site, "column", "source", "expression"),
            "called_from": called_from(site, self.program),
            "operation": self.operation,
            "before": self.before,
            "after": self.after,
            "why": {"before": list(self.reasons.before), "after": list(self.reasons.after)},
            "refusal": self.refusal or None,
            "edit": self.edit or None,
            "values": self.values._asdict() if self.values else None,
            "inherited": self.inherited,
            "count": self.count,
        }

    def shown(self, before: str, after: str, console: Console, width: int) -> Iterator[Text]:
        """Yield the change as it is printed, with the names of the policies: its source, both
        answers, what to write."""
        from rich.text import Text

        times = f"  ×{self.count}" if self.count > 1 else ""
        path = Text(f"{visible(self.site.path)}  ", "bold cyan")
        what = Text(self.source, "bold").append(f"  [{self.operation}]{times}", "not bold dim")
        yield from wrapped(path, what, console, width)
        if self.program != self.site:
            called = self.program.expression or self.program.text
            called_from = visible(f"called from {self.program}: {called}")
            yield from wrapped(Text("    "), Text(called_from, "dim"), console, width)
        names = max(len(name) for name in (before, after, "write"))
        answers = max(len(self.before), len(self.after))
        for name, said, style in ((before, "before", ""), (after, "after", "bold red")):
            line, answer, why = Text(f"    {name:<{names}}  "), getattr(self, said), self.why(said)
            line.append(f"{answer:<{answers}}  " if why else answer, style)
            yield from wrapped(line, Text(why, "dim"), console, width)
        if self.edit:
            line = Text("    ").append(f"{'write':<{names}}  ", "green")
            edit = Text(visible(self.edit)).append(f"  to keep {self.before} under {after}", "dim")
            yield from wrapped(line, edit, console, width)

    @property
    def source(self) -> str:
        """What stands at the place."""
        return text_at(self.site)

    def why(self, which: str) -> str:
        """Say why the policy ``"before"`` or ``"after"`` answers as it does."""
        said = [*getattr(self.reasons, which)]
        if self.refusal and getattr(self, which) == REFUSES:
            said.append(self.refusal)
        if which == "after" and self.values is not None:
            size, elements, index, given = self.values
            at = f"; the first at [{', '.join(map(str, index))}]" if index else ""
            said.append(f"{elements} of {size} differ{at}{f', of {given}' if given else ''}")
        if which == "after" and self.inherited:
            said.append("because of an earlier line")
        return visible("; ".join(said))
