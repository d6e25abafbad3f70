"""The report of ``Policy.check``: each property with its proof or counter-example."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, html_table
from promoarray.dtypes import DType
from promoarray.errors import quoted

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class PropertyResult:
    """One property, proved or refuted.

    Attributes
    ----------
    name : str
    holds : bool
    says : str
        The property in words, or its smallest counter-example.
    example : tuple of DType
        The dtypes of the counter-example; empty if the property holds.
    failures, cases : int
    """

    name: str
    holds: bool
    says: str
    example: tuple[DType, ...] = ()
    failures: int = 0
    cases: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as data, dtypes by code."""
        return {
            "property": self.name,
            "holds": self.holds,
            "says": self.says,
            "counter_example": [d.code for d in self.example],
            "failures": self.failures,
            "cases": self.cases,
        }


@dataclass(frozen=True, slots=True)
class OperationCoverage:
    """How an operation's rule answers pairs of arrays.

    Attributes
    ----------
    name : str
    answered, cases : int
        Pairs that have a result, of all pairs.
    apart : tuple of DType
        A pair whose result depends on its order; empty if there is none.
    """

    name: str
    answered: int
    cases: int
    apart: tuple[DType, ...] = ()

    @property
    def total(self) -> bool:
        """Whether every pair has a result."""
        return self.answered == self.cases

    @property
    def commutative(self) -> bool:
        """Whether no result's dtype depends on the order of the operands."""
        return not self.apart

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as data."""
        return {
            "operation": self.name,
            "total": self.total,
            "commutative": self.commutative,
            "answered": self.answered,
            "cases": self.cases,
            "counter_example": [d.code for d in self.apart],
        }


@dataclass(frozen=True, repr=False)
class PropertiesReport(Printable):
    """What ``Policy.check`` found. True if every property holds.

    Attributes
    ----------
    policy : str
    dtypes : tuple of DType
        What was tried, weak types last.
    findings : tuple of PropertyResult
    operations : tuple of OperationCoverage
    """

    policy: str
    dtypes: tuple[DType, ...]
    findings: tuple[PropertyResult, ...]
    operations: tuple[OperationCoverage, ...] = ()

    def __bool__(self) -> bool:
        return all(finding.holds for finding in self.findings)

    def __getitem__(self, name: str) -> PropertyResult:
        found = {finding.name: finding for finding in self.findings}
        if name not in found:
            raise KeyError(f"{quoted(name)} was not checked; there are {', '.join(found)}")
        return found[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data."""
        return {
            "policy": self.policy,
            "holds": bool(self),
            "dtypes": [d.code for d in self.dtypes],
            "properties": [finding.to_dict() for finding in self.findings],
            "operations": [answers.to_dict() for answers in self.operations],
        }

    @property
    def headline(self) -> str:
        """The policy, and how many dtypes were tried."""
        return f"{self.policy}, {len(self.dtypes)} dtypes"

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.markup import escape
        from rich.table import Table
        from rich.text import Text

        table = Table(title=escape(self.headline), title_justify="left")
        name, holds, says, failures = _HEADER
        table.add_column(name, no_wrap=True)
        table.add_column(holds, no_wrap=True)
        table.add_column(says)
        table.add_column(failures, justify="right", no_wrap=True)
        for f in self.findings:
            answer = Text("yes", "green") if f.holds else Text("no", "red")
            table.add_row(f.name, answer, Text(f.says), f"{f.failures} of {f.cases}")
        return Group(table, *(Text(line) for line in self._about_operations()))

    def _about_operations(self) -> list[str]:
        if not self.operations:
            return []
        counts: dict[int, list[str]] = {}
        for a in self.operations:
            counts.setdefault(a.answered, []).append(a.name)
        cases = self.operations[0].cases
        lines = [
            f"{n} of {cases} pairs of arrays have a result in {', '.join(counts[n])}."
            for n in sorted(counts, reverse=True)
        ]
        apart = [
            f"{a.name} ({', '.join(d.code for d in a.apart)})" for a in self.operations if a.apart
        ]
        if not apart:
            return [*lines, "No operation's dtype depends on the order of its operands."]
        depends = "The dtype depends on the order of the operands in"
        return [*lines, f"{depends} {', '.join(apart)}."]

    def html(self) -> str:
        """Return the report as a part of a page."""
        rows = (
            (f.name, "yes" if f.holds else "no", f.says, f"{f.failures} of {f.cases}")
            for f in self.findings
        )
        lines = "".join(f"<p>{escape(line)}</p>" for line in self._about_operations())
        return html_table(_HEADER, rows) + lines


_HEADER = ("property", "holds", "proof or smallest counter-example", "failures")
