"""NumPy: the table JAX's document prints, promotion by value, and the dtypes of ml_dtypes."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
import tables
from check import GOLDEN

import promoarray as pa
from promoarray.dtypes import BY_CODE, BY_STORAGE, WEAK
from promoarray.policies import Operand, Rank, Refusal, as_policy

ONES = {"i*": 1, "f*": 1.0, "c*": 1 + 0j}


def operand(given: Any) -> Operand:
    """A dtype code, or a Python scalar with its value."""
    if isinstance(given, str):
        return Operand(BY_CODE[given])
    return Operand(WEAK[type(given)], Rank.SCALAR, given)


def result(policy: str, name: str, *operands: Any) -> str:
    plan = as_policy(policy).plan(name, tuple(map(operand, operands)))
    return "-" if isinstance(plan, Refusal) else plan.result.code


OWN = [np.dtype(code) for code in "?bBhHiIqQefdFD"]


def test_three_dtypes_promote_together_and_not_pair_by_pair() -> None:
    """int16, uint16 and float16 are float32, though the first two make int32."""
    wrong = []
    for three in product(OWN, repeat=3):
        expected = np.result_type(*three)
        for policy in ("numpy@2", "numpy@1"):
            found = as_policy(policy).result_type(tuple(Operand(BY_STORAGE[d]) for d in three))
            if found is not BY_STORAGE[expected]:
                wrong.append((policy, three, found, expected))
    assert wrong == []
    for pair in combinations_with_replacement(OWN, 2):
        for scalar in (True, 1, 1.0, 1j):
            expected = np.result_type(*pair, scalar)
            assert pa.result_type(*map(BY_STORAGE.get, pair), scalar) is BY_STORAGE[expected]
            assert pa.result_type(scalar, *map(BY_STORAGE.get, pair)) is BY_STORAGE[expected]
    short, unsigned, half = (pa.zeros(2, dtype=d) for d in ("int16", "uint16", "float16"))
    assert pa.concat([short, unsigned, half]).dtype is pa.float32
    assert pa.clip(half, short, unsigned).dtype is pa.float32


def test_document_prints_numpy_1() -> None:
    """The scalars of the document are 1, 1.0 and 1j, whose values NumPy 1 looks at."""
    _, sections = tables.read(GOLDEN / "documents.txt")
    different = {
        (row, column)
        for (row, column), printed in sections["jax/numpy"].items()
        if result("numpy@1", "add", ONES.get(row, row), ONES.get(column, column)) != printed
    }
    assert not different


@pytest.mark.parametrize(
    ("left", "right", "one", "two"),
    [
        ("i8", 1000, "i16", "i8"),
        ("u8", -1, "i16", "u8"),
        ("i8", 200, "i16", "i8"),
        ("f16", 65504.0, "f32", "f16"),
        ("f32", 1e300, "f64", "f32"),
        ("f32", float("nan"), "f32", "f32"),
        ("i8", 1.0, "f64", "f64"),
        ("b1", 1, "i64", "i64"),
        ("c64", 1e39j, "c128", "c64"),
        ("i64", 1 << 63, "f64", "i64"),
    ],
)
def test_values_mattered_once(left: str, right: Any, one: str, two: str) -> None:
    assert result("numpy@1", "add", left, right) == one
    assert result("numpy@1", "add", right, left) == one
    assert result("numpy@2", "add", left, right) == two


@pytest.mark.parametrize(
    ("name", "left", "right", "one"),
    [
        ("add", "u8", 300, "u16"),
        ("bitwise_and", "u8", 300, "i16"),  # int16 stands before uint16, and 300 fits both
        ("bitwise_or", "u8", 40000, "u16"),
        ("floor_divide", "u16", 65536, "i32"),
        ("bitwise_left_shift", "u8", 255, "u8"),
        ("remainder", "u64", -1, "f64"),
        ("bitwise_and", "u64", -1, "-"),
        ("atan2", "i16", 40000, "f32"),  # as uint16 it goes into float32, as int32 it would not
        ("pow", "f16", 257, "f32"),
    ],
)
def test_numpy_1_takes_the_first_loop_that_holds_the_value(
    name: str, left: str, right: Any, one: str
) -> None:
    assert result("numpy@1", name, left, right) == one
    assert result("numpy@1", name, right, left) == one


def test_in_place_goes_by_the_loop() -> None:
    x = pa.asarray([7], dtype=pa.uint8)
    with pa.policy("numpy@1"):
        assert (x & 300).dtype is pa.int16
        with pytest.raises(pa.PromotionError, match="result is int16, which may not be written"):
            x &= 300


@pytest.mark.parametrize("value", [complex(1, float("nan")), complex(float("nan"), 1)])
def test_a_nan_in_either_part_keeps_a_complex_scalar_wide(value: complex) -> None:
    assert result("numpy@1", "add", "c64", value) == "c128"
    assert result("numpy@1", "add", "c64", 1e38j) == "c64"


def test_numpy_1_promotes_three_in_turn() -> None:
    with pa.policy("numpy@1"):  # asked of NumPy 1.26.4
        x, low = pa.ones(2, dtype="uint16"), pa.ones(2, dtype="int32")
        assert pa.clip(x, 70000, low).dtype is pa.int64
        assert pa.clip(low, x, 70000).dtype is pa.int32
        x, low = pa.ones(2, dtype="int8"), pa.ones(2, dtype="float16")
        assert pa.clip(pa.asarray(128, dtype="int32"), x, low).dtype is pa.float32
        assert pa.clip(pa.asarray(127, dtype="int32"), x, low).dtype is pa.float16


def test_0d_arrays_count_by_value_in_numpy_1_only() -> None:
    zero_d = Operand(BY_CODE["i64"], Rank.ZERO_D, 100)
    plans = [as_policy(name).plan("add", (Operand(BY_CODE["i8"]), zero_d)) for name in
             ("numpy@1", "numpy@2")]  # fmt: skip
    assert [plan.result.code for plan in plans if not isinstance(plan, Refusal)] == ["i8", "i64"]


@pytest.mark.parametrize(
    ("scalar", "expected"), [(True, "bf16"), (1, "bf16"), (1.0, "bf16"), (1j, "c64")]
)
def test_scalars_are_weak_beside_bfloat16(scalar: Any, expected: str) -> None:
    for name in ("add", "multiply", "divide", "maximum", "where"):
        assert result("numpy", name, "bf16", scalar) == expected


@pytest.mark.parametrize("code", ["bf16", "f8_e4m3fn", "f8_e5m2", "i4", "u2", "c32", "f4_e2m1fn"])
def test_arithmetic_of_one_dtype_stays_in_it(code: str) -> None:
    for name in ("add", "subtract", "multiply", "pow", "where"):
        assert result("numpy", name, code, code) == code


@pytest.mark.parametrize(
    ("target", "other", "allowed"),
    [("i8", "i64", True), ("i8", "u64", False), ("u8", "i8", False), ("f32", "f64", True),
     ("i8", "f32", False), ("f32", "c64", False), ("i64", "u64", False)],
)  # fmt: skip
def test_in_place_casts_within_a_kind(target: str, other: str, allowed: bool) -> None:
    plan = as_policy("numpy").plan_inplace("add", (operand(target), operand(other)))
    assert isinstance(plan, Refusal) is not allowed


def test_ints_beyond_64_bits_are_refused_in_numpy_1() -> None:
    for dtype in ("i8", "f64"):
        with pytest.raises(OverflowError, match="does not fit"):
            as_policy("numpy@1").scalars.fit(1 << 64, BY_CODE[dtype])


def test_integers_of_both_signs_compare_as_the_integers_they_are() -> None:
    a = pa.asarray([2**63 - 1, -1, 5], dtype=pa.int64)
    b = pa.asarray([2**63, 2**64 - 1, 5], dtype=pa.uint64)
    assert (a == b).tolist() == [False, False, True]
    assert (a < b).tolist() == [True, True, False]
    assert (b > pa.astype(a, pa.int64)).tolist() == [True, True, False]


@pytest.mark.parametrize(("values", "value"), [("uint8", 300), ("int8", -129), ("int64", 2**63)])
def test_where_fits_its_python_ints_from_numpy_2_5_on(values: str, value: int) -> None:
    mask, x = pa.asarray([True, False]), pa.ones(2, dtype=values)
    with pa.policy("numpy@2"):  # asked of NumPy 2.4.6
        low = pa.asarray([value % 2**64], dtype="uint64").astype(values)
        assert pa.where(mask, x, value).tolist() == [1, low[0].item()]
    with pa.policy("numpy@2.5"):  # asked of NumPy 2.5.5
        assert pa.where(mask, x, 5).tolist() == [1, 5]
        with pytest.raises(OverflowError, match="does not fit"):
            pa.where(mask, x, value)
