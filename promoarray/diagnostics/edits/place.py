"""An operation of the source with all passes through it, as an edit is sought for it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from promoarray.diagnostics.edits.answers import Port
from promoarray.diagnostics.edits.occurrence import Occurrence
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.edits.spelling import SPELLINGS, Spelling
from promoarray.diagnostics.edits.writing import Wrap
from promoarray.dtypes import DType
from promoarray.promotion.plan import Rank


class Unedited(Exception):
    """Why an operation has no edit."""


@dataclass
class SourceOperation:
    """One operation of the source, with all passes through it."""

    port: Port
    source: SourceText
    node: Any
    group: Sequence[Occurrence]
    concerned: list[Occurrence]  # those for which some policy answers otherwise

    def __post_init__(self) -> None:
        first = self.concerned[0]
        self.words: Spelling = SPELLINGS[first.framework]
        names = self.source.names_of(self.words.module, self.node, first.names)
        used = [n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id in names]
        self.name: str = next(iter((*used, *names)), "") or self._new_name()
        self.every = list(dict.fromkeys(s.asked for s in self.group))
        self.needing = list(dict.fromkeys(s.asked for s in self.concerned))
        self.operands: list[Any] = self.source.operands(self.node, first)

    def _new_name(self) -> str:
        """The name by which the namespace is to be imported, which is free in the file."""
        free = (name for name in self.words.namespaces if name not in self.source.names)
        name = next(free, f"{self.words.namespaces[-1]}_")
        while name in self.source.names:
            name += "_"
        return name

    @property
    def wanted(self) -> set[DType]:
        """The dtypes that the run gave."""
        return {asked.wanted for asked in self.every}

    def wrap(self, node: Any, dtype: DType, how: str = "astype", **more: Any) -> Wrap:
        """A cast, in the words of the place."""
        return Wrap(node, dtype, how, name=self.name, **more)

    def operand(self, index: int) -> Any:
        """An operand as the source has it; None if it stands nowhere."""
        return self.operands[index] if index < len(self.operands) else None

    def ranks(self, index: int) -> set[Rank]:
        """The ranks that an operand has in the passes."""
        return {asked.operands[index].rank for asked in self.every}


Found = tuple[tuple[Wrap, ...], str]
"""Casts, and what they lose."""
