"""The edits that a report prints: planned for all passes of each place, one for all policies."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from promoarray.diagnostics.edits.known import read
from promoarray.diagnostics.edits.occurrence import Occurrence, span_of
from promoarray.diagnostics.edits.planner import Edit, NoEdit, Place, edits_of
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.model.divergence import Answer, Divergence
from promoarray.dtypes import DType
from promoarray.promotion.policy import Policy


@dataclass(frozen=True)
class PlannedFix:
    """An edit in the place of an answer's fix.

    Attributes
    ----------
    edit : Edit
    """

    edit: Edit

    def __hash__(self) -> int:
        return hash(self.edit[:2])

    def __str__(self) -> str:
        return f"write {self.text}"

    @property
    def made(self) -> DType | None:
        """The dtype that an array of Python numbers is asked for."""
        return next((w.dtype for w in self.edit.wraps if w.how == "dtype"), None)

    @property
    def text(self) -> str:
        """The edited expression, in one line."""
        lines = self.edit.text.splitlines()
        if len(lines) == 1:
            return self.edit.text
        if not any("#" in line or '"""' in line or "'''" in line for line in lines):
            return " ".join(line.strip().removesuffix("\\").rstrip() for line in lines)
        return ast.unparse(ast.parse(f"({self.edit.text}\n)"))

    def to_dict(self) -> dict[str, Any]:
        """Return the casts as data."""
        wraps = self.edit.wraps
        casts = [w for w in wraps if w.operand is not None]
        results = [w.dtype.name for w in wraps if w.operand is None and w.how != "dtype"]
        return {
            "casts": [{"operand": w.operand, "dtype": w.dtype.name} for w in casts],
            "result": next(iter(results), None),
            "dtype": self.made.name if self.made else None,
        }


Planned = dict[Place, tuple[Edit | NoEdit, ...]]
"""From where an operation stands, and its name, to its edits."""


def planned(run: Policy, policies: Sequence[Policy], occurrences: Iterable[Occurrence]) -> Planned:
    """Plan the edits of a run, whose sources are as they were when it began."""
    files: dict[str, SourceText | None] = {}

    def source(file: str) -> SourceText | None:
        if file not in files:
            files[file] = read(file)
        return files[file]

    return edits_of(run, policies, occurrences, source)


def with_edits(places: Iterable[Divergence], found: Planned) -> list[Divergence]:
    """Return places whose answers have the edits that hold for every pass through them."""
    return [
        _edited(place, found.get((span_of(place.program, place.part), place.name), ()))
        for place in places
    ]


def _edited(place: Divergence, planned: Sequence[Edit | NoEdit]) -> Divergence:
    if not planned or place.site != place.program:
        return place
    by_policy = {name: each for each in planned for name in each.policies if not each.optional}
    answers = {n: _with(answer, by_policy.get(n)) for n, answer in place.answers.items()}
    return replace(place, answers=answers)


def _with(answer: Answer, planned: Edit | NoEdit | None) -> Answer:
    if planned is None or answer.origin != "root":
        return answer
    fix: Any = PlannedFix(planned) if isinstance(planned, Edit) else None
    return replace(answer, fix=fix)
