"""CPU time against plain ``dask.array`` that does the same in float32, on one thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np

import promoarray as pa


class Cost(NamedTuple):
    """CPU times of ``x * y + 1.5``, in seconds, and plain Dask's.

    Attributes
    ----------
    chunk, chunks : int
        Elements of each, and how many.
    build, build_plain, run, run_plain : float
        To build the graph, and to build and compute it.
    """

    chunk: int
    chunks: int
    build: float
    build_plain: float
    run: float
    run_plain: float


SIZES = ((1_000, 100), (1_000, 1_000), (1_000, 10_000), (10_000, 100), (1_000_000, 8))


def measured(repeats: int = 7, sizes: tuple[tuple[int, int], ...] = SIZES) -> list[Cost]:
    """Measure chunks of several sizes: the least of so many runs, turn by turn."""
    with dask.config.set(scheduler="synchronous"):
        return [_cost(*size, repeats) for size in sizes]


def _cost(chunk: int, chunks: int, repeats: int) -> Cost:
    values = np.random.default_rng(0).normal(size=chunk * chunks).astype(np.float32)
    plain_x, plain_y = (da.from_array(values, chunks=chunk).persist() for _ in range(2))
    x, y = pa.asarray(plain_x), pa.asarray(plain_y)

    def ours() -> Any:
        return (x * y + 1.5)._buffer.array

    def plain() -> Any:
        return plain_x * plain_y + np.float32(1.5)

    assert ours().compute().tobytes() == plain().compute().tobytes()
    few = repeats if chunks < 5000 else max(2, repeats // 3)
    build, build_plain = _least(ours, plain, 3 * few)
    run, run_plain = _least(lambda: ours().compute(), lambda: plain().compute(), few)
    return Cost(chunk, chunks, build, build_plain, run, run_plain)


def _least(
    first: Callable[[], Any], second: Callable[[], Any], repeats: int
) -> tuple[float, float]:
    times = [[], []]  # type: tuple[list[float], list[float]] | list[list[float]]
    for _ in range(repeats):
        for function, took in zip((first, second), times, strict=True):
            begin = time.process_time()
            function()
            took.append(time.process_time() - begin)
    return min(times[0]), min(times[1])
