"""The files of a program with edits, in memory alone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from promoarray.diagnostics.edits.source import Position, SourceText
from promoarray.diagnostics.port.sources import Source


@dataclass
class EditedText:
    """The edited files, and where each of their expressions stood before."""

    changed: dict[Path, Source] = field(default_factory=dict)
    origins: dict[Path, dict[Position, Position]] = field(default_factory=dict)
    _places: dict[str, SourceText | None] = field(default_factory=dict)

    def places(self, file: str) -> SourceText | None:
        """The expressions of a file as it is with the edits; None if it cannot be read."""
        if file not in self._places:
            self._places[file] = None
            with suppress(OSError, SyntaxError, ValueError):
                real = Path(file).resolve()
                edited = next((s for p, s in self.changed.items() if p.resolve() == real), None)
                self._places[file] = SourceText((edited or Source.read(real)).text)
        return self._places[file]
