"""The passes in C++ that tell where nothing can be lost: held against NumPy, and misuse is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from promoarray import dtypes as dt
from promoarray.core.cast import convert
from promoarray.diagnostics.losses.elements import CODES, Values, counts, ends, integer_ends
from promoarray.diagnostics.record._seen import extremes, screen, span, wraps
from promoarray.dtypes import INTEGERS, DType, Kind
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
        assert screen(some, layout) == expected
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
    for number, x, y, expected in (
        (0, [high, 1, half, half - 1], [1, 1, half, half], (2, 0)),
        (0, [low, low, 0, 1], [high, 0, low, high], (1, 3)),
        (1, [low, 5, low + 1, high], [1, 1, 1, 1], (1, 0)),
        (2, [half, half, 2, high], [1, 2, 2, high], (2, 1)),
        (2, [high, 1, 0, 0], [1, high, high, low], (0, 0)),
    ):
        one, other = np.array(x, dtype), np.array(y, dtype)
        assert wraps(number, one, other)[:2] == expected, (number, x)
    assert wraps(2, np.array([3, high, high], dtype), np.array(2, dtype))[:2] == (2, 1)
    assert wraps(0, np.array([], dtype), np.array([], dtype))[0] == 0


def test_what_is_no_array_of_them_is_an_error() -> None:
    layout, array = dt.float32.format, np.zeros(3, np.uint32)
    assert layout is not None
    for function in (screen, span):
        for args in ((array,), (array, layout, 1), (array, 5), (array, (1, 2)), (5, layout)):
            with pytest.raises(TypeError):
                function(*args)
        with pytest.raises(TypeError):
            function(np.zeros(3), layout)
        with pytest.raises(TypeError):
            function(array, (1, 2, 3, 4, 5, 6, 7, "x"))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="contiguous"):
            function(np.zeros(6, np.uint32)[::2], layout)
    with pytest.raises(TypeError):
        extremes(np.zeros(3))
    ints = np.zeros(3, np.int32)
    for wrong in ((3, ints, ints), (0, ints), (0, ints, ints[:2]), (0, ints, ints.astype("i8"))):
        with pytest.raises(TypeError):
            wraps(*wrong)
    with pytest.raises(ValueError, match="contiguous"):
        wraps(0, np.zeros((3, 3), np.int32).T, ints)
