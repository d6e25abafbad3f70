"""Casts: every pair of dtypes against a copy of the wider side, rules and quirks against defaults.

Run ``python benchmarks/casts.py``; it takes what ``python -m benchmarks`` takes. NumPy with
ml_dtypes casts by ``astype``, PyTorch by ``to``, and onnxruntime stands beside where it is
installed. A result of 32 MiB and more is fresh memory each time, to all but onnxruntime, which
keeps its own. ``PROMOARRAY_CPU_LEVEL=1`` measures the loops for an x86-64 level below the machine's
own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import cast_lines
import numpy as np
from cast_peers import by_astype, by_onnxruntime, by_torch
from measure import OURS, Call, Line, Options
from peers import Array, Peer

from promoarray import dtypes as dt
from promoarray.backends import numpy as backend
from promoarray.dtypes import DType, Kind

COPY, DEFAULT = "copy", "default"
PAIR, NARROW, RULE, QUIRK = 2.5, 1.5, 1.5, 4.0
"""Times a copy, of any pair and of float32 with floats of 8 bits and fewer; times the default."""

QUICK = 8
"""Of rules and quirks, a quick run takes every eighth."""


class Arrays:
    """The sample of one source at a time, and what is copied where the target is wider."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.source: DType | None = None
        self.x: Array = np.empty(0)

    def of(self, source: DType) -> Array:
        """What is cast."""
        if self.source is not source:
            self.source, self.x = source, cast_lines.sample(source, self.n)
        return self.x

    def wider(self, source: DType, target: DType) -> Array:
        """What has the bytes of the wider side."""
        x = self.of(source)
        size = target.storage.itemsize
        return x if x.itemsize >= size else np.ones(self.n * size, np.uint8).view(f"V{size}")


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """Every pair, then what policies do otherwise than by default, then their quirks."""
    arrays = Arrays(options.elements)
    torch = any(peer.name == "torch" for peer in peers)
    for cast in sorted(cast_lines.pairs(), key=_source):
        yield Line(cast.name, _pair(cast, arrays, torch), _bounds(cast.source, cast.target))
    step = QUICK if options.quick else 1
    for listed, budget in ((cast_lines.rules(), RULE), (cast_lines.quirks(), QUIRK)):
        for cast in sorted(listed[::step], key=_source):
            x = arrays.of(cast.source)
            ways: dict[str, Call] = {
                OURS: lambda c=cast, x=x: backend.cast(x, c.source, c.target, *c[3:]),
                DEFAULT: lambda c=cast, x=x: backend.cast(x, c.source, c.target),
            }
            yield Line(cast.name, ways, {DEFAULT: budget})


def _source(cast: Any) -> str:
    return str(cast.source.name)


def _pair(cast: Any, arrays: Arrays, torch: bool) -> dict[str, Call]:
    source, target, x = cast.source, cast.target, arrays.of(cast.source)
    ways: dict[str, Call] = {
        OURS: lambda: backend.cast(x, source, target),
        COPY: arrays.wider(source, target).copy,
    }
    others = {"numpy": by_astype, "torch": by_torch, "onnxruntime": by_onnxruntime}
    for name, make in others.items():
        if (name != "torch" or torch) and (run := make(source, target, x)) is not None:
            ways[name] = run
    return ways


def _bounds(source: DType, target: DType) -> dict[str, float]:
    """A cast takes at most so many copies, and no longer than the others do."""
    both = {source, target}
    narrow = dt.float32 in both and any(d.kind is Kind.FLOAT and d.bits <= 8 for d in both)
    return {COPY: NARROW if narrow else PAIR, "numpy": 1.0, "torch": 1.0}


if __name__ == "__main__":
    from command import main

    sys.exit(main(["--chapter", "casts", *sys.argv[1:]]))
