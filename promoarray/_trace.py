"""Traces: every implicit cast of a block, with file and line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promoarray import _apply
from promoarray._apply import Event
from promoarray._console import text
from promoarray._sites import Site, here
from promoarray.array import PArray
from promoarray.dtypes import WEAK, DType
from promoarray.policies.plans import Operand, Refusal
from promoarray.policies.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(frozen=True, slots=True)
class Cast:
    """An implicit cast at one place.

    Attributes
    ----------
    site : Site
    name : str
        The operation.
    source, target : DType
    """

    site: Site
    name: str
    source: DType
    target: DType

    def __str__(self) -> str:
        return f"{self.site}  {self.name}  {self.source} -> {self.target}"


@dataclass(eq=False)
class Trace:
    """The implicit casts of a block.

    Attributes
    ----------
    casts : Counter
        From each Cast to how often it happened.
    """

    casts: Counter[Cast] = field(default_factory=Counter)

    def made(self, weak: DType, result: PArray, lone: bool) -> None:
        """Casts nothing: Python numbers have no dtype before."""

    def saw(self, event: Event) -> None:
        """Note what the plan cast without being told to."""
        site = here()
        for x, dtype in zip(event.operands, event.plan.inputs, strict=True):
            if type(x) not in WEAK and (source := _apply.concrete(x)) is not dtype:
                self.casts[Cast(site, event.name, source, dtype)] += 1

    def refused(
        self, name: str, policy: Policy, seen: tuple[Operand, ...], refusal: Refusal
    ) -> None:
        """Leaves refusals to the program."""

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the casts as data, in the order of the source."""
        return [
            {
                "file": cast.site.file,
                "line": cast.site.line,
                "source": cast.site.text,
                "operation": cast.name,
                "from": cast.source.name,
                "to": cast.target.name,
                "count": count,
            }
            for cast, count in self._sorted()
        ]

    def _sorted(self) -> list[tuple[Cast, int]]:
        return sorted(self.casts.items(), key=lambda item: (item[0].site, item[0].source.name))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table

        table = Table("place", "operation", "cast", "times", "source", box=None)
        for cast, count in self._sorted():
            change = f"{cast.source} -> {cast.target}"
            table.add_row(str(cast.site), cast.name, change, str(count), cast.site.text)
        yield table

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__


@contextmanager
def trace() -> Iterator[Trace]:
    """Note every implicit cast of a block.

    Yields
    ------
    Trace
        Filled as the block runs; print it, or ask ``casts`` and ``to_dict()``.
    """
    watcher = Trace()
    with _apply.watching(watcher):
        yield watcher
