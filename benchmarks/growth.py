"""Growth: what operations take from one element to 2**26, and under more and more shadow policies.

Beside each stands a copy of its operand of the most bytes, the measure for what leaving the caches
costs. `cliffs.py` says what a cliff is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from statistics import median

import numpy as np
from cliffs import Cliff, cliffs
from measure import OURS, Line, Options, least
from peers import Peer, call
from throughput import numbers

import promoarray as pa
from promoarray.diagnostics.ask.observer import DEFAULT

COPY = "copy"
ROWS: list[tuple[str, tuple[str, ...]]] = [
    ("x + x", ("float32", "bfloat16")),
    ("x + f", ("bfloat16", "int8")),
    ("x * 1.5", ("bfloat16",)),
    ("xp.exp(x)", ("bfloat16",)),
    ("xp.sum(x)", ("float32", "bfloat16")),
    ("xp.clip(x, -1, 1)", ("bfloat16",)),
    ("x.astype(xp.float8_e4m3fn)", ("float32",)),
]
STEPS = 400
"""Operations in a loop that is shadowed."""


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Each curve, point by point."""
    last, step = (22, 2) if options.quick else (26, 1)
    ours = Peer(OURS, pa, pa.asarray)
    for text, dtypes in ROWS:
        for dtype in dtypes:
            x, f = numbers(dtype, 1 << last, 0), numbers("float32", 1 << last, 1)
            wide = f if "f" in text.split() or x.itemsize < f.itemsize else x
            for size in (1 << k for k in range(0, last + 1, step)):
                run = call(text, ours, {"x": x[:size], "f": f[:size]})
                ways = {OURS: run, COPY: wide[:size].copy}
                yield Line(f"{text}, {dtype} at {size}", ways, {COPY: None}, "torch")
    for k in range(1, len(DEFAULT) + 1):
        found = partial(shadowed, DEFAULT[:k], options)
        yield Line(f"an operation under shadow policies at {k}", {}, {"": None}, found=found)


def shadowed(policies: tuple[str, ...], options: Options) -> dict[str, float]:
    """Return what shadowing adds to an operation, all policies together."""
    x, y = pa.asarray(np.ones(3, np.float32)), pa.asarray(np.ones(3, np.int8))

    def plain() -> None:
        for _ in range(STEPS):
            x + y

    def watched() -> None:
        with pa.shadow(*policies):
            plain()

    took = least({OURS: watched, "plain": plain}, 4 * options.seconds, time.process_time)
    return {OURS: (took[OURS] - took["plain"]) / STEPS}


Curve = dict[float, dict[str, list[float]]]
"""By size, the values of each way, one a pass."""


def curves(rows: list[dict[str, object]]) -> dict[str, Curve]:
    """Sort the lines of the chapter into its curves."""
    found: dict[str, Curve] = {}
    for row in rows:
        what, _, size = str(row["name"]).rpartition(" at ")
        found.setdefault(what, {})[float(size)] = row["values"]  # type: ignore[assignment]
    return found


def cliffs_of(curve: Curve) -> list[Cliff]:
    """The cliffs of a curve, beyond what the passes of its sizes differ by."""
    sizes = sorted(curve)
    times = [min(curve[size][OURS]) for size in sizes]
    copied = COPY in curve[sizes[0]]
    copies = [min(curve[size][COPY]) for size in sizes] if copied else None
    noise = median(max(v[OURS]) / min(v[OURS]) - 1 for v in curve.values())
    return cliffs(sizes, times, copies, noise)
