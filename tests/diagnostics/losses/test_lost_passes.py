"""The passes that tell where nothing can be lost, held against other ways to compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from promoarray import dtypes as dt
from promoarray.core.cast import convert
from promoarray.diagnostics.losses.elements import CODES, Values, counts, ends, integer_ends
from promoarray.diagnostics.losses.examined import lost
from promoarray.dtypes import BY_NAME, INTEGERS, DType, Kind
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import bounds, largest

FLOATS = [row for row in dt.CONCRETE if row.kind is Kind.FLOAT]
WHOLE = [row for row in dt.CONCRETE if row.kind in INTEGERS]


def codes(dtype: DType, size: int) -> Any:
    word, _ = CODES[dtype]
    few = np.random.default_rng(5).integers(0, 1 << dtype.bits, size, word, endpoint=False)
    return np.resize(np.arange(1 << dtype.bits, dtype=word), size) if dtype.bits < 17 else few


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("size", [1, 7, 300, 70000])
def test_classes_are_counted(dtype: DType, size: int) -> None:
    every = codes(dtype, size)
    word, layout = CODES[dtype]
    for some in (every, every[: size // 2], every[: size // 3] & np.array(1, word)):
        held = some.view(dtype.storage)
        wide = convert(as_policy("numpy"), held, dtype, dt.float64)
        normal = 2.0 ** (1 - layout.bias)
        zero = int((wide == 0).sum())
        small = int((np.abs(wide) < normal).sum()) - zero if layout.mantissa else 0
        expected = (
            *(int(np.isnan(wide).sum()), int(np.isinf(wide).sum()), zero, small),
            int((np.abs(wide) == largest(dtype)).sum()),
        )
        assert counts(Values(held, dtype)) == expected
        finite = wide[np.isfinite(wide)]
        least, most, sign, is_finite = ends(Values(held, dtype))
        if not finite.size:
            assert (least, most) == (-1, -1)
            continue
        low, high = np.array([least, most], word).view(dtype.storage).astype(np.float64)
        assert (low, high) == (np.abs(finite).min(), np.abs(finite).max())
        assert is_finite <= (finite.size == wide.size)
        negative = np.signbit(finite)
        assert sign in ((-1 if negative.all() else 1 if not negative.any() else 0), 0)


def test_one_loss_among_many_is_seen_wherever_it_lies() -> None:
    for dtype in (dt.float16, dt.bfloat16, dt.float32, dt.float64):
        for at in (0, 1, 31, 32767, 65535, 99999):
            for value, where in (np.nan, 0), (-np.inf, 1), (0.0, 2):
                array = np.ones(100000).astype(dtype.storage)
                array[at] = value
                assert counts(Values(array, dtype))[where] == 1


def test_order_and_complex_parts_are_seen() -> None:
    array = np.array([[1, np.nan, np.inf], [0, 2, 3]], np.float32)
    for some in (array, array.T, array[:, ::-1], array[::-1, :2]):
        assert counts(Values(some, dt.float32))[0] == 1
    pairs = np.array([complex(1, np.nan), 0, complex(np.inf, 2)], np.complex64)
    for each in (pairs, pairs[::-1], pairs.reshape(3, 1).T):
        assert counts(Values(each, dt.complex64)) == (1, 1, 2, 0, 0)
    assert counts(Values(pairs[0], dt.complex64))[0] == 1
    assert integer_ends(Values(np.arange(9)[::2], dt.int64)) == (0, 8)
    assert integer_ends(Values(np.array([False, True]), dt.bool)) == (0, 1)


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_ends_of_integers(dtype: DType) -> None:
    low, high = bounds(dtype)
    wide = f"{'u' * (low == 0)}int{max(8, dtype.bits)}"
    array = np.array([low, 0, 1, high], wide).astype(dtype.storage)
    assert integer_ends(Values(array, dtype)) == (low, high)
    assert integer_ends(Values(array[:0], dtype)) == (0, 0)


@pytest.mark.parametrize("letter", "bBhHiIqQlL")
def test_wraps_are_counted(letter: str) -> None:
    dtype = np.dtype(letter)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    half = high // 2 + 1
    for name, x, y, expected in (
        ("add", [high, 1, half, half - 1], [1, 1, half, half], (2, 0)),
        ("add", [low, low, 0, 1], [high, 0, low, high], (1, 3)),
        ("subtract", [low, 5, low + 1, high], [1, 1, 1, 1], (1, 0)),
        ("multiply", [half, half, 2, high], [1, 2, 2, high], (2, 1)),
        ("multiply", [high, 1, 0, 0], [1, high, high, low], None),
        ("multiply", [3, high, high], 2, (2, 1)),
        ("add", [], [], None),
    ):
        one, other = np.array(x, dtype), np.array(y, dtype)
        made = getattr(np, name)(one, other)
        held = [Values(each, BY_NAME[dtype.name]) for each in (one, other, made)]
        found = [(each.count, each.example.index[0]) for each in lost(name, held[:2], held[2])]
        assert found == ([] if expected is None else [expected]), (name, x)
