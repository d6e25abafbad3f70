"""``pa.check`` of lazy arrays: blocks are looked at as they are computed, once."""

from __future__ import annotations

import numpy as np
import pytest

import promoarray as pa

pytestmark = pytest.mark.xdist_group("blocks")  # the first rewrites what is loaded, at some cost

da = pytest.importorskip("dask.array")


def lazy(values, dtype, chunks: int = 100):
    return pa.astype(pa.from_dask(da.from_array(np.asarray(values), chunks=chunks)), dtype)


def test_blocks_are_looked_at_when_they_are_computed() -> None:
    x = lazy(np.arange(250), pa.uint8)
    with pa.check("integer-wrap") as report:
        y = x + x
        assert not report.told
        np.asarray(y)
    (told,) = report.told
    assert told.words.startswith("122 of 250 elements wrap: ")


def test_a_block_is_computed_once() -> None:
    computed = []

    def block(x):
        computed.append(len(x))
        return x

    x = pa.from_dask(da.from_array(np.arange(200), chunks=100).map_blocks(block, dtype="int64"))
    computed.clear()
    with pa.check() as report:
        y = x * 2 + 1
        np.asarray(y)
    assert computed == [100, 100]
    assert not report.told
    assert report.examined == 3  # np.asarray is NumPy's


def test_what_is_not_computed_is_named() -> None:
    x = lazy(np.arange(200), pa.uint8)
    with pa.check() as report:
        x + x
        x.sum()
    assert "2 of 2 blocks of add" in report.unread
    assert "sum at" in report.unread


def test_in_place_and_casts_and_numbers() -> None:
    x = lazy([200, 1, 250] * 50, pa.uint8)
    with pa.check() as report:
        x += 10
        y = pa.astype(x * 1.0, pa.float16) * 30000
        np.asarray(y)
    kinds = {each.place.kind: each.place.count for each in report.told}
    assert kinds["integer-wrap"] == 50
    assert kinds["overflow"] > 0


def test_the_bits_are_those_without_a_check() -> None:
    x = lazy(np.linspace(-3, 3, 500), pa.bfloat16, 64)
    plain = np.asarray(pa.astype(x * 3 + x, pa.float32))
    with pa.check():
        looked = np.asarray(pa.astype(x * 3 + x, pa.float32))
    assert (plain == looked).all()
