"""``pa.testing.assert_allclose``."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.testing import assert_allclose, tolerance

FLOATS = [d for d in pa.dtypes.CONCRETE if d.format is not None]


def differs(*args: Any, **kwargs: Any) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_allclose(*args, **kwargs)
    return str(raised.value)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_one_rounding_is_close_and_a_wrong_digit_is_not(dtype: pa.DType) -> None:
    values = [1.0, 1.3, 3.1, 0.7]
    rounded = pa.astype(pa.asarray(values, dtype=pa.float64), dtype)
    assert_allclose(rounded, values)
    said = differs(rounded, [v * (1 + 5 * tolerance(dtype).rtol) for v in values])
    assert said.startswith("4 of 4 elements differ")
    assert f"those of {dtype.name}" in said


def test_the_less_precise_dtype_decides_and_python_numbers_have_none() -> None:
    third = pa.asarray([1 / 3], dtype=pa.bfloat16)
    exact = np.array([1 / 3])
    assert_allclose(third, exact)
    assert_allclose(exact, third)
    assert_allclose(third, 1 / 3)
    assert_allclose(pa.astype(third, pa.complex64), exact, rtol=0.01)
    assert "those of float32" in differs(pa.astype(third, pa.float32), exact)


def test_near_zero_the_smallest_normal_number_is_the_measure() -> None:
    smallest = float(pa.finfo(pa.float16).smallest_normal)
    rtol, atol = tolerance(pa.float16)
    assert atol == rtol * smallest
    assert_allclose(pa.asarray([0.0], dtype=pa.float16), [atol])
    assert differs(pa.asarray([0.0], dtype=pa.float16), [2 * atol])
    assert_allclose([0.0], [0.9 * 1e-3 * 2.0**-1022], rtol=1e-3)
    assert differs([0.0], [1e-300], rtol=1e-3)


def test_given_tolerances_hold_and_both_have_to_be_numbers() -> None:
    assert_allclose([1.0], [1.1], rtol=0.1)
    assert_allclose([1.0], [1.1], atol=0.11)
    assert "(rtol=0.01, atol=0)" in differs([1.0], [1.1], rtol=0.01, atol=0)
    for bad in ({"rtol": -1}, {"atol": float("nan")}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))} is .*not negative"):
            assert_allclose([1.0], [1.0], **bad)


def test_the_message_has_count_first_index_and_largest_difference_in_ulp() -> None:
    desired = pa.asarray([[1.0, 2.0], [4.0, 8.0]], dtype=pa.float32)
    actual = np.array([[1.0, 2.0 + 2.0**-10], [4.0, 8.0 + 2.0**-8]], np.float32)
    assert differs(actual, desired).splitlines() == [
        "2 of 4 elements differ (rtol=6.42e-06, atol=7.54e-44, those of float32)",
        "  first at [0, 1]: actual 2.00098, desired 2",
        "  largest difference at [1, 1]: 0.00390625, 4096 ulp of float32",
        "  actual, float32: [[1.        2.0009766]  [4.        8.003906 ]]",
        "  desired, float32: [[1. 2.]  [4. 8.]]",
    ]


def test_nan_and_infinities_have_to_be_in_the_same_places() -> None:
    nan, inf = pa.nan, pa.inf
    special = pa.asarray([nan, inf, -inf, 1.0], dtype=pa.bfloat16)
    assert_allclose(special, [nan, inf, -inf, 1.0])
    said = differs(special, [nan, -inf, 2.0, nan])
    assert said.startswith("3 of 4 elements differ")
    assert "NaN: 1 element of actual, 2 of desired; first that differs at [3]" in said
    assert "infinite: 2 elements of actual, 1 of desired; first that differs at [1]" in said
    assert "1 of 4 elements differs" in differs(special, special, equal_nan=False)
    assert differs(pa.asarray([complex(nan, 1)]), [1.0])
    assert_allclose(pa.asarray([complex(inf, 1)]), [complex(inf, 1)])


@pytest.mark.parametrize(
    ("actual", "desired", "far"),
    [
        (pa.asarray([2**63 - 1]), np.array([2**63], np.uint64), 1),
        (pa.asarray([2**63 - 1]), pa.asarray([-(2**63)]), 2**64 - 1),
        (pa.asarray([True]), [False], 1),
        (pa.asarray([-8], dtype=pa.int4), [7], 15),
        (pa.asarray([2**53 + 1]), [2**53], 1),
    ],
)
def test_integers_are_compared_exactly(actual: Any, desired: Any, far: int) -> None:
    said = differs(actual, desired)
    assert f"largest difference at [0]: {far}\n" in said
    assert_allclose(actual, actual)
    assert_allclose(actual, desired, atol=far)
    assert differs(actual, desired, atol=far - 1)


def test_shapes_have_to_match_but_for_numbers() -> None:
    ones = pa.ones((2, 3))
    assert_allclose(ones, 1)
    assert_allclose(1.0, ones)
    assert_allclose(pa.ones((0, 3)), pa.ones((0, 3)))
    assert differs(ones, pa.ones(3)) == "shapes differ: actual (2, 3), desired (3,)"
    assert differs(ones, pa.asarray(1.0), strict=True).startswith("shapes differ")
    assert "actual 1, desired 2" in differs(pa.asarray(1.0), 2)


def test_strict_asks_for_the_dtype() -> None:
    assert_allclose(pa.ones(2, dtype=pa.float32), pa.ones(2, dtype=pa.float32), strict=True)
    said = differs(pa.ones(2, dtype=pa.float32), np.ones(2), strict=True)
    assert said == "dtypes differ: actual float32, desired float64"


def test_no_policy_casts_what_is_compared() -> None:
    with pa.policy("jax@x32"):
        assert differs(np.array([1.0]), np.array([1.0 + 2.0**-30]))
        with pa.shadow("torch") as report, pa.no_escape():
            assert_allclose(pa.asarray([1.5], dtype=pa.float32), [1.5])
    assert report.divergences == []


@pytest.mark.parametrize("bad", ["text", [object()], None, np.array(["a"])], ids=range(4))
def test_what_holds_no_numbers_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"desired (is .* holds no numbers|holds strings)"):
        assert_allclose(1.0, bad)


def test_words_of_the_caller_come_first() -> None:
    assert differs(1.0, 2.0, err_msg="the loss").startswith("the loss\n1 of 1 elements differs")


def test_a_long_array_is_told_in_short() -> None:
    said = differs(pa.zeros(10**5), pa.ones(10**5))
    assert len(said) < 600
    assert re.match("100000 of 100000 elements differ ", said)


def test_importing_promoarray_does_not_import_it() -> None:
    code = (
        "import sys, promoarray\n"
        "loaded = lambda: {'promoarray.testing', 'pytest'} & {*sys.modules}\n"
        "print(loaded()); promoarray.testing.assert_allclose(1, 1); print(loaded())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["set()", "{'promoarray.testing'}"]


@pytest.mark.parametrize("name", ["closeness", "same_dtypes"])
def test_the_examples_of_the_docstrings_run(name: str) -> None:
    module = importlib.import_module(f"promoarray.testing.{name}")
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert (failed, tried > 0) == (0, True)
