"""Roots of float32 and float64 by loops of ours: NumPy's bits and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import promoarray as pa


def answer(function: Any, x: Any, **options: Any) -> tuple[Any, set[str]]:
    """The words of a result, and what was heard of it."""
    heard: set[str] = set()
    with np.errstate(all="call", call=lambda kind, _: heard.add(kind)):
        found = np.asarray(function(x, **options))
    return found.view(f"u{found.itemsize}"), heard


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 33, 1000, 1 << 16])
def test_roots_are_numpys(dtype: str, n: int) -> None:
    rng = np.random.default_rng(n)
    words = rng.integers(0, 256, (n, np.dtype(dtype).itemsize), np.uint8).view(dtype)[:, 0]
    for x in (words, abs(words), np.abs(rng.normal(size=n)).astype(dtype), np.zeros(n, dtype)):
        for laid in (x, x[::-1], x[::2]):
            expected, told = answer(np.sqrt, laid)
            found, heard = answer(pa.sqrt, pa.asarray(laid, copy=None))
            assert heard == told
            assert np.array_equal(found, expected)
