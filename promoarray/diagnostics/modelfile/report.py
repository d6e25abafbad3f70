"""Report of a model file: a recorded run's, with what is known of the file besides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promoarray.diagnostics.edits.planner import Planned
from promoarray.diagnostics.record.report import RecordedReport

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(eq=False, repr=False)
class ModelReport(RecordedReport):
    """What policies make of a model, with notes on what its values were computed from and what was
    not looked at, and what its own numbers lose, a line each."""

    notes: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()

    def plan_edits(self) -> Planned:
        """Plan nothing: the graph is what an exporter made of the source."""
        return {}

    def said(self) -> Iterator[str]:
        """Say what is known of the file, a line each."""
        yield from self.notes
        yield from self.losses

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data."""
        return super().to_dict() | {"notes": [*self.notes], "losses": [*self.losses]}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        from promoarray.console import folded, visible

        yield from super().__rich_console__(console, options)
        for line in self.said():
            yield from folded(Text(visible(line)), console, options.max_width)
