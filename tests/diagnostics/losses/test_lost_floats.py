"""Inf and NaN that are born, results that vanish, and updates that are absorbed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from promoarray import dtypes as dt
from promoarray.diagnostics.losses.examined import Operand, Values, absorbed, born, lost
from promoarray.diagnostics.model.lost import NAN, OVERFLOW, UNDERFLOW, Loss
from promoarray.dtypes import DType
from promoarray.operations import OPERATIONS, STANDS_FOR

FLOATS = [dt.float16, dt.bfloat16, dt.float32, dt.float64]


def held(numbers: Any, dtype: DType = dt.float32) -> Values:
    with np.errstate(all="ignore"):
        return Values(np.asarray(numbers).astype(dtype.storage), dtype)


def told(operation: str, operands: Sequence[Operand], made: Any, **options: Any) -> list[Loss]:
    result = made if isinstance(made, Values) else held(made, operands[0].dtype)  # type: ignore[union-attr]
    return list(lost(operation, operands, result, options=options))


def kinds(found: Sequence[Loss]) -> list[tuple[str, int]]:
    return [(each.kind, each.count) for each in found]


def test_only_the_first_inf_is_told() -> None:
    x, y = held([300.0, np.inf, 2.0], dt.float16), held([300.0, 2.0, 3.0], dt.float16)
    (loss,) = told("multiply", [x, y], [np.inf, np.inf, 6.0])
    assert (loss.kind, loss.count, loss.of) == (OVERFLOW, 1, 3)
    assert loss.example.index == (0,)
    assert (loss.example.given, loss.example.exact, loss.example.got) == (
        ("300.0", "300.0"),
        "90000.0",
        "inf",
    )
    assert loss.wanted == "float32"
    assert loss.ranges == (("2.0", "inf"), ("2.0", "300.0"))


def test_a_division_by_zero_is_noted() -> None:
    x, y = held([1.0, 0.0, 5.0]), held([0.0, 0.0, 2.0])
    over, nan = told("divide", [x, y], [np.inf, np.nan, 2.5])
    assert (over.kind, over.count, over.note, over.wanted) == (
        OVERFLOW,
        1,
        "a division by zero",
        "",
    )
    assert (nan.kind, nan.count, nan.example.index, nan.note) == (
        NAN,
        1,
        (1,),
        "a division by zero",
    )
    assert told("log", [held([0.0, 3.0])], [-np.inf, 1.0])[0].note == "the logarithm of zero"


def test_nan_of_infinities_is_born_and_of_nan_is_not() -> None:
    x, y = held([np.inf, np.nan, 1.0]), held([np.inf, 1.0, np.nan])
    assert kinds(told("subtract", [x, y], [np.nan] * 3)) == [(NAN, 1)]
    assert kinds(told("multiply", [held([0.0, 2.0]), np.inf], [np.nan, np.inf])) == [(NAN, 1)]


def test_masks_are_not_told() -> None:
    least = float(np.finfo(np.float16).min)
    scores, mask = held([[1.0, 2.0]], dt.float16), held([[0.0, -np.inf]], dt.float16)
    assert not told("add", [scores, mask], [[1.0, -np.inf]])
    assert not told("add", [held([least], dt.float16)] * 2, [-np.inf])
    assert not told("where", [Values(np.array([True]), dt.bool), held([1.0]), -np.inf], [-np.inf])
    assert not told("log", [held([0.0, 1.0, 0.0])], [-np.inf, 0.0, -np.inf])
    assert not told("exp", [held([-200.0, np.inf])], [0.0, np.inf])
    assert told("exp", [held([200.0])], [np.inf])[0].example.exact.startswith("7.22597")


@pytest.mark.parametrize("bound", [None, 40])
def test_beside_a_mask_that_is_broadcast_the_others_count(bound: int | None) -> None:
    scores = np.full((5, 4, 4), 3e38, np.float32)
    mask = np.triu(np.full((4, 4), -np.inf, np.float32), 1)
    mask[0, 0] = 3e38
    with np.errstate(over="ignore"):
        made = held(scores + mask)
    given = [held(scores), held(mask)]
    for operands in (given, given[::-1]):
        (loss,) = lost("add", operands, made, bound=bound)
        assert (loss.kind, loss.example.index) == (OVERFLOW, (0, 0, 0))
        assert bound is not None or loss.count == 5
    assert not list(lost("add", [held(scores), -np.inf], held(scores - np.inf)))


def test_reductions_are_told_by_the_rows_behind_them() -> None:
    table = held([[60000.0, 60000.0], [np.inf, 1.0], [1.0, 2.0]], dt.float16)
    (loss,) = told("sum", [table], [np.inf, np.inf, 3.0], axis=-1)
    assert (loss.kind, loss.count, loss.of, loss.example.index) == (OVERFLOW, 1, 3, (0,))
    assert (loss.example.exact, loss.wanted) == ("120000.0", "float32")
    assert loss.example.given == ("[60000.0, 60000.0]",)
    assert kinds(told("sum", [table], [[np.inf], [np.inf], [3.0]])) == [(OVERFLOW, 1)]
    assert not told("sum", [table], np.inf)
    assert kinds(told("cumulative_sum", [held([6e4, 6e4, 1], dt.float16)], [6e4, np.inf, np.inf]))
    assert not told("mean", [held([np.nan, 1])], np.nan)


def test_products_are_told_by_rows_and_columns() -> None:
    x, y = held([[200.0, 200.0], [np.inf, 1.0]], dt.float16), held([[200.0], [200.0]], dt.float16)
    (loss,) = told("matmul", [x, y], [[np.inf], [np.inf]])
    assert (loss.kind, loss.count, loss.example.index) == (OVERFLOW, 1, (0, 0))
    assert (loss.example.exact, loss.wanted) == ("80000.0", "float32")
    assert not told("matmul", [held([np.nan, 1]), held([1, 1])], np.nan)
    q, k = (held(np.full((2, 3, *each), 200.0), dt.float16) for each in ((4, 8), (8, 5)))
    (loss,) = told("matmul", [q, k], np.full((2, 3, 4, 5), np.inf))
    assert (loss.count, loss.example.exact) == (120, "320000.0")
    assert loss.example.given == ("8 numbers from 200.0 to 200.0",) * 2
    vector, scalar = held(np.full(8, 200.0), dt.float16), held(np.inf, dt.float16)
    (loss,) = told("matmul", [vector, vector], scalar)
    assert (loss.example.exact, loss.wanted) == ("320000.0", "float32")
    (loss,) = told("matmul", [q, held(np.full(8, 200.0))], np.full((2, 3, 4), np.inf))
    assert (loss.count, loss.example.exact) == (24, "")


def test_any_function_is_told_by_its_whole_operands() -> None:
    x = held([[1.0, 2.0], [3.0, 4.0]])
    nothing = held([1.0])
    bad = held([np.nan, np.inf, np.inf])
    assert kinds(list(born([x], [nothing, bad]))) == [(OVERFLOW, 2), (NAN, 1)]
    assert kinds(list(born([x], [bad], kinds=frozenset({NAN})))) == [(NAN, 1)]
    assert kinds(list(born([x, held([np.inf])], [bad]))) == [(NAN, 1)]
    assert not list(born([x, held([np.nan])], [bad]))
    assert kinds(told("softmax", [held([-np.inf, -np.inf])], [np.nan, np.nan])) == [(NAN, 2)]
    (loss,) = born([x], [held(np.inf)])
    assert loss.example.given == ("[1.0, 2.0, 3.0, 4.0]",)
    assert (loss.example.index, loss.example.exact, loss.example.got) == ((), "", "inf")


def test_operations_of_other_operands_are_looked_at_as_any_function() -> None:
    x, nan = held([[1.0, 2.0]]), [[np.nan, np.nan]]
    for operation in (*OPERATIONS, *STANDS_FOR, "", "unheard_of"):
        every: list[list[Operand]] = [[x], [x, x], [x, 2.0], [2, x], [x, x, x], []]
        for operands in every:
            found = list(lost(operation, operands, held(nan)))
            assert kinds(found) == [(NAN, 2)], (operation, len(operands))
            whole: list[Operand] = [
                Values(np.array([[1, 2]]), dt.int64) if isinstance(each, Values) else 2
                for each in operands
            ]
            for made in ([[1, 2]], [1], 3):
                assert not list(lost(operation, whole, Values(np.array(made), dt.int64)))


def test_complex_numbers_are_told_by_their_parts() -> None:
    x = held([1e30 + 1e30j, 1 + 1j], dt.complex64)
    assert kinds(told("multiply", [x, x], [complex(0, np.inf), 2j])) == [(OVERFLOW, 1)]
    y = held([complex(1, np.inf), 1], dt.complex64)
    assert not told("multiply", [x, y], [complex(np.inf, np.inf), 1])


def numbers(dtype: DType) -> st.SearchStrategy[float]:
    width = dtype.storage.itemsize
    codes = st.integers(0, (1 << 8 * width) - 1)
    return codes.map(lambda code: float(np.array(code, f"u{width}").view(dtype.storage)))


SMALL: dict[str, Callable[..., Fraction | None]] = {
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y if y else None,
    "square": lambda x: x * x,
}


@given(st.data(), st.sampled_from(FLOATS), st.sampled_from([*SMALL]))
def test_what_vanishes(data: st.DataObject, dtype: DType, operation: str) -> None:
    near = st.floats(0.5, 2).map(lambda x: x * float(least_normal(dtype)) ** 0.5)
    many = st.lists(st.one_of(numbers(dtype), near), min_size=3, max_size=3)
    operands = [held(data.draw(many), dtype) for _ in range(2 - (operation == "square"))]
    with np.errstate(all="ignore"):
        wide = [each.array.astype(np.float64) for each in operands]
        made = held(getattr(np, operation)(*wide), dtype)
    if data.draw(st.booleans()):  # a machine without subnormal numbers
        made.array[np.abs(made.array) < least_normal(dtype)] = 0
    expected = 0
    for at, got in enumerate(made.array.astype(np.float64).tolist()):
        given_here = [float(each[at]) for each in wide]
        if not np.isfinite([*given_here, got]).all():
            continue
        exact = SMALL[operation](*map(Fraction, given_here))
        if exact is not None and exact != Fraction(got):
            expected += abs(got) < least_normal(dtype)
    found = [each for each in told(operation, operands, made) if each.kind == UNDERFLOW]
    assert sum(each.count for each in found) == expected


def least_normal(dtype: DType) -> Any:
    assert dtype.format is not None
    return np.float64(2.0 ** (1 - dtype.format.bias))


def test_powers_and_python_numbers_that_vanish() -> None:
    assert kinds(told("pow", [held([1e-20, 2.0, 0.0]), 3], [0.0, 8.0, 0.0])) == [(UNDERFLOW, 1)]
    assert not told("pow", [held([2.0]), -140.0], [2.0**-140])
    (loss,) = told("multiply", [held([1000.0], dt.float16), 1e-9], [0.0])
    assert (loss.kind, loss.wanted) == (UNDERFLOW, "float32")
    assert float(loss.example.exact) == pytest.approx(1e-6)
    tiny = held([1e-200], dt.float64)
    assert told("square", [tiny], [0.0])[0].example.exact == "not 0, and too small for float64"
    for operation in ("exp", "subtract", "add", "sigmoid", "matmul", "sum"):
        assert not told(operation, [held([1e-40]), held([1e-40])], [1e-41])


def test_an_update_that_changes_nothing_is_absorbed() -> None:
    before, update = held([256.0, 256.0, 0.0, np.inf], dt.bfloat16), held([1, 0, 0.5, 1])
    loss = absorbed(before, update, held([256.0, 256.0, 0.5, np.inf], dt.bfloat16))
    assert loss is not None
    assert (loss.count, loss.of) == (1, 3)
    assert (loss.example.given, loss.example.exact, loss.example.got) == (
        ("256.0", "1.0"),
        "257.0",
        "256.0",
    )
    assert loss.wanted == "float32"
    loss = absorbed(held([1.0]), 1e-9, held([1.0]), subtracted=True)
    assert loss is not None
    assert (loss.count, loss.of, loss.example.exact) == (1, 1, "0.999999999")
    assert loss.wanted == "float64"
    assert absorbed(held([1.0, 2.0]), 0.5, held([1.5, 2.5])) is None
    assert absorbed(held([1.0]), 0.0, held([1.0])) is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_clean_data_loses_nothing(dtype: DType) -> None:
    rng = np.random.default_rng(3)
    x, y = (held(rng.normal(size=(40, 50)), dtype) for _ in "xy")
    wide = [each.array.astype(np.float64) for each in (x, y)]
    for operation in ("add", "subtract", "multiply", "divide", "maximum"):
        made = held(getattr(np, operation)(*wide), dtype)
        assert not [e for e in told(operation, [x, y], made) if dtype is not dt.float16]
    for operation in ("exp", "tanh", "sum", "mean", "softmax", "matmul", "abs"):
        function = getattr(np, operation, np.exp)
        operands = wide if operation != "matmul" else [wide[0], wide[1].T]
        made = held(function(*operands[: 2 if operation == "matmul" else 1]), dtype)
        given_values = [held(each, dtype) for each in operands]
        assert not told(operation, given_values[: 2 if operation == "matmul" else 1], made)
    step = held(1e-2 * wide[1], dtype)
    assert absorbed(x, step, held(wide[0] + step.array.astype(np.float64), dtype)) is None or (
        dtype in (dt.bfloat16, dt.float16)
    )
    assert not list(born([x, y], [held(wide[0])]))


def test_numbers_have_the_digits_of_their_dtype() -> None:
    halves = held([0.1, 2.0, 60000.0], dt.float16)
    (loss,) = told("multiply", [halves, halves], [0.01, 4.0, np.inf])
    assert loss.ranges[0] == ("0.1", "60000.0")
    (loss,) = told("divide", [held([0.7, 1.0]), 0.0], [np.inf, np.inf])
    assert loss.example.given == ("0.7", "0.0")


def test_what_a_product_of_several_matrices_is_made_of() -> None:
    x, y = np.zeros((2, 1, 2)), np.zeros((2, 2, 1))
    x[1], y[1] = 300.0, 300.0
    (loss,) = told("matmul", [held(x, dt.float16), held(y, dt.float16)], [[[0.0]], [[np.inf]]])
    assert loss.example.index == (1, 0, 0)
    assert loss.example.exact == "180000.0"
