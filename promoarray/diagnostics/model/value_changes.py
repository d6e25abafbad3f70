"""Casts whose values differ by policy: how many elements, and the first of them.

Of an explicit cast and of an assignment the dtype is the same everywhere; what becomes of a value
that the dtype cannot hold is a matter of the policy's cast rule.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from promoarray.console import listed
from promoarray.core.call_site import Site
from promoarray.dtypes import DType


class Example(NamedTuple):
    """An element that differs.

    Attributes
    ----------
    at : tuple of int
    given, run, other : str
        The value that was cast, what the run made of it, and what the other policy makes of it.
    """

    at: tuple[int, ...]
    given: str
    run: str
    other: str


class Difference(NamedTuple):
    """How many values of one cast differ under some policies, and the first of them.

    Attributes
    ----------
    policies : tuple of str
    elements : int
    example : Example
    beyond : bool
        Whether all that differ lie beyond the dtype, so that they agree once they are clipped.
    largest : float or None
        By how much the example differs, if it is the one that differs most.
    """

    policies: tuple[str, ...]
    elements: int
    example: Example
    beyond: bool = False
    largest: float | None = None


class Place(NamedTuple):
    """Where a cast stands, and what it is of."""

    site: Site
    program: Site
    operation: str
    source: str
    target: str


@dataclass(slots=True)
class ValueChange:
    """A place at which values differ by policy.

    Attributes
    ----------
    place : Place
    size, passes : int
        How many elements were cast there, and how often.
    differences : dict
        From the policies that make the same of them to how many elements differ from the run's,
        and the first of them.
    routes : tuple of DType
        The dtypes by way of which all policies make the run's values, in every pass.
    """

    place: Place
    size: int = 0
    passes: int = 0
    differences: dict[tuple[str, ...], Difference] = field(default_factory=dict)
    routes: tuple[DType, ...] = ()

    def add(self, other: ValueChange) -> None:
        """Count more passes."""
        self.routes = tuple(way for way in self.routes if way in other.routes)
        self.size += other.size
        self.passes += other.passes
        for policies, each in other.differences.items():
            known = self.differences.get(policies)
            before = known.elements if known else 0
            beyond = each.beyond and (known is None or known.beyond)
            shown = each if known is None or (each.largest or 0) > (known.largest or 0) else known
            kept = shown._replace(elements=before + each.elements, beyond=beyond)
            self.differences[policies] = kept

    def to_dict(self) -> dict[str, Any]:
        """Return the place as data."""
        site, program, operation, source, target = self.place
        return {
            "file": site.file,
            "line": site.line,
            "expression": site.expression or site.text,
            "called_from": (
                {"file": program.file, "line": program.line, "expression": program.expression}
                if program != site
                else None
            ),
            "operation": operation,
            "from": source,
            "to": target,
            "size": self.size,
            "passes": self.passes,
            "differences": [
                {
                    "policies": list(each.policies),
                    "count": each.elements,
                    "index": list(each.example.at),
                    "value": each.example.given,
                    "run": each.example.run,
                    "becomes": each.example.other,
                    **({} if each.largest is None else {"largest": str(each.largest)}),
                }
                for each in tuple(self.differences.values())
            ],
        }

    def of(self, names: Collection[str]) -> ValueChange | None:
        """Return what differs under some policies; None if nothing does."""
        left: dict[tuple[str, ...], Difference] = {}
        for each in self.differences.values():
            kept = tuple(name for name in each.policies if name in names)
            if kept:
                left[kept] = each._replace(policies=kept)
        return replace(self, differences=left) if left else None

    def by_policy(self, names: Collection[str]) -> dict[str, str]:
        """Return how many values some policies make otherwise, in words."""
        return {
            name: f"{each.elements} of {self.size} values, as {each.example.other} for "
            f"{each.example.given}, which is {each.example.run} in the run"
            for each in self.differences.values()
            for name in each.policies
            if name in names
        }

    @property
    def cast(self) -> str:
        """The cast in words."""
        return f"{self.place.source} -> {self.place.target}"

    def said(self) -> Iterator[str]:
        """Say what each group of policies makes of the first element that differs."""
        for each in tuple(self.differences.values()):
            at, given, run, other = each.example
            where, who = f"[{', '.join(map(str, at))}] " if at else "", listed(list(each.policies))
            of = f"{each.elements} of {self.size}"
            if each.largest is None:
                yield f"{of} differ under {who}: {where}{given} is {other} there, {run} in the run"
                continue
            by = f", by {each.largest:.3g} at most" if math.isfinite(each.largest) else ""
            if given == other:  # it is the run that changes them
                yield f"{of} change{by}: {where}{given} becomes {run}; kept under {who}"
            else:
                yield f"{of} change under {who}{by}: {where}{given} becomes {other}"


@dataclass(eq=False)
class ValueChanges:
    """The places at which the values of casts differ by policy.

    Attributes
    ----------
    found : dict
        From Place to ValueChange.
    """

    found: dict[Place, ValueChange] = field(default_factory=dict)

    def add(self, change: ValueChange) -> None:
        """Add a place, or more passes of one."""
        known = self.found.setdefault(change.place, change)
        if known is not change:
            known.add(change)

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[ValueChange]:
        yield from sorted(self.found.values(), key=lambda change: change.place)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the places as data, in the order of the source."""
        return [change.to_dict() for change in self]


def one_pass(
    place: Place, size: int, found: list[Difference], routes: tuple[DType, ...] = ()
) -> ValueChange:
    """Return what differs in one pass of a place."""
    return ValueChange(place, size, 1, {each.policies: each for each in found}, routes)
