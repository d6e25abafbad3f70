"""Searching by a loop of ours: NumPy's places whatever is searched for, nothing half written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import kernels
from promoarray.backends.numpy import searching

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.5, 1e-45, -1e-45]


def drawn(random: np.random.Generator, storage: str, size: int) -> Any:
    """Numbers of which some are the ends of their dtype, and special."""
    dtype = np.dtype(storage)
    if dtype.kind == "f":
        common = random.standard_normal(size).astype(dtype)
        some = random.choice(np.array(SPECIAL, dtype), size)
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        common = random.integers(low, high, size, dtype, endpoint=True)
        some = random.choice(np.array([low, high, 0, 1], dtype), size)
    return np.where(random.random(size) < 0.3, some, common)


@pytest.mark.parametrize("level", kernels.levels())
@pytest.mark.parametrize("storage", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_places_are_numpys(storage: str, level: int) -> None:
    random = np.random.default_rng(7)
    values = drawn(random, storage, 300)
    before = kernels.use_level(level)
    try:
        for size in (0, 1, 2, 3, 7, 64, 65, 500):
            among = np.sort(drawn(random, storage, size))
            for side in ("left", "right"):
                with np.errstate(all="raise"):
                    found = searching.searchsorted(among, values, side=side)
                wanted = np.searchsorted(among, values, side=side)  # type: ignore[call-overload]
                assert found.dtype == wanted.dtype
                assert np.array_equal(found, wanted), (size, side)
    finally:
        kernels.use_level(before)


def test_what_is_cast_is_searched_for_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    among = np.sort(drawn(random, "f4", 200).astype(pa.bfloat16.storage).astype(np.float32))
    values = drawn(random, "f4", 1000).reshape(10, 100).astype(pa.bfloat16.storage)
    wanted = np.searchsorted(among, values.astype(np.float32), side="right")
    monkeypatch.setattr(searching, "AT_ONCE", 300)
    x, y = pa.asarray(among).astype(pa.bfloat16), pa.asarray(values)
    for policy in ("numpy", "jax", "torch"):
        with pa.policy(policy):
            for given, places in ((y, wanted), (y.T, wanted.T)):
                found = pa.searchsorted(x, given, side="right")
                assert np.array_equal(np.asarray(found), places)


def test_rows_that_lie_apart_and_a_sorter() -> None:
    x = np.arange(200, dtype=np.float32)[::-1]
    values = np.arange(400, dtype=np.float32)[::2]
    order = np.arange(200)[::-1]
    found = pa.searchsorted(pa.asarray(x), pa.asarray(values), sorter=pa.asarray(order))
    assert np.array_equal(np.asarray(found), np.minimum(values, 200))
    assert np.array_equal(searching.searchsorted(x[::-1], values), np.minimum(values, 200))


def test_what_cannot_be_searched_is_not_written() -> None:
    row, out = kernels.dtype_args(pa.float32), np.full(3, -1, np.int64)
    x = np.ones(3, np.float32)
    for given in (
        (x.astype(np.float64), x, out, row),
        (x, x.astype(">f4"), out, row),
        (x, x[:2], out, row),
        (x, x, out.astype(np.int32), row),
        (x.view(np.uint32), out.view(np.uint32)[:3], out, row),  # the result itself
        (x, x, out, kernels.dtype_args(pa.complex64)),
        (x, x, out, kernels.dtype_args(pa.bfloat16)),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            kernels.search(*given, False)
        assert (out == -1).all()
