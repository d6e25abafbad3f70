"""The first operation at which one run leaves the other, with its cause."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from promoarray.diagnostics.align.graph import Node, Value, largest

DTYPE, VALUES, OPTION, OUTSIDE = "dtype", "values", "option", "outside"


@dataclass
class Departure:
    """Where the second program leaves the first."""

    kind: str
    first: Node | None
    second: Node
    cause: str
    theirs: Value | None = None  # the values that differ
    mine: Value | None = None
    numbers: tuple[float, float] | None = None  # the first's, and what the second has in its place
    edit: str = ""
    then: str = ""
    notes: list[str] = field(default_factory=list)
    goes_on: Node | None = None  # the call that is given other values, if not the second's
    instead: Value | None = None  # what the second goes on with, if not what the first's call made

    @property
    def at(self) -> tuple[str, int]:
        """The line of the second program."""
        return self.second.place.file, self.second.place.line

    def repeats(self, other: Departure) -> bool:
        """Whether it stands at the line of another for the same call, of either program."""
        firsts = {each.first and each.first.number for each in (self, other)}
        same = self.second.said == other.second.said or len(firsts - {None}) == 1
        return self.at == other.at and same

    def apart(self) -> tuple[float, float] | None:
        """The largest difference in units in the last place, and relative to the largest."""
        if self.theirs is None or self.mine is None:
            return None
        return largest(self.theirs, self.mine)

    def lines(self) -> Iterator[str]:
        """Say it, a line each."""
        mine = self.second.place
        yield f"{mine.short}  {mine.expression or mine.text}"
        yield f"  {self.kind}  {self.cause}"
        for word, node, value in (
            ("first", self.first, self.theirs),
            ("second", self.second, self.mine),
        ):
            if node is not None:
                dtype = f"{value.dtype} {shape_of(value)}, " if value and value.dtype else ""
                yield f"    {word:<7} {dtype}{node.said}, {node.place.short}: {text_of(node)}"
                if node.inside != node.place:
                    yield f"            at {node.inside.short}: {node.inside.text.strip()}"
        if (apart := self.apart()) is not None:
            yield f"    largest difference {apart[1]:.2g} relative, {apart[0]:.3g} ulp"
        yield from (f"    {note}" for note in self.notes)
        if self.edit:
            yield f"    write   {mine.short}  {self.edit}"
            yield f"            {self.then}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""

        def side(node: Node | None, value: Value | None) -> dict[str, Any] | None:
            if node is None:
                return None
            place = node.place
            found = {"file": place.file, "line": place.line, "source": place.text.strip()}
            found |= {"operation": node.said}
            if node.inside != place:
                found["inside"] = {"file": node.inside.file, "line": node.inside.line}
            if value is not None:
                found |= {"dtype": value.dtype or None, "shape": [*value.shape]}
            return found

        ulp, relative = self.apart() or (None, None)
        return {
            "kind": self.kind,
            "cause": self.cause,
            "first": side(self.first, self.theirs),
            "second": side(self.second, self.mine),
            "ulp": _number(ulp),
            "relative": _number(relative),
            "notes": self.notes,
            "edit": self.edit or None,
        }


def text_of(node: Node) -> str:
    """Return the source at a call."""
    return (node.place.text or node.place.expression).strip()


def shape_of(x: Value) -> str:
    """Write a shape: 2x3."""
    return "x".join(map(str, x.shape)) or "0-d"


def _number(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None
