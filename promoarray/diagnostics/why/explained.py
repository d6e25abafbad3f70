"""Explanation of where dtypes came from: of a call that failed, of lines, values and arrays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from promoarray.console import Printable, folded, listed, visible
from promoarray.diagnostics.edits.attempt import Edit
from promoarray.diagnostics.model.failed import GIVEN_BACK, Failed, FailedOperand
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.spans import name_of
from promoarray.diagnostics.why.edit import best_first
from promoarray.diagnostics.why.origin import (
    Origins,
    Step,
    assigned,
    expressions,
    is_constant,
    lines,
    where,
)

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(repr=False, eq=False)
class Explained(Printable):
    """Explanation of where dtypes came from; it prints, and shows in a notebook."""

    framework: str
    failed: Failed | None
    ways: list[list[Step]]  # of each operand of the failed call
    edit: Edit | None = None
    then: str = ""  # how the edited program goes on
    tried: int = 0
    asked: list[tuple[str, list[Step]]] = field(default_factory=list)  # of lines and values
    note: str = ""  # what is to be written for an answer, or for an edit

    @classmethod
    def of(cls, framework: str, failed: Failed, flow: Flow) -> Self:
        """Explain a call that failed, by what was recorded of the run."""
        origins = Origins(flow)
        of = failed.framework or framework
        return cls(of, failed, [origins.of(x.source, "") for x in failed.operands])

    @property
    def headline(self) -> str:
        """What it is about, in a line."""
        return next(self.text(), "Nothing stopped it.")

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        failed = self.failed
        whole = failed.whole if failed else None
        return {
            "framework": self.framework,
            "stopped": None
            if failed is None
            else {
                "call": failed.name,
                "error": failed.error,
                "file": failed.program.file,
                "line": failed.program.line,
                "expression": failed.program.expression,
                "inside": None if failed.site == failed.program else str(failed.site),
                "operands": [
                    {
                        "names": list(each.names),
                        "dtype": each.dtype,
                        "shape": list(each.shape),
                        "origin": [step.to_dict() for step in way],
                    }
                    for each, way in zip(failed.arguments, self.ways, strict=False)
                ],
                "functions_gave": [
                    {"dtype": each.dtype, "origin": [step.to_dict() for step in way]}
                    for each, way in zip(failed.operands, self.ways, strict=True)
                    if each.role == GIVEN_BACK
                ],
                "for_a_dtype": failed.for_a_dtype if not failed.untried else None,
                "beyond_range": failed.limit and failed.limit._asdict(),
                "dtype_asked_for": failed.asked and failed.asked._asdict(),
                "integer_asked_for": whole.number if whole and not whole.dtype else None,
                "untried": failed.untried or None,
            },
            "edit": self.edit and self.edit.to_dict() | {"checked": self.then},
            "asked": [
                {"value": name, "origin": [step.to_dict() for step in way]}
                for name, way in self.asked
            ],
        } | ({"note": self.note} if self.note else {})

    def text(self) -> Iterator[str]:
        """Write it, a line each."""
        if self.failed is not None:
            yield from self._stopped(self.failed)
        told = Counter(_told(name, way) for name, way in self.asked)  # those that are alike once
        for said, times in islice(told.items(), MOST):
            first, *rest = said
            yield from (first + (f"  ×{times}" if times > 1 else ""), *rest)
        if len(told) > MOST:
            yield f"{len(told) - MOST} more are not shown; --json has all."
        if self.note:
            yield self.note

    def _stopped(self, failed: Failed) -> Iterator[str]:
        types = ", ".join(each.said for each in failed.arguments)
        yield f"{where(failed.site, failed.program)}  {failed.program.text}"
        yield f"  {self.framework} refuses {failed.name}({types}): {failed.error}"
        for alike in self._alike(failed):
            each, way = failed.operands[alike[0]], self.ways[alike[0]]
            if each.role and not self._matters(failed, alike):
                continue
            names = ", ".join(dict.fromkeys(self._name(failed, n) for n in alike))
            head = f"{names}  {each.said}{_shape(each) if len(alike) == 1 else ''}"
            if way:
                yield from lines(way, "  ", first=head)
            else:
                at = assigned(failed.program, each.names)
                root = "" if each.names else _ROOT.match(names)[0]  # type: ignore[index]
                if root and (of_root := assigned(failed.program, (root,))):
                    at = f"{root}: {of_root}"  # of a library's, such as the column of a frame
                if each.role == GIVEN_BACK and len(each.returned) == 1:
                    at = f"{each.returned[0].expression}, {name_of(each.returned[0])}"
                yield f"  {head}  {at or 'from outside what was recorded'}"
        if failed.limit is not None:
            number, dtype, _, low, high = failed.limit
            yield f"  {number}  does not fit {dtype}, whose range is {low:g} to {high:g}"
        if failed.whole is not None:
            number, variables, dtype, _ = failed.whole
            at = assigned(failed.program, variables)
            name = f"{min(variables, key=len)}  " if variables else ""
            said = f"{name}Python {type(number).__name__} {number}"
            asked = dtype or ("an integer" if type(number) is float else "a float")
            yield f"  {said}  {at + ': ' if at else ''}{asked} is asked for"
        if failed.asked is not None:
            given, variables, dtype = failed.asked
            name = f"{min(variables, key=len)}  " if variables else ""
            yield f"  {name}{given}  asked for there; it runs with {dtype}"
        if failed.untried:
            yield f"  Other dtypes were not tried: {failed.untried}."
        elif not failed.for_a_dtype:
            if failed.operands:
                yield "  No other dtype of its arrays that was tried makes this call run."
        elif self.edit is not None:
            for line, text in self.edit.changes:
                yield f"  write  {Path(self.edit.file).name}:{line}  {text}"
            yield f"         checked: {self.then}"
        else:
            framework = self.framework.partition(" ")[0]
            best = best_first(failed, self.ways, framework)
            some = [_remedy(failed, each) for each in best[:2]]
            if some:
                yield f"  it runs with {listed(some, 'or')}"
            if self.tried:
                yield f"  No edit that was tried gets past it ({self.tried} tried)."

    def html(self) -> str:
        """Return it as a part of a page."""
        _, *rest = self.text()
        return f"<pre>{escape(chr(10).join(map(visible, rest)))}</pre>"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        for line in self.text():
            yield from folded(Text(visible(line)), console, options.max_width)

    def _alike(self, failed: Failed) -> list[list[int]]:
        """Operands that were made in the same place, as the parameters of one module."""
        groups: dict[Any, list[int]] = {}
        for n, (each, way) in enumerate(zip(failed.operands, self.ways, strict=True)):
            made: list[Any] = [(step.made.place, step.dtype, step.why) for step in way]
            groups.setdefault((each.dtype, each.role, *(made or [n])), []).append(n)
        return [*groups.values()]

    def _matters(self, failed: Failed, alike: list[int]) -> bool:
        """Whether what a function has or gives back is promoted, or mends the call if changed."""
        changed = {n for remedy in failed.remedies for n, _ in remedy}
        each = failed.operands[alike[0]]
        if any(x.source == each.source for x in failed.operands[: alike[0]]) and each.source:
            return False  # it is one that is shown
        promoted = each.role == GIVEN_BACK and any(
            step.promotes for n in alike for step in self.ways[n]
        )
        return promoted or not changed.isdisjoint(alike)

    @staticmethod
    def _name(failed: Failed, n: int) -> str:
        each = failed.operands[n]
        if each.names or each.role == GIVEN_BACK:
            return min(each.names, key=len) if each.names else GIVEN_BACK
        given = expressions(failed.program.expression) if failed.site == failed.program else []
        given = [text for text in given if not is_constant(text)]
        return given[n] if len(given) == len(failed.arguments) else f"operand {n + 1}"


_ROOT = re.compile(r"\w*")
"""The name that an expression begins with."""

MOST = 12
"""So many answers are written of a line or a value."""


def _told(name: str, way: Sequence[Step]) -> tuple[str, ...]:
    """Where one array of a line or a value came from, in lines."""
    if not way:
        return (f"{name}: not from what was recorded",)
    return tuple(lines(way, "", first=f"{name}  {way[0].dtype}"))


def _shape(each: FailedOperand) -> str:
    inner = ", ".join(map(str, each.shape))
    return f" ({inner}{',' if len(each.shape) == 1 else ''})"


def _remedy(failed: Failed, remedy: Sequence[tuple[int, str]]) -> str:
    return " and ".join(f"{Explained._name(failed, n)} as {dtype}" for n, dtype in remedy)
