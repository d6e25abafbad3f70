"""One operation of a run with its values, as the checks are handed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from promoarray.core.call_site import Site, sites, standing_at
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.losses.examined import Operand, Values
from promoarray.diagnostics.model.flow import Source
from promoarray.promotion.policy import NO_OPTIONS


@dataclass
class Met:
    """One operation that was carried out, with its values."""

    name: str  # as the framework calls it
    operation: str  # promoarray's; "" of any other function
    operands: Sequence[Operand]
    results: Sequence[Values]
    frame: FrameType | None  # None where ``at`` says where it stands
    place: tuple[int, ...]  # of its instruction
    codes: tuple[CodeType, ...]  # that it is in, held so that no other has their address
    sources: Sequence[Source | None] = ()  # what made the operands, where that was recorded
    fed: int | None = None  # which operand is what this line has made in the pass before
    before: Values | None = None  # what an operation in place has written over
    target: Any = None  # the array that it is written into, as the program has it
    options: Mapping[str, Any] = field(default_factory=lambda: NO_OPTIONS)
    again: Callable[[str], Values | None] | None = None  # the same in another dtype
    silenced: frozenset[str] = frozenset()  # kinds that the program says it means
    at: tuple[Site, Site] | None = None
    still: bool | None = None  # what ``stands_still`` has answered
    counted: tuple[int, ...] | None = None  # what ``counts`` has answered of the first result
    number: int = 0  # of the pass, of one that is looked at in several parts
    framework: str = ""  # that computed it; "" of promoarray's own arrays

    def bare(self) -> Met:
        """Return the same without its values, and without the frame."""
        head = self.name, self.operation, (), (), None, self.place, self.codes, self.sources
        return Met(*head, silenced=self.silenced, at=self.sites(), framework=self.framework)

    def sites(self) -> tuple[Site, Site]:
        """The line of the operation, and that of the program which led there."""
        if self.at is None:
            assert self.frame is not None
            with notify_lock, standing_at(self.frame):
                self.at = sites()
        return self.at
