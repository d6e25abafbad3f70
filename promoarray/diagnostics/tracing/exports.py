"""Traces for other tools: as SARIF, and as Chrome's trace viewer and Perfetto show them."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any, NamedTuple

from promoarray.console import counted
from promoarray.core.escape import Escape
from promoarray.diagnostics.model.noted import rows
from promoarray.diagnostics.render.sarif import Rule, document, result
from promoarray.diagnostics.spans import located, span_of
from promoarray.diagnostics.tracing.cast import Cast

MOST_MOMENTS = 1 << 17
"""So many are kept, the first; some 20 MiB."""


class Moment(NamedTuple):
    """Something that happened: when, in nanoseconds, and in which thread."""

    at: int
    thread: int
    what: Cast | Escape


@dataclass(eq=False)
class Timeline:
    """What happened, in its order; how many moments came when there was no more room; and the names
    of threads, by number."""

    moments: list[Moment] = field(default_factory=list)
    left_out: int = 0
    threads: dict[int, str] = field(default_factory=dict)
    start: int = field(default_factory=time.perf_counter_ns)

    def add(self, what: Cast | Escape) -> None:
        """Note that something happens now."""
        if len(self.moments) >= MOST_MOMENTS:
            self.left_out += 1
            return
        thread = threading.get_native_id()
        if thread not in self.threads:
            self.threads[thread] = threading.current_thread().name
        self.moments.append(Moment(time.perf_counter_ns(), thread, what))

    def to_dict(self) -> dict[str, Any]:
        """Return it in the Trace Event Format: instants, in microseconds from the start."""
        process = os.getpid()
        names = [_named("process_name", process, 0, "promoarray")]
        names += [_named("thread_name", process, *each) for each in self.threads.items()]
        events = [self._event(moment, process) for moment in self.moments]
        return {
            "traceEvents": [*names, *events],
            "displayTimeUnit": "ns",
            "otherData": {"producer": "promoarray", "events left out": self.left_out},
        }

    def _event(self, moment: Moment, process: int) -> dict[str, Any]:
        name, category, args = _shown(moment.what)
        return {
            "name": name,
            "cat": category,
            "ph": "i",
            "s": "t",
            "ts": (moment.at - self.start) / 1000,
            "pid": process,
            "tid": moment.thread,
            "args": args,
        }

    def of(self, kept: set[Cast]) -> Timeline:
        """Return the part with some of the casts, and all that left."""
        moments = [m for m in self.moments if type(m.what) is Escape or m.what in kept]
        return Timeline(moments, self.left_out, self.threads, self.start)


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _shown(what: Cast | Escape) -> tuple[str, str, dict[str, Any]]:
    """The name of an event, its category, and what a click on it shows."""
    if isinstance(what, Cast):
        return what.change, "lossy cast" if what.lossy else "cast", what.to_dict()
    args = located(what.site, "source") | {"what": what.what}
    return f"{what.dtype} by {what.how}", "escape", args


# -- SARIF ----------------------------------------------------------------------------------------

_RULES = """
lossy-cast | LossyCast | Implicit cast that can lose values | An operation casts a value to a dtype
    that does not hold all values of its own. | warning | trace.md#which-casts
implicit-cast | ImplicitCast | Implicit cast | An operation casts a value to another dtype, which
    holds all values of its own. | note | trace.md#which-casts
escape | Escape | Data that leaves the policy | Another library or Python takes the numbers, so that
    its rules decide. | note | escapes.md
"""
_ROWS = (" ".join(row.split()) for row in re.split(r"\n(?=\S)", _RULES.strip()))
RULES = tuple(Rule(*row.split(" | ")) for row in _ROWS)


def as_sarif(casts: Iterable[tuple[Cast, int]], escapes: Counter[Escape]) -> dict[str, Any]:
    """Return casts with their counts, and what left the policy, as a SARIF document."""
    return document(RULES, [*starmap(_of_cast, casts), *starmap(_of_escape, rows(escapes))])


def _of_cast(cast: Cast, count: int) -> dict[str, Any]:
    lost = f": {cast.loss}" if cast.loss else ""
    return result(
        "lossy-cast" if cast.lossy else "implicit-cast",
        f"{cast.name} casts {cast.words}{lost} ({counted(count, 'time')})",
        span_of(cast.site),
        (cast.site.expression, cast.name, cast.words),
        properties={"count": count, "from": str(cast.source), "to": cast.target.name},
    )


def _of_escape(first: Escape, shapes: list[tuple[int, ...]], count: int) -> dict[str, Any]:
    to = f" to {first.consumer}" if first.consumer else ""
    return result(
        "escape",
        f"{first.what} leaves the policy by {first.how}{to} ({counted(count, 'time')})",
        span_of(first.site),
        (first.site.expression, first.channel, first.dtype, first.consumer),
        properties={"count": count, "shapes": [list(shape) for shape in shapes]},
    )
