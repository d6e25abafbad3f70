"""Integers that wrap: held against Python's ints, all pairs of 8 bits and drawn ones of others."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from promoarray import dtypes as dt
from promoarray.diagnostics.losses.examined import Operand, Values, lost
from promoarray.diagnostics.model.lost import WRAP, Loss
from promoarray.dtypes import INTEGERS, DType
from promoarray.promotion.scalars import bounds, wrap

DTYPES = [row for row in dt.CONCRETE if row.kind in INTEGERS]


def array(numbers: Any, dtype: DType, shape: Any = -1) -> Values:
    """Python ints, of which the low bits are kept."""
    flat = [wrap(n, dtype) for n in np.asarray(numbers, object).reshape(-1).tolist()]
    held = np.array(flat, f"{'u' * (bounds(dtype)[0] == 0)}int{max(8, dtype.bits)}")
    return Values(held.astype(dtype.storage).reshape(shape), dtype)


def wraps(operation: str, operands: Sequence[Operand], made: Values, **options: Any) -> Loss | None:
    found = list(lost(operation, operands, made, options=options))
    assert [each.kind for each in found] == [WRAP] * len(found)
    return found[0] if found else None


def check(
    operation: str, operands: Sequence[Operand], exact: Any, dtype: DType, **options: Any
) -> None:
    """Hold the loss against exact results; None among them is not defined."""
    exact = np.asarray(exact, object)
    known = [0 if each is None else each for each in exact.reshape(-1).tolist()]
    low, high = bounds(dtype)
    beyond = [at for at, each in enumerate(known) if not low <= each <= high]
    loss = wraps(operation, operands, array(known, dtype, exact.shape), **options)
    assert (loss is not None) == bool(beyond)
    if loss is None:
        return
    assert (loss.count, loss.of) == (len(beyond), exact.size)
    assert loss.example.index == tuple(map(int, np.unravel_index(beyond[0], exact.shape)))
    assert loss.example.got == str(wrap(known[beyond[0]], dtype))
    assert loss.example.exact in (str(first := known[beyond[0]]), in_bits(first))
    assert_holds(loss.wanted, known)


def in_bits(number: int) -> str:
    return f"an integer of {number.bit_length()} bits"


def assert_holds(wanted: str, numbers: Sequence[int]) -> None:
    if wanted in ("float64", ""):
        assert max(map(abs, numbers)) >= (1 << 62 if wanted else 1 << 1023)
    else:
        low, high = bounds(dt.as_dtype(wanted))
        assert low <= min(numbers), wanted
        assert max(numbers) <= high, wanted


def quotient(x: int, y: int) -> int | None:
    return x // y if y else None


def shifted(x: int, count: int) -> int | None:
    return x << count if count >= 0 else None


def power(x: int, y: int) -> int | None:
    return x**y if y >= 0 else None


UNARY: dict[str, Callable[..., int]] = {
    "negative": operator.neg,
    "abs": abs,
    "square": lambda x: x * x,
}
BINARY: dict[str, Callable[..., int | None]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": quotient,
    "bitwise_left_shift": shifted,
    "pow": power,
}


@pytest.mark.parametrize(
    "dtype", [dt.int8, dt.uint8, dt.int4, dt.uint4, dt.int2, dt.uint2], ids=str
)
@pytest.mark.parametrize("operation", BINARY)
def test_all_pairs(operation: str, dtype: DType) -> None:
    low, high = bounds(dtype)
    every = range(low, high + 1)
    few = [y for y in every if y < 40] if operation in ("bitwise_left_shift", "pow") else every
    exact = [[BINARY[operation](x, y) for y in few] for x in every]
    check(operation, [array(every, dtype, (-1, 1)), array(few, dtype)], exact, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("operation", UNARY)
def test_unary(operation: str, dtype: DType) -> None:
    low, high = bounds(dtype)
    for x in {low, low + 1, low // 2, -1, 0, 1, math.isqrt(high), math.isqrt(high) + 1, high}:
        if low <= x <= high:
            check(operation, [array([0, x], dtype)], [UNARY[operation](n) for n in (0, x)], dtype)


def numbers(dtype: DType) -> st.SearchStrategy[int]:
    """Of a dtype, those near its ends, near powers of two and near zero often."""
    low, high = bounds(dtype)
    near = st.builds(
        lambda sign, n, by: min(max(sign * (1 << n) + by, low), high),
        *(st.sampled_from([-1, 1]), st.integers(0, dtype.bits), st.integers(-2, 2)),
    )
    return st.one_of(near, st.integers(low, high), st.sampled_from([low, high, 0, max(low, -1)]))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[DType, list[int], list[int]]:
    dtype = draw(st.sampled_from(DTYPES))
    size = draw(st.integers(1, 6))
    one, other = (draw(st.lists(numbers(dtype), min_size=size, max_size=size)) for _ in "xy")
    return dtype, one, other


@given(pairs(), st.sampled_from([*BINARY]), st.booleans())
def test_drawn_pairs(
    drawn: tuple[DType, list[int], list[int]], operation: str, scalar: bool
) -> None:
    dtype, xs, ys = drawn
    if operation in ("bitwise_left_shift", "pow"):
        ys = [y % 70 if dtype.bits > 7 else y for y in ys]
    if scalar:
        ys = [ys[0]] * len(xs)
    exact = [BINARY[operation](x, y) for x, y in zip(xs, ys, strict=True)]
    second = ys[0] if scalar else array(ys, dtype)
    check(operation, [array(xs, dtype), second], exact, dtype)


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "floor_divide"])
@pytest.mark.parametrize("wide", [dt.int64, dt.uint64], ids=str)
@given(st.sampled_from(DTYPES), st.data())
def test_wide_operands_near_the_bounds_of_a_result(
    operation: str, wide: DType, narrow: DType, data: st.DataObject
) -> None:
    (least, most), end = bounds(wide), data.draw(st.sampled_from(bounds(narrow)))
    aim, y = end + data.draw(st.integers(-2, 2)), data.draw(numbers(wide))
    x = {
        "add": aim - y,
        "subtract": aim + y,
        "multiply": aim // (y or 1),
        "floor_divide": aim * y + data.draw(st.integers(0, abs(y))),
    }[operation]
    x = min(max(x, least), most)
    check(operation, [array([x], wide), array([y], wide)], [BINARY[operation](x, y)], narrow)


@given(st.data())
def test_operands_of_two_dtypes(data: st.DataObject) -> None:
    one, other, result = (data.draw(st.sampled_from(DTYPES)) for _ in range(3))
    x, y = data.draw(numbers(one)), data.draw(numbers(other))
    for operation in ("add", "subtract", "multiply"):
        exact = BINARY[operation](x, y)
        check(operation, [array([x], one), array([y], other)], [exact], result)


@given(st.sampled_from(DTYPES), st.integers(-(1 << 70), 1 << 70), st.data())
def test_python_ints_are_what_they_are(dtype: DType, scalar: int, data: st.DataObject) -> None:
    xs = data.draw(st.lists(numbers(dtype), min_size=1, max_size=4))
    for operation in ("add", "subtract", "multiply"):
        exact = [BINARY[operation](x, scalar) for x in xs]
        check(operation, [array(xs, dtype), scalar], exact, dtype)


@given(pairs(), st.sampled_from(["sum", "prod", "cumulative_sum", "cumulative_prod"]))
def test_rows(drawn: tuple[DType, list[int], list[int]], operation: str) -> None:
    dtype, *both = drawn
    fold, start = (operator.mul, 1) if operation.endswith("prod") else (operator.add, 0)
    table = array(both, dtype, (2, -1))
    for axis, lines in (1, both), (0, [*zip(*both, strict=True)]):
        folded = np.array([list(accumulate(line, fold)) for line in lines], object)
        if operation.startswith("cum"):
            check(operation, [table], folded if axis else folded.T, dtype, axis=axis)
        else:
            for shape in (-1,), ((-1, 1) if axis else (1, -1)):
                check(operation, [table], folded[:, -1].reshape(shape), dtype, axis=axis)
            if len(both[0]) != len(both):  # else the axis must be told
                check(operation, [table], folded[:, -1], dtype)
    if not operation.startswith("cum"):
        flat = list(accumulate([n for line in both for n in line], fold))
        check(operation, [table], flat[-1], dtype)
    else:
        flat = list(accumulate(both[0], fold, initial=start))
        check(operation, [array(both[0], dtype)], flat, dtype, include_initial=True)


@given(pairs(), st.integers(1, 3))
def test_differences(drawn: tuple[DType, list[int], list[int]], times: int) -> None:
    dtype, *both = drawn
    lines = both
    for _ in range(min(times, len(both[0]) - 1)):
        lines = [[b - a for a, b in pairwise(line)] for line in lines]
    if lines is not both:
        n = len(both[0]) - len(lines[0])
        check("diff", [array(both, dtype, (2, -1))], lines, dtype, n=n, axis=-1)


@given(pairs())
def test_products(drawn: tuple[DType, list[int], list[int]]) -> None:
    dtype, x, y = drawn
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    one, other = array(x, dtype), array(y, dtype)
    check("matmul", [one, other], dot, dtype)
    check("vecdot", [one, other], dot, dtype)
    outer = [[a * b for b in y] for a in x]
    check("outer", [one, other], outer, dtype)
    check("tensordot", [one, other], outer, dtype, axes=0)
    check("tensordot", [one, other], dot, dtype, axes=1)
    stack = [Values(np.stack([each.array, each.array])[:, None], dtype) for each in (one, other)]
    column = Values(stack[1].array.swapaxes(1, 2), dtype)
    check("matmul", [stack[0], column], [[[dot]], [[dot]]], dtype)


def test_long_sums_and_deep_products_are_exact() -> None:
    n = 1 << 20
    top = np.full(n, (1 << 43) - 1)  # n of them are a little less than 2**63
    assert wraps("sum", [Values(top, dt.int64)], Values(top.sum(keepdims=True), dt.int64)) is None
    top[0] += n
    assert wraps("sum", [Values(top, dt.int64)], Values(top.sum(keepdims=True), dt.int64))
    x = np.full((1, 4096), 1 << 30, np.int64)
    y = np.resize([1 << 31, -(1 << 31)], (4096, 1))
    y[0] += 1 << 33
    loss = wraps("matmul", [Values(x, dt.int64), Values(y, dt.int64)], Values(x @ y, dt.int64))
    assert loss
    assert loss.example.exact == str(1 << 63)
    y[0] -= 1
    assert (
        wraps("matmul", [Values(x, dt.int64), Values(y, dt.int64)], Values(x @ y, dt.int64)) is None
    )


def test_a_loss_has_an_example_and_what_holds_it() -> None:
    x, y = np.array([[3, 200], [7, 9]], np.uint8), np.array([1, 8], np.uint8)
    loss = wraps("subtract", [Values(y, dt.uint8), Values(x, dt.uint8)], Values(y - x, dt.uint8))
    assert loss is not None
    assert (loss.count, loss.of, loss.wanted) == (4, 4, "int16")
    assert loss.ranges == (("1", "8"), ("3", "200"))
    assert loss.example.index == (0, 0)
    assert (loss.example.given, loss.example.exact, loss.example.got) == (("1", "3"), "-2", "254")
    x32 = np.array([70000], np.int32)
    loss = wraps(
        "multiply", [Values(x32, dt.int32), 70000], Values(x32 * np.int32(70000), dt.int32)
    )
    assert loss is not None
    assert (loss.wanted, loss.example.given) == ("int64", ("70000", "70000"))


def test_of_large_arrays_some_elements_are_examined() -> None:
    x = np.full((1000, 1000), 200, np.uint8)
    (loss,) = lost("square", [Values(x, dt.uint8)], Values(x * x, dt.uint8), bound=1000)
    assert loss.count == loss.of <= 1000
    x[:, 1:] = 0
    (loss,) = lost("square", [Values(x, dt.uint8)], Values(x * x, dt.uint8), bound=1000)
    assert loss.count == 1
    assert loss.example.index == (0, 0)
    for operation, made in ("square", x * x), ("add", x + x):
        operands = [Values(x, dt.uint8)] * (1 + (operation == "add"))
        (loss,) = lost(operation, operands, Values(made, dt.uint8), bound=None)
        assert (loss.count, loss.of) == (1000, 1000000)


def test_what_has_no_exact_integer_result_is_not_told() -> None:
    x = np.array([0, 5], np.int64)
    assert not [*lost("add", [Values(x > 1, dt.bool), True], Values(x > 1, dt.bool))]
    assert not [*lost("divide", [Values(x, dt.int64), 2], Values(x / 2, dt.float64))]
    empty = Values(x[:0], dt.int64)
    for operation in ("add", "sum", "matmul", "diff", "cumulative_sum"):
        assert not [*lost(operation, [empty, empty], empty)]
    assert not [*lost("sum", [empty], Values(np.array(0), dt.int64))]
