"""Data that left the policy, counted, as data and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from promoarray.console import counted
from promoarray.core.escape import Escape

Row = tuple[Escape, list[tuple[int, ...]], int]
"""An escape that stands for all of a row, the shapes that left, and how often."""


@dataclass(eq=False)
class Escapes:
    """What left the policy.

    Attributes
    ----------
    counts : Counter
        From each Escape to how often it happened.
    """

    counts: Counter[Escape] = field(default_factory=Counter)


def rows(counts: Counter[Escape]) -> Iterator[Row]:
    """Yield each place, consumer, channel and dtype with its shapes and how often they left."""
    groups: dict[Escape, list[Escape]] = {}
    for each in sorted([*counts]):  # to which other threads may add
        groups.setdefault(replace(each, shape=()), []).append(each)
    for same in groups.values():
        yield same[0], [e.shape for e in same], sum(counts[e] for e in same)


def as_data(counts: Counter[Escape]) -> list[dict[str, Any]]:
    """Return escapes as data, in the order of the source."""
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
        for e, shapes, count in rows(counts)
    ]


def _consumer(e: Escape) -> dict[str, Any] | None:
    if not e.consumer:
        return None
    inside = e.inside
    where = {"file": inside.file, "line": inside.line, "source": inside.text}
    return {"function": e.consumer, **where}


def summary_of(counts: Counter[Escape]) -> str:
    """Return the counts in a sentence; "" if nothing left."""
    sites = {e.site for e in tuple(counts)}
    if not sites:
        return ""
    total = counts.total()
    times = "once" if total == 1 else f"{total} times"
    return f"Data left the policy {times} ({counted(len(sites), 'place')})."


def worded(row: Row) -> str:
    """Return what left, by which channel, how often and to whom."""
    e, shapes, count = row
    times = f"  ×{count}" if count > 1 else ""
    to = f"  to {e.consumer} ({e.inside}: {e.inside.text})" if e.consumer else ""
    return f"{_what(e, shapes)}  by {e.how}{times}{to}"


def _what(e: Escape, shapes: list[tuple[int, ...]]) -> str:
    more = f" and {len(shapes) - 3} other shapes" if len(shapes) > 4 else ""
    listed = shapes[:3] if more else shapes
    if listed == [()]:
        return e.what
    word = "shape" if len(shapes) == 1 else "shapes"
    return f"{e.dtype} of {word} {', '.join(map(str, listed))}{more}"
