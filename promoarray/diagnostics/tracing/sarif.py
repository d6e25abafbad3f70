"""A trace in SARIF: a result for each place and cast, and for each place at which data left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import starmap
from typing import Any

from promoarray.console import counted
from promoarray.core.escape import Escape
from promoarray.diagnostics.model.escapes import rows
from promoarray.diagnostics.render.sarif import Rule, document, result
from promoarray.diagnostics.spans import span_of
from promoarray.diagnostics.tracing.cast import Cast

RULES = (
    Rule(
        "lossy-cast",
        "LossyCast",
        "Implicit cast that can lose values",
        "An operation casts a value to a dtype that does not hold all values of its own.",
        "warning",
        "trace.md#which-casts",
    ),
    Rule(
        "implicit-cast",
        "ImplicitCast",
        "Implicit cast",
        "An operation casts a value to another dtype, which holds all values of its own.",
        "note",
        "trace.md#which-casts",
    ),
    Rule(
        "escape",
        "Escape",
        "Data that leaves the policy",
        "Another library or Python takes the numbers, so that its rules decide.",
        "note",
        "escapes.md",
    ),
)


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
