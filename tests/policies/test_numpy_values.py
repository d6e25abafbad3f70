"""What NumPy stores, assigns, counts and accumulates: beside the installed NumPy 2, and 1.26."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.operations import Form
from promoarray.policies import Operand, as_policy
from promoarray.promotion.plan import Rank

VALUES = (
    *(0, 1, -1, 127, 128, 300, -129, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64),
    *(-(2**63), -(2**63) - 1, True, 0.5, -0.9, -1.5, 300.7, 1e5, 1e19, 1e39, float("inf")),
    *(float("nan"), 1j, 3.7 + 2j, 0j),
)
TARGETS = ("bool", "int8", "uint8", "int64", "uint64", "float16", "float64", "complex64")

CALLS: dict[str, Any] = {
    "full": lambda xp, value, dtype: xp.full(2, value, dtype=dtype),
    "full_like": lambda xp, value, dtype: xp.full_like(xp.zeros(2, dtype=dtype), value),
    "asarray": lambda xp, value, dtype: xp.asarray([value], dtype=dtype),
    "assigned": lambda xp, value, dtype: assigned(xp.zeros(2, dtype=dtype), value),
    "linspace": lambda xp, value, dtype: xp.linspace(0, value, 1, dtype=dtype),
    "arange": lambda xp, value, dtype: xp.arange(value, value + 2, dtype=dtype),
}


def assigned(x: Any, value: Any) -> Any:
    x[0] = value
    return x


def answer(call: Any, *given: Any) -> Any:
    """The dtype and bits of an answer, or the class of what is raised."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            array = np.asarray(call(*given))
        except (TypeError, ValueError, OverflowError) as error:
            return type(error).__mro__[-3]
    return array.dtype.name, array.tobytes()


@pytest.mark.parametrize("name", CALLS)
def test_numpy_2_stores_python_numbers_so(name: str) -> None:
    wrong = []
    for value in VALUES:
        if name == "arange" and (type(value) is complex or not abs(value) < 1e15):
            continue
        for dtype in TARGETS:
            ours, theirs = (answer(CALLS[name], xp, value, dtype) for xp in (pa, np))
            if ours != theirs:
                wrong.append((value, dtype, ours, theirs))
    assert wrong == []


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (2**63, "uint64"),
        ([2**63, True], "uint64"),
        ([2**63, 1], "float64"),
        ([[2**64 - 1], [-1]], "float64"),
        ([2**63, 1.5], "float64"),
        ([2**63, 1j], "complex128"),
        ([2**63 - 1, -(2**63)], "int64"),
    ],
)
@pytest.mark.parametrize("policy", ["numpy@1", "numpy@2"])
def test_ints_beyond_int64_are_unsigned_and_with_others_floats(
    policy: str, data: Any, dtype: str
) -> None:
    with pa.policy(policy):
        made = pa.asarray(data)
    assert made.dtype.name == dtype == np.asarray(data).dtype.name
    assert made.tolist() == np.asarray(data).tolist()


@pytest.mark.parametrize("data", [2**64, [2**64, 1.5], [-(2**63) - 1]])
def test_ints_beyond_64_bits_are_refused_where_numpy_makes_objects(data: Any) -> None:
    assert np.asarray(data).dtype == object
    for policy in ("numpy@1", "numpy@2"):
        with pa.policy(policy), pytest.raises(OverflowError, match="does not fit"):
            pa.asarray(data)


@pytest.mark.parametrize(
    ("name", "value", "dtype", "stored"),
    [
        ("assigned", 300, "int8", 44),
        ("assigned", -1.5, "uint8", 255),
        ("assigned", 2**63, "uint32", 0),
        ("assigned", -1, "uint64", 2**64 - 1),
        ("assigned", 2**63, "uint8", OverflowError),
        ("assigned", 1e39, "int8", OverflowError),
        ("assigned", float("nan"), "int8", ValueError),
        ("assigned", 1j, "float32", TypeError),
        ("asarray", 65504.0, "int16", -32),
        ("full", 2**63, "int64", -(2**63)),
        ("full", 2**64, "int8", OverflowError),
        ("full", 1e39, "int8", 0),
        ("full", 3.7 + 2j, "uint8", 3),
        ("full_like", -1, "uint8", 255),
        ("linspace", 1j, "int8", TypeError),
        ("arange", -1.5, "uint32", 2**32 - 1),
        ("arange", 0, "bool", False),
    ],
)
def test_numpy_1_keeps_the_low_bits(name: str, value: Any, dtype: str, stored: Any) -> None:
    with pa.policy("numpy@1"):
        if isinstance(stored, type):
            with pytest.raises(stored):
                CALLS[name](pa, value, dtype)
        else:
            assert CALLS[name](pa, value, dtype)[0] == stored


def test_bools_are_counted_up_to_two() -> None:
    assert pa.arange(2, dtype=pa.bool).tolist() == [False, True]
    with pytest.raises(TypeError, match="two values at most"):
        pa.arange(0, 5, dtype=pa.bool)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_complex_arrays_are_assigned_without_their_imaginary_parts(dtype: str) -> None:
    source = [3 + 4j, 2j]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.asarray(source).astype(dtype)
    for policy in ("numpy@1", "numpy@2"):
        with pa.policy(policy):
            x = pa.zeros(2, dtype=dtype)
            x[...] = pa.asarray(source)
            assert x.tolist() == expected.tolist()


def test_float16_accumulates_what_was_rounded() -> None:
    x = np.random.default_rng(3).normal(size=(40, 9)).astype(np.float16) * np.float16(2)
    for policy in ("numpy@1", "numpy@2"):
        with pa.policy(policy):
            ours = (pa.cumulative_sum(pa.asarray(x), axis=1), pa.cumulative_prod(x, axis=1))
        for found, function in zip(ours, (np.cumsum, np.cumprod), strict=True):
            assert np.asarray(found).tobytes() == function(x, axis=1).tobytes()


def test_where_casts_an_int_of_64_bits_and_refuses_a_longer_one() -> None:
    condition, x = pa.asarray([True, False]), pa.asarray([1, 1], dtype=pa.int8)
    assert pa.where(condition, x, 300).tolist() == [1, 44]
    assert pa.where(condition, x, 2**64 - 1).tolist() == [1, -1]
    with pytest.raises(OverflowError, match="does not fit"):
        pa.where(condition, x, 2**64)


NAN = float("nan")


def test_numpy_1_takes_the_sign_of_a_complex_number_from_its_order() -> None:
    x = [complex(NAN, 1), 1j, -1j, complex(1, NAN), 0j, complex(float("inf"), -1), -2 + 3j]
    with pa.policy("numpy@1"):
        signs = pa.sign(pa.asarray(x))
    assert str(signs.tolist()) == str(
        [complex(NAN, 0), 1 + 0j, -1 + 0j, complex(NAN, 0), 0j, 1 + 0j, -1 + 0j]
    )


@pytest.mark.parametrize("value", [2**64, -(10**20)])
def test_numpy_1_compares_with_ints_beyond_64_bits(value: int) -> None:
    with pa.policy("numpy@1"):
        for dtype in ("int8", "uint64", "float32"):
            x = pa.asarray([1, 2], dtype=dtype)
            assert (x < value).tolist() == [value > 0] * 2
            assert (x == value).tolist() == [False] * 2
            assert (value >= x).tolist() == [value > 0] * 2


@pytest.mark.parametrize(
    ("base", "exponent", "operator", "function"),
    [
        (pa.ones(2, dtype="bool"), 2, "int8", "int64"),
        (pa.ones(2, dtype="bool"), 2.0, "int8", "float64"),
        (pa.ones((), dtype="int8"), 2, "int8", "int64"),
        (pa.ones(2, dtype="int8"), 2.0, "float64", "float64"),
        (pa.ones(2, dtype="uint8"), pa.asarray(2, dtype="float16"), "float64", "float16"),
        (pa.ones(2, dtype="float16"), pa.asarray(2.0), "float16", "float16"),
        (pa.ones((), dtype="float16"), pa.asarray(0.5), "float16", "float64"),
        (pa.ones((), dtype="float32"), 3, "float64", "float64"),
        (pa.ones((), dtype="complex64"), -1, "complex64", "complex128"),
        (2, pa.ones((), dtype="float32"), "float64", "float64"),
    ],
)
def test_squares_and_roots_are_operators_of_their_own_in_numpy_1(
    base: Any, exponent: Any, operator: str, function: str
) -> None:
    with pa.policy("numpy@1"):
        assert ((base**exponent).dtype.name, pa.pow(base, exponent).dtype.name) == (
            operator,
            function,
        )


@pytest.mark.parametrize("policy", ["numpy@1", "numpy@2", "numpy@2.5"])
@pytest.mark.parametrize(
    ("exponent", "operator", "function"),
    [
        (2, "int8", "int64"),
        (3, "int64", "int64"),
        (0, "int64", "int64"),
        (True, "int8", "int8"),
        (0.5, "float64", "float64"),
        (pa.asarray(2, dtype="int8"), "int8", "int8"),
    ],
)
def test_the_square_of_bools_is_no_other_power(
    policy: str, exponent: Any, operator: str, function: str
) -> None:
    with pa.policy(policy):
        for shape in ((2,), ()):
            base = pa.ones(shape, dtype="bool")
            for k in (exponent, 3, exponent):
                power = base**k
            assert (power.dtype.name, float(pa.sum(power))) == (operator, max(1, 2 * len(shape)))
            if type(exponent) is not pa.PArray and (shape or policy != "numpy@1"):
                found = pa.pow(base, exponent), np.power(base, exponent)
                assert {x.dtype.name for x in found} == {function}
        with pytest.raises(TypeError, match=f"the result is {operator}"):
            base **= exponent


@pytest.mark.parametrize("policy", ["numpy@1", "numpy@2"])
def test_a_shadow_run_tells_the_square_of_bools_from_other_powers(policy: str) -> None:
    with pa.policy("torch"), pa.shadow(policy) as report:
        base = pa.ones(2, dtype="bool")
        made = [base**k for k in (2, 3, 2)]
    assert [x.dtype.name for x in made] == ["int64"] * 3
    assert [found.answers[policy].dtype for found in report.divergences] == [pa.int8]


ENDS = tuple(
    sign * 2**bits + more
    for bits in (7, 8, 15, 16, 31, 32, 63)
    for sign in (1, -1)
    for more in (-1, 0, 1)
)
FLOATS = (-1.0, 0.0, 0.5, 1.0, 2.0, 64999.0, -65000.0, 65001.0, 3.3e38, 3.5e38, np.inf, np.nan)


@pytest.mark.parametrize("edition", ["numpy@1", "numpy@1-windows"])
@pytest.mark.parametrize("dtype", [pa.bool, pa.int16, pa.int64, pa.uint64, pa.float64])
def test_numpy_1_answers_of_any_value_as_of_one_that_it_tells_apart(
    dtype: Any, edition: str
) -> None:
    policy: Any = as_policy(edition)
    by_value = policy.by_value
    values: Any = FLOATS
    if dtype is pa.bool:
        values = False, True
    elif dtype is not pa.float64:
        info = pa.iinfo(dtype)
        values = [n for n in (0, 1, 2, *ENDS) if info.min <= n <= info.max]
    beside = pa.uint8, pa.int8, pa.float16, pa.complex64
    names = "add", "pow", "bitwise_and", "stack"
    for name, other, at, rank in product(names, beside, (0, 1), (Rank.ARRAY, Rank.ZERO_D)):

        def given(value: Any, other: Any = other, at: int = at, rank: Rank = rank) -> Any:
            y = Operand(other, rank, None if rank is Rank.ARRAY else 1)
            x = Operand(dtype, Rank.ZERO_D, value)
            return (y, x) if at else (x, y)

        for form in (Form.OPERATOR, Form.FUNCTION):
            told = by_value.telling(name, given(values[0]), form, at)
            answers = [
                {by_value(policy, name, given(v), form) for v in some} for some in (values, told)
            ]
            assert answers[0] <= answers[1], (name, other, at, rank, form)


@pytest.mark.parametrize("value", [300, -1, 2**64, -(10**20), 1.5])
@pytest.mark.parametrize("policy", ["numpy@1", "numpy@2"])
def test_searchsorted_takes_numbers_of_any_size(policy: str, value: Any) -> None:
    x = np.asarray([0, 1, 200], np.uint8)
    with pa.policy(policy):
        assert int(pa.searchsorted(pa.asarray(x), value)) == np.searchsorted(x, value)
