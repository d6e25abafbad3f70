"""Long rows of integers are sorted by counts, by digits or by comparing; NumPy knows the order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import kernels
from promoarray.backends.numpy import ordering
from promoarray.dtypes import CONCRETE, Kind

N = 3000
UNSIGNED = ["u1", "u2", "u4", "u8"]
INTEGERS = [*UNSIGNED, "i1", "i2", "i4", "i8"]


def rows(storage: str) -> dict[str, Any]:
    """Integers of every manner that has a way of its own, and what lies at its border."""
    random = np.random.default_rng(7)
    limits = np.iinfo(storage)
    least, greatest = limits.min, limits.max
    wide = np.frombuffer(random.bytes(N * np.dtype(storage).itemsize), storage)
    few = random.choice(np.array([least, 3, 4, greatest], storage), N)
    others = few.copy()
    others[[5, -7]] = 77  # where no sample looks
    ordered = np.sort(wide)
    nearly = ordered.copy()
    nearly[-1] = least
    ends = random.choice(np.array([least, least + 1, greatest - 1, greatest], storage), N)
    near = {
        f"up to {span}": (random.integers(0, span, N, np.uint64, True)).astype(storage)
        for span in (1, 100, 4 * N - 1, 4 * N, 0xFFFF, 0x10000, 2**31, 2**40)
        if span <= greatest - least
    }
    lowest = {
        f"{name}, from the least": each + limits.dtype.type(least) for name, each in near.items()
    }
    return (
        near
        | lowest
        | {
            "wide": wide,
            "few": few,
            "a few more": others,
            "in order": ordered,
            "nearly": nearly,
            "ends": ends,
            "one": np.full(N, greatest, storage),
            "backwards": ordered[::-1].copy(),
        }
    )


@pytest.mark.parametrize("storage", INTEGERS)
def test_integers_are_sorted(storage: str) -> None:
    found = rows(storage)
    for name, x in found.items():
        made = np.empty_like(x)
        kernels.sort_integers(x, made, storage[0] == "i")
        assert np.array_equal(made, np.sort(x)), name
    table = np.stack([*found.values()])
    made = np.empty_like(table)
    kernels.sort_integers(table, made, storage[0] == "i")
    assert np.array_equal(made, np.sort(table, axis=-1))


@pytest.mark.parametrize("storage", UNSIGNED)
def test_equal_keys_stay_in_order(storage: str) -> None:
    found = rows(storage)
    for name, x in found.items():
        order = np.empty(x.shape, np.int64)
        kernels.order_integers(x, order)
        assert np.array_equal(order, np.argsort(x, stable=True)), name
    table = np.stack([*found.values()])
    order = np.empty(table.shape, np.int64)
    kernels.order_integers(table, order)
    assert np.array_equal(order, np.argsort(table, axis=-1, stable=True))


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 300, 70_000])
def test_rows_of_any_length_are_sorted(n: int) -> None:
    x = np.frombuffer(np.random.default_rng(n).bytes(8 * n), np.uint64)
    made, order = np.empty_like(x), np.empty(n, np.int64)
    kernels.sort_integers(x, made, False)
    kernels.order_integers(x, order)
    assert np.array_equal(made, np.sort(x))
    assert np.array_equal(order, np.argsort(x, stable=True))


def test_no_rows_and_rows_of_nothing_are_sorted() -> None:
    for shape in ((0,), (0, 5), (5, 0)):
        x = np.empty(shape, np.uint32)
        kernels.sort_integers(x, np.empty_like(x), False)
        kernels.order_integers(x, np.empty(shape, np.int64))


def test_what_cannot_be_sorted_is_not_written() -> None:
    x = np.arange(9, dtype="u2")[::-1].copy()
    wrong = [np.full(8, 7, "u2"), np.full((3, 3), 7, "u2"), np.full(9, 7, "u4")]
    for target in (*wrong, np.full(9, 7, ">u2"), x):
        before = target.tobytes()
        with pytest.raises(ValueError, match=r"source|result"):
            kernels.sort_integers(x, target, False)
        assert target.tobytes() == before
    with pytest.raises(ValueError, match="result must be integers, of 64 bits"):
        kernels.order_integers(x, np.empty(9, np.int32))
    with pytest.raises(ValueError, match="source must be integers of up to 64 bits"):
        kernels.sort_integers(np.empty(9, "c16"), np.empty(9, "c16"), False)


SORTED = [d for d in CONCRETE if d.kind not in (Kind.STRING, Kind.COMPLEX)]


@pytest.mark.parametrize("dtype", SORTED, ids=str)
def test_long_rows_are_sorted_as_short_ones_are(
    dtype: pa.DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape, size = (2, 2 * ordering.LONG), dtype.storage.itemsize
    random = np.random.default_rng(3)
    x = pa.asarray(
        np.frombuffer(random.bytes(4 * size * ordering.LONG), f"u{size}")
        .astype("?" if dtype is pa.bool else f"u{size}")
        .view(dtype.storage)
        .reshape(shape)
    )
    x._buffer[:, ::50] = x._buffer[0, 0]
    for options in ({}, {"descending": True}, {"axis": 0}):
        for function in (pa.sort, pa.argsort):
            found = function(x, **options)._buffer.tobytes()
            with monkeypatch.context() as patch:
                _never_long(patch)
                assert function(x, **options)._buffer.tobytes() == found
    for function in (pa.unique_values, pa.unique_all):
        found = [each._buffer.tobytes() for each in _several(function(x))]
        with monkeypatch.context() as patch:
            _never_long(patch)
            assert [each._buffer.tobytes() for each in _several(function(x))] == found


def _several(made: Any) -> tuple[pa.PArray, ...]:
    return made if isinstance(made, tuple) else (made,)


def _never_long(patch: pytest.MonkeyPatch) -> None:
    for name in ("LONG", "LONG_ORDER"):
        patch.setattr(ordering, name, 1 << 60)
