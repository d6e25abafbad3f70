"""The report of a check: as text, as a part of a notebook, as a page, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from promoarray import pages
from promoarray.console import counted, visible
from promoarray.diagnostics.check.page import TITLE, page, part
from promoarray.diagnostics.check.told import Told

_ROOM = 56
"""Lines of two screens, but for the summary."""


@dataclass(repr=False)
class Report:
    """What a run lost.

    Attributes
    ----------
    framework : str
        With its version.
    told : list of Told
    meant : dict
        From why losses are not told to how many places.
    examined : int
        Operations whose values were looked at.
    unread : str
        What was not looked at, in words.
    eagerly : list of str
        What ran eagerly that is compiled else, in words.
    """

    framework: str
    told: list[Told]
    examined: int = 0
    meant: dict[str, int] = field(default_factory=dict)
    unread: str = ""
    eagerly: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(map(visible, self.text()))

    __repr__ = __str__

    def __bool__(self) -> bool:
        """Whether anything was lost."""
        return bool(self.told)

    def _repr_html_(self) -> str:
        return pages.fragment(TITLE, part(self.told, self._said))

    @property
    def _said(self) -> list[str]:
        return [*filter(None, (self.summary(), self.unread, *self.eagerly))]

    def to_html(self, command: str = "") -> str:
        """Return it as one self-contained page; ``command`` says how it was made."""
        return page(self.told, self._said, command)

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "framework": self.framework,
            "examined": self.examined,
            "losses": [each.to_dict() for each in self.told],
            "meant": self.meant,
            "not_examined": self.unread or None,
            "eagerly": self.eagerly,
        }

    def text(self, *, everything: bool = False) -> Iterator[str]:
        """Write it, a line each: two screens, unless all is asked for."""
        room = _ROOM
        shown = 0
        line: Any = None
        for each in self.told:
            at = each.place.program.file, each.place.program.line
            block = [*each.text(quiet=at == line)]
            if shown and not everything and room < len(block):
                break
            yield from block
            room, shown, line = room - len(block), shown + 1, at
        if more := len(self.told) - shown:
            yield f"{counted(more, 'more finding')} (--all shows all)."
        yield self.summary()
        yield from filter(None, (self.unread, *self.eagerly))

    def summary(self) -> str:
        """Say how much was examined, and found."""
        done = counted(self.examined, "operation")
        places = len({(t.place.program.file, t.place.program.line) for t in self.told})
        found = f"{counted(len(self.told), 'finding')} at {counted(places, 'line')}"
        if not self.told:
            found = "nothing was lost in them" if self.examined else "nothing was looked at"
        skipped = "; ".join(f"{n} {why}" for why, n in self.meant.items())
        more = f" Not told: {skipped}." if skipped else ""
        at = f" of {self.framework}" if self.framework else ""
        return f"{done}{at} examined: {found}.{more}"
