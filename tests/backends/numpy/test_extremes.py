"""``maximum`` and ``minimum`` of float32 and float64 by loops of ours: NumPy's bits, no warning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import promoarray as pa

LENGTHS = 1, 15, 64, 1001, 40_000, 140_000
"""Also of more elements than NumPy takes where operands do not lie in rows."""


def operands(x: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """The same elements in rows, with gaps, backwards, and one, a row or a column for all."""
    n = len(x) // 2
    yield from [(x[:n], y[:n]), (x[1 : n + 1], y[:n]), (x[::2], y[1::2]), (x[::-1], y)]
    yield from [(x, y[:1]), (y[:1], x), (x, y[0, ...]), (y[0, ...], x)]
    if n >= 1000:
        table = x[: n // 500 * 500].reshape(-1, 500)
        wide = x[: n // 1000 * 1000].reshape(-1, 1000)
        for each in (table, wide):
            column = y[: len(each), None]
            yield from [
                (each, column),
                (column, each),
                (each, y[: each.shape[1]]),
                (each.T, each.T),
            ]


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", LENGTHS)
def test_extremes_are_numpys(name: str, dtype: str, n: int) -> None:
    rng, size = np.random.default_rng(n), np.dtype(dtype).itemsize
    words = rng.integers(0, 256, (2, 2 * n, size), np.uint8).view(dtype)[..., 0]
    quiet = np.array([np.nan, -np.nan], dtype).view(f"u{size}")
    signalling = quiet - (quiet & -quiet) + np.array([1, 5], f"u{size}")
    usual = [0, 1, -1, 0.5, np.inf, -np.inf]
    common = np.concatenate(
        [np.array(usual, dtype), -np.zeros(3, dtype), quiet.view(dtype), signalling.view(dtype)]
    )
    for some in (words, rng.choice(common, (2, 2 * n))):
        for x, y in operands(*some):
            with np.errstate(all="ignore"):
                expected = np.asarray(getattr(np, name)(x, y))
            with np.errstate(all="raise"):
                found = np.asarray(getattr(pa, name)(pa.asarray(x), pa.asarray(y)))
            assert found.shape == expected.shape
            assert found.tobytes() == expected.tobytes(), (x.strides, y.strides, y.shape)


def test_numpy_says_of_extremes_what_does_not_match() -> None:
    x = pa.ones((3, 4), dtype="float32")
    with pytest.raises(ValueError, match=r"\(3, 4\).*\(5,\)"):
        pa.maximum(x, pa.ones(5, dtype="float32"))
