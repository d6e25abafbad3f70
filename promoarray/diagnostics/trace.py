"""Traces: every implicit cast of a block, and all data that left the policy, by line."""

from __future__ import annotations

import cmath
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, counted, html_table
from promoarray.contextdecorator import one_block
from promoarray.core import host
from promoarray.core.array_base import storage_dtype
from promoarray.core.call_site import Site, current_site
from promoarray.core.cast import scalar
from promoarray.core.escape import Escape
from promoarray.core.observers import Observer, OperationEvent, SetitemEvent, observing
from promoarray.diagnostics.escape_report import Escapes
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.functions.data_types import finfo
from promoarray.promotion.plan import Operand, Plan
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import worded

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(frozen=True, slots=True)
class Cast:
    """An implicit cast at one place.

    Attributes
    ----------
    site : Site
    name : str
        The operation: ``"setitem"`` where a value is assigned, and ``"add in place"`` where the
        result of ``x += y`` is cast to the target.
    source, target : DType
        The source is a weak type where a Python scalar was cast.
    became : str
        What a Python scalar was made into, "300 becomes 44"; "" for arrays.
    """

    site: Site
    name: str
    source: DType
    target: DType
    became: str = ""

    def __str__(self) -> str:
        return f"{self.site}  {self.name}  {self.change}"

    @property
    def change(self) -> str:
        """The cast in words."""
        return f"{Operand(self.source)} -> {self.target}" + (self.became and f", {self.became}")


@dataclass(eq=False, repr=False)
class Trace(Observer, Printable):
    """The implicit casts of a block, and the data that left the policy in it.

    Attributes
    ----------
    casts : Counter
        From each Cast to how often it happened: operands, results written in place and values
        assigned that changed their dtype, and Python scalars that changed their value.
    escapes : Counter
        From each Escape to how often it happened.
    """

    casts: Counter[Cast] = field(default_factory=Counter)
    _escapes: Escapes = field(default_factory=Escapes)

    @property
    def escapes(self) -> Counter[Escape]:
        """What left the policy, and how often."""
        return self._escapes.counts

    def on_operation(self, event: OperationEvent) -> None:
        """Note the casts that the plan makes."""
        site = current_site()
        inputs = zip(event.operands, event.values, event.plan.inputs, strict=True)
        for x, value, dtype in inputs:
            if type(x) in WEAK:
                self._note_scalar(site, event.name, event.policy, x, value, dtype)
            elif (source := storage_dtype(x)) is not dtype:
                self.casts[Cast(site, event.name, source, dtype)] += 1
        if event.inplace:
            plan, target = event.policy.plan(event.name, event.seen), storage_dtype(event.result)
            if isinstance(plan, Plan) and (made := event.policy.strong(plan.result)) is not target:
                self.casts[Cast(site, f"{event.name} in place", made, target)] += 1

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Note a value that takes its target's dtype."""
        policy, _, value, source, dtype = assignment
        if source.weak and dtype.kind is not Kind.STRING:
            self._note_scalar(current_site(), "setitem", policy, value, value, dtype)
        elif source is not dtype:
            self.casts[Cast(current_site(), "setitem", source, dtype)] += 1

    def on_escape(self, escape: Escape) -> None:
        """Note data that leaves the policy."""
        self.escapes[escape] += 1

    def _note_scalar(
        self, site: Site, name: str, policy: Policy, given: Any, value: Any, dtype: DType
    ) -> None:
        """Note a Python scalar that is not the same number any more; rounding is none of that."""
        became = _became(policy, given, value, dtype)
        if became is not None:
            words = f"{worded(given)} becomes {became!r}"
            self.casts[Cast(site, name, WEAK[type(given)], dtype, words)] += 1

    def to_dict(self) -> dict[str, Any]:
        """Return ``casts`` and ``escapes`` as data, in the order of the source."""
        casts = [
            {
                "file": cast.site.file,
                "line": cast.site.line,
                "source": cast.site.text,
                "operation": cast.name,
                "from": str(Operand(cast.source)),
                "to": cast.target.name,
                "count": count,
                **({"value": cast.became} if cast.became else {}),
            }
            for cast, count in self._sorted()
        ]
        return {"casts": casts, "escapes": self._escapes.to_dict()}

    def _sorted(self) -> list[tuple[Cast, int]]:
        casts = dict(self.casts)  # to which other threads may add meanwhile
        return sorted(casts.items(), key=lambda item: (item[0].site, item[0].source.name))

    @property
    def headline(self) -> str:
        """How many casts there were, and whether data left the policy."""
        casts = counted(self.casts.total(), "implicit cast")
        return " ".join(filter(None, (f"{casts}.", self._escapes.summary)))

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (str(cast.site), cast.name, cast.change, str(count), cast.site.text)
            for cast, count in self._sorted()
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table
        from rich.text import Text

        table = Table(*_HEADER, box=None)
        for row in self._rows():
            table.add_row(*map(Text, row))
        if self.casts or not self.escapes:
            yield table
        yield from self._escapes.lines()

    def html(self) -> str:
        """Return the trace as a part of a page."""
        return html_table(_HEADER, self._rows()) + self._escapes.html()


_HEADER = ("place", "operation", "cast", "times", "source")


def _became(policy: Policy, given: Any, value: Any, dtype: DType) -> Any:
    """What a scalar is as an element of a dtype, if it is another number and not only rounded."""
    if type(value) is float and math.isinf(value) and dtype.kind in INTEGERS:
        return None  # an int compared as the number it is
    became = host.decoded(scalar(policy, value, dtype), dtype).item()
    if dtype.kind in INTEGERS or dtype.kind is Kind.BOOL:
        return None if became == given else became
    beyond = not cmath.isfinite(became) or abs(given) > finfo(dtype).max
    appears_or_vanishes = bool(became) is not bool(given)
    return became if cmath.isfinite(given) and (beyond or appears_or_vanishes) else None


@one_block
def trace() -> Iterator[Trace]:
    """Note every implicit cast of a block, and all data that leaves the policy in it.

    Yields
    ------
    Trace
        Filled as the block runs; print it, or ask ``casts``, ``escapes`` and ``to_dict()``.

    Notes
    -----
    Only this context is traced: threads started in the block are not. Each block has a ``trace()``
    of its own, and functions are not decorated with it.
    """
    traced = Trace()
    with observing(traced):
        yield traced
