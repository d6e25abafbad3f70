"""The one comparison of values: bits of one dtype, numbers of two, and how far they are apart."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promoarray.diagnostics.model.values import differs, distance

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("a", "b", "where"),
    [
        ([0.0, -0.0, NAN], [-0.0, -0.0, -NAN], [1, 0, 0]),
        ([1j, complex(0, -0.0)], [1j, 0j], [0, 1]),
        ([complex(NAN, 1), complex(1, NAN)], [complex(NAN, 1), complex(2, NAN)], [0, 1]),
        (
            np.array([1.5, NAN], ml_dtypes.bfloat16),
            np.array([1.5, NAN], ml_dtypes.bfloat16),
            [0, 0],
        ),
        (np.array([1, -8], ml_dtypes.int4), np.array([1, 7], ml_dtypes.int4), [0, 1]),
        ([True, False], [True, True], [0, 1]),
        (np.array(["a", "b"]), np.array(["a", "c"]), [0, 1]),
    ],
)
def test_values_of_one_dtype(a: Any, b: Any, where: list[int]) -> None:
    assert differs(np.asarray(a), np.asarray(b)).tolist() == [bool(n) for n in where]


@pytest.mark.parametrize(
    ("a", "b", "where"),
    [
        ([2**53 + 1, 2**63 - 1, 0, 7], [2.0**53, 2.0**63, -0.0, NAN], [1, 1, 0, 1]),
        (np.array([2**64 - 1], np.uint64), [-1], [1]),
        (np.array([2**64 - 1], np.uint64), [2.0**64], [1]),
        (np.array([2049], np.int32), np.array([2048], np.float16), [1]),
        ([True, False], np.array([1, 0.5], ml_dtypes.float8_e4m3fn), [0, 1]),
        (np.array([0.1], np.float32), [0.1], [1]),
        ([1 + 0j, 1j, 2 + 1j], [1, 0, 2.0], [0, 1, 1]),
        (np.array([-0.0, 1], np.float32), [0.0, 1], [1, 0]),
    ],
)
def test_numbers_of_two_dtypes(a: Any, b: Any, where: list[int]) -> None:
    wanted = [bool(n) for n in where]
    assert differs(np.asarray(a), np.asarray(b)).tolist() == wanted
    assert differs(np.asarray(b), np.asarray(a)).tolist() == wanted


@given(st.integers(-(2**63), 2**64 - 1), st.floats())
def test_an_integer_and_a_float_are_compared_as_python_does(whole: int, number: float) -> None:
    dtype = np.int64 if whole < 2**63 else np.uint64
    assert bool(differs(np.array(whole, dtype), np.array(number))) == (whole != number)


def test_how_far_two_arrays_are_apart() -> None:
    found = distance(np.array([[1.0, 2, NAN], [4, INF, 0]]), np.array([[1, 2.5, NAN], [5, 8, NAN]]))
    assert found is not None
    assert (found.count, found.first, found.largest, found.relative) == (4, (0, 1), 1.0, 0.2)
    assert (found.finite, found.scale) == (False, 4.0)
    zeros = distance(np.array(0.0), np.array(-0.0))
    assert zeros is not None
    assert (zeros.count, zeros.first, zeros.largest, zeros.finite) == (1, (), 0.0, True)
    assert distance(np.array([NAN]), np.array([NAN])) is None
    bools = distance(np.array([True]), np.array([False]))
    assert bools is not None
    assert (bools.largest, bools.finite) == (None, False)
