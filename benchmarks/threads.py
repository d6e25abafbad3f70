"""Threads: large arrays on all cores that the process may use, as times what one thread takes.

The clock is the wall's: where others use the cores too, two threads have less than two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import throughput
from machine import cores
from measure import OURS, Call, Line, Options, Unavailable
from peers import Peer, call

import promoarray as pa

GAIN = {2: 1.8}
"""How many times faster on so many cores; on others nothing was promised."""

ELEMENTS = 1 << 22
"""In a quick run too: threads pay from about a million on."""

ROWS: list[tuple[str, str]] = [
    ("x + y", "float32"),
    ("x + y", "bfloat16"),
    ("x + z", "bfloat16 float32"),
    ("x * 1.5", "bfloat16"),
    ("xp.exp(x)", "float32"),
    ("xp.exp(x)", "bfloat16"),
    ("xp.clip(x, -1, 1)", "bfloat16"),
    ("xp.where(m, x, y)", "bfloat16"),
    ("x.astype(xp.float8_e4m3fn)", "float32"),
    ("x.astype(xp.bfloat16)", "float32"),
    ("x.astype(xp.float32)", "bfloat16"),
    ("x.astype(xp.int8)", "float32"),
]


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Elementwise work and casts."""
    use: Callable[[int], object] | None = getattr(pa, "set_num_threads", None)
    if use is None:
        raise Unavailable("this promoarray has no pa.set_num_threads")
    if (available := cores()) < 2:
        raise Unavailable("the process may use one core")
    ours = Peer(OURS, pa, lambda x: pa.asarray(x.copy()))
    budget = 1 / GAIN[available] if available in GAIN else None
    for text, pair in ROWS:
        left, _, right = pair.partition(" ")
        run = call(text, ours, throughput.operands(text, left, right or left, ELEMENTS))
        ways = {OURS: _with(use, available, run), "one thread": _with(use, 1, run)}
        yield Line(f"{text}, {pair}", ways, {"one thread": budget}, "torch", wall=True)


def _with(use: Callable[[int], object], threads: int, run: Call) -> Call:
    """Run on so many threads, and on one from then on."""

    def on_threads() -> object:
        use(threads)
        try:
            return run()
        finally:
            use(1)

    return on_threads
