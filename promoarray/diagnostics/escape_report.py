"""Escapes that a trace or a shadow run noted, as text, data and sections of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape as escaped
from typing import TYPE_CHECKING, Any

from promoarray.console import counted
from promoarray.core.escape import Escape

if TYPE_CHECKING:
    from rich.text import Text

TITLE = "Where data left the policy"
NUMBERS = "Scalars converted to Python"
LEGEND = (
    "What is computed there follows the rules of the library that took the data, not the policy's."
)

Row = tuple[Escape, list[tuple[int, ...]], int]
"""An escape that stands for all of a row, the shapes that left, and how often."""


@dataclass(eq=False)
class Escapes:
    """What left the policy, counted.

    Attributes
    ----------
    counts : Counter
        From each Escape to how often it happened.
    """

    counts: Counter[Escape] = field(default_factory=Counter)

    def rows(self) -> Iterator[Row]:
        """Yield each place, consumer, channel and dtype with its shapes and how often they left."""
        groups: dict[Escape, list[Escape]] = {}
        for each in sorted(self.counts):
            groups.setdefault(replace(each, shape=()), []).append(each)
        for same in groups.values():
            yield same[0], [e.shape for e in same], sum(self.counts[e] for e in same)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the escapes as data, in the order of the source."""
        return [
            {
                "file": e.site.file,
                "line": e.site.line,
                "source": e.site.text,
                "expression": e.site.expression,
                "channel": e.channel,
                "door": e.channel,  # the former name
                "scalar": e.scalar,
                "dtype": e.dtype,
                "shapes": [list(shape) for shape in shapes],
                "count": count,
                "consumer": _consumer(e),
                "taker": _consumer(e),  # the former name
            }
            for e, shapes, count in self.rows()
        ]

    def lines(self) -> Iterator[Text]:
        """Yield the escapes as lines for the terminal: arrays under a title, then numbers."""
        from rich.text import Text

        for title, rows in self._sections():
            yield Text(title, style="bold")
            site = None
            for e, shapes, count in rows:
                if e.site != site:
                    site = e.site
                    head = Text(site.path, style="bold cyan")
                    yield head.append(f"  {site.expression or site.text}", style="bold")
                times = f"  ×{count}" if count > 1 else ""
                line = Text(f"    {_what(e, shapes)}  by {e.how}{times}")
                yield line.append(_to(e), style="dim") if e.consumer else line

    def html(self) -> str:
        """Return the escapes as sections of a page; "" if there are none."""
        head = "<tr><th>place</th><th>source</th><th>what left</th></tr>"
        return "".join(
            f"<h2>{title}</h2><p>{LEGEND}</p><table>{head}{''.join(map(_as_row, rows))}</table>"
            for title, rows in self._sections()
        )

    def _sections(self) -> list[tuple[str, list[Row]]]:
        rows = list(self.rows())
        parts = (
            (TITLE, [r for r in rows if not r[0].scalar]),
            (NUMBERS, [r for r in rows if r[0].scalar]),
        )
        return [(title, part) for title, part in parts if part]

    @property
    def summary(self) -> str:
        """The counts in a sentence; "" if nothing left."""
        sites = {e.site for e in tuple(self.counts)}  # to which other threads may add
        if not sites:
            return ""
        total = self.counts.total()
        times = "once" if total == 1 else f"{total} times"
        return f"Data left the policy {times} ({counted(len(sites), 'place')})."


def worded(row: Row) -> str:
    """What left, by which channel, how often and to whom."""
    e, shapes, count = row
    times = f" ×{count}" if count > 1 else ""
    return f"{_what(e, shapes)} by {e.how}{times}{_to(e) if e.consumer else ''}"


def _as_row(row: Row) -> str:
    e, shapes, count = row
    return (
        f"<tr><td>{escaped(str(e.site))}</td>"
        f"<td><code>{escaped(e.site.expression or e.site.text)}</code></td>"
        f"<td>{escaped(_what(e, shapes))} by <code>{escaped(e.how)}</code>"
        f"{f' ×{count}' if count > 1 else ''}"
        f"{f'<small>{escaped(_to(e).strip())}</small>' if e.consumer else ''}</td></tr>"
    )


def _what(e: Escape, shapes: list[tuple[int, ...]]) -> str:
    more = f" and {len(shapes) - 3} other shapes" if len(shapes) > 4 else ""
    listed = shapes[:3] if more else shapes
    if listed == [()]:
        return e.what
    word = "shape" if len(shapes) == 1 else "shapes"
    return f"{e.dtype} of {word} {', '.join(map(str, listed))}{more}"


def _to(e: Escape) -> str:
    return f"  to {e.consumer} ({e.inside}: {e.inside.text})"


def _consumer(e: Escape) -> dict[str, Any] | None:
    if not e.consumer:
        return None
    return {
        "function": e.consumer,
        "file": e.inside.file,
        "line": e.inside.line,
        "source": e.inside.text,
    }
