"""Numbers that casts lose: held against exact fractions for every pair of dtypes."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core.cast import convert
from promoarray.diagnostics.losses.casts import elsewhere
from promoarray.diagnostics.losses.examined import (
    Operand,
    Values,
    absorbed,
    born,
    lost,
    lost_in_cast,
)
from promoarray.diagnostics.model.lost import (
    ABSORBED,
    CHECKS,
    DIGITS,
    OVERFLOW,
    RANGE,
    UNDERFLOW,
    WRAP,
    Example,
    Loss,
)
from promoarray.dtypes import DType, Kind
from promoarray.promotion.cast_losses import loss as loss_of_dtypes
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import bounds, largest

REALS = [row for row in dt.CONCRETE if row.kind is not Kind.COMPLEX and row is not dt.bool]


def every_edge(dtype: DType) -> Values:
    """All values of 8 bits and fewer; else those near the ends of every dtype, and drawn ones."""
    if dtype.storage.itemsize == 1:
        codes = np.arange(1 << dtype.bits, dtype=np.uint8)
        return Values(codes.view(dtype.storage), dtype)
    width = f"u{dtype.storage.itemsize}"
    drawn = np.random.default_rng(7).integers(0, 1 << dtype.bits, 100, width, endpoint=False)
    near: list[Any] = [0]
    for row in REALS:
        ends = bounds(row) if row.format is None else (-largest(row), largest(row), least(row))
        near += [sign * end * by for end in ends for by in (1, 1.5, 2) for sign in (1, -1)]
    if dtype.format is None:
        low, high = bounds(dtype)
        near = [int(n) + by for n in near if abs(n) < 1e30 for by in (-1, 0, 1)]
        held = np.array([min(max(n, low), high) for n in near], dtype.storage)
    else:
        with np.errstate(over="ignore"):
            held = np.array([*near, np.inf, np.nan], np.float64).astype(dtype.storage)
        steps = [held.view(width) + np.array(by, width) for by in (0, 1, -1 & 0xFF)]
        held = np.concatenate([step.view(dtype.storage) for step in steps])
    return Values(np.concatenate([held, drawn.view(dtype.storage)]), dtype)


def least(dtype: DType) -> float:
    """The least positive normal number."""
    assert dtype.format is not None
    return 2.0 ** (1 - dtype.format.bias if dtype.format.mantissa else -dtype.format.bias)


def exact(values: Values) -> list[Any]:
    """Fractions; Inf and NaN as floats."""
    dtype = dt.int64 if values.dtype.bits < 64 else values.dtype
    if values.dtype.format is not None:
        dtype = dt.float64
    held = convert(as_policy("numpy"), values.array, values.dtype, dtype).tolist()
    return [Fraction(n) if abs(n) < np.inf else n for n in held]


def cast(values: Values, target: DType, policy: str = "numpy") -> Values:
    return Values(convert(as_policy(policy), values.array, values.dtype, target), target)


def is_out_of_range(x: Any, y: Any, source: DType, target: DType) -> bool:
    if target.format is None:
        low, high = bounds(target)
        return not isinstance(x, Fraction) or not low <= int(x) <= high
    if x != x or abs(x) == np.inf:
        return not (x == y or (x != x and y != y))
    if source.format is not None and source.bits >= 16 and abs(x) == largest(source):
        return False  # a mask
    if not isinstance(y, Fraction):
        return True
    most = Fraction(largest(target))
    digits, odd = target.format.mantissa, target.format.largest % 2
    half = Fraction(2) ** (int(np.frexp(largest(target))[1]) - 2 - digits)
    over = abs(x) - most
    return abs(y) == most and (over >= half if odd else over > half)


def is_too_small(x: Any, y: Any, target: DType) -> bool:
    if target.format is None or not target.format.mantissa or not isinstance(x, Fraction):
        return False
    return isinstance(y, Fraction) and abs(y) < least(target) and x != y


POLICIES = ["numpy", "torch", "jax"]


@pytest.mark.parametrize("source", REALS, ids=str)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_pair(source: DType, policy: str) -> None:
    given = every_edge(source)
    numbers = exact(given)
    for target in turns(REALS, 2, POLICIES.index(policy)):
        if target is source:
            continue
        made = cast(given, target, policy)
        results = exact(made)
        found = {each.kind: each for each in lost_in_cast(given, made)}
        both = list(zip(numbers, results, strict=True))
        beyond = [at for at, each in enumerate(both) if is_out_of_range(*each, source, target)]
        small = [at for at, each in enumerate(both) if is_too_small(*each, target)]
        for kind, expected in (RANGE, beyond), (UNDERFLOW, small):
            loss = found.get(kind)
            assert (loss.count if loss else 0) == len(expected), (target, kind)
            if loss:
                assert loss.example.index == (expected[0],), (target, kind)
                assert loss.of == len(numbers)
        if not loss_of_dtypes(source, target):
            assert not found


def one(source: Operand, made: Values) -> Loss:
    (loss,) = lost_in_cast(source, made)
    return loss


def test_what_other_machines_give() -> None:
    given = Values(np.array([1.5, 300.7], np.float32), dt.float32)
    loss = one(given, cast(given, dt.uint8))
    assert (loss.kind, loss.count, loss.of) == (RANGE, 1, 2)
    assert loss.example.given == ("300.7",)
    assert (loss.example.exact, loss.example.got) == ("300.7", "44")
    assert loss.note == "NumPy on x86/ARM64, PyTorch on x86/ARM64/CUDA, CuPy: 44; JAX: 255"
    assert loss.wanted == "uint16"
    nan = Values(np.array([np.nan]), dt.float64)
    loss = one(nan, cast(nan, dt.int32))
    assert loss.note == (
        "NumPy on x86, PyTorch on x86/CUDA: -2147483648; NumPy on ARM64, PyTorch on ARM64, JAX: 0"
    )
    assert loss.wanted == ""


@given(st.floats(width=32), st.sampled_from([dt.int32, dt.uint32, dt.int64, dt.uint64]))
def test_arm_takes_the_nearest_end_and_zero_for_nan(value: float, target: dt.DType) -> None:
    low, high = bounds(target)
    if np.isnan(value):
        exact = 0
    elif np.isinf(value):
        exact = high if value > 0 else low
    else:
        exact = min(max(math.trunc(Fraction(value)), low), high)
    told = dict(part.rsplit(": ", 1) for part in elsewhere(value, dt.float32, target).split("; "))
    (made,) = (made for names, made in told.items() if "ARM64" in names.partition("PyTorch")[0])
    assert int(made) == exact


def test_to_bool_and_from_complex() -> None:
    given = Values(np.array([0, 1, np.nan, np.inf], np.float32), dt.float32)
    assert one(given, cast(given, dt.bool)).count == 2
    given = Values(np.array([1 + 2j, 3, 300j], np.complex64), dt.complex64)
    loss = one(given, Values(given.array.real.copy(), dt.float32))
    assert (loss.kind, loss.count, loss.note) == (RANGE, 2, "the imaginary part is dropped")
    assert not [*lost_in_cast(given, Values(given.array != 0, dt.bool))]
    wide = Values(np.array([1e300 + 1j, 1 + 1e-320j, 2 - 2j]), dt.complex128)
    with np.errstate(over="ignore"):
        made = Values(wide.array.astype(np.complex64), dt.complex64)
    assert [(each.kind, each.count) for each in lost_in_cast(wide, made)] == [
        (RANGE, 1),
        (UNDERFLOW, 1),
    ]


def test_python_numbers() -> None:
    loss = one(300, Values(np.full(3, 44, np.uint8), dt.uint8))
    assert (loss.count, loss.example.exact, loss.wanted) == (3, "300", "uint16")
    assert one(1 << 70, Values(np.array(0), dt.int64)).example.exact == str(1 << 70)
    assert one(1e-9, Values(np.array(0, np.float16), dt.float16)).kind == UNDERFLOW
    assert one(16777217, Values(np.array(16777216, np.float32), dt.float32)).kind == DIGITS
    assert not [*lost_in_cast(0.1, Values(np.array(0.1, np.float16), dt.float16))]
    assert not [*lost_in_cast(1e20, Values(np.array(1e20, np.float32), dt.float32))]
    assert not [*lost_in_cast(True, Values(np.array(1, np.int8), dt.int8))]


@pytest.mark.parametrize(
    ("source", "target", "limit"),
    [
        (dt.int64, dt.float64, 1 << 53),
        (dt.uint64, dt.float64, 1 << 53),
        (dt.int64, dt.float32, 1 << 24),
        (dt.int32, dt.float32, 1 << 24),
        (dt.float64, dt.float32, 1 << 24),
        (dt.uint16, dt.float16, 1 << 11),
        (dt.int16, dt.bfloat16, 1 << 8),
        (dt.float32, dt.bfloat16, 1 << 8),
        (dt.float32, dt.float16, 1 << 11),
    ],
)
def test_whole_numbers_that_change(source: DType, target: DType, limit: int) -> None:
    whole = [0, limit - 1, limit, limit + 1, limit + 2, 2 * limit + 2, 2 * limit + 4]
    given = Values(np.array(whole).astype(source.storage), source)
    made = cast(given, target)
    loss = one(given, made)
    changed = [
        at for at, (x, y) in enumerate(zip(exact(given), exact(made), strict=True)) if x != y
    ]
    assert (loss.kind, loss.count) == (DIGITS, len(changed))
    assert (loss.count, loss.example.index) == (2, (3,))
    assert loss.example.exact == loss.example.given[0]
    below = Values(given.array[:3], source)
    assert not [*lost_in_cast(below, cast(below, target))]


def test_ends_of_64_bits_change() -> None:
    for source in (dt.int64, dt.uint64):
        low, high = bounds(source)
        given = Values(np.array([low, high, high - 1022, 5], source.storage), source)
        assert one(given, cast(given, dt.float64)).count == 2


def test_times_become_equal() -> None:
    rng = np.random.default_rng(0)
    times = Values(1.7e9 + np.sort(rng.uniform(0, 3600, 1000)), dt.float64)
    loss = one(times, cast(times, dt.float32))
    assert (loss.kind, loss.count, loss.wanted) == (DIGITS, 1000, "float64")
    assert loss.note.startswith("1000 different values become ")
    assert not [*lost_in_cast(times, cast(times, dt.float64))]


def test_times_become_equal_beside_other_large_numbers() -> None:
    rng = np.random.default_rng(0)
    times, others = 1.7e9 + rng.uniform(0, 3600, 1000), rng.uniform(-(2.0**31), 2.0**31, 1000)
    table = Values(np.stack([times, others, rng.normal(size=1000)], 1), dt.float64)
    loss = one(table, cast(table, dt.float32))
    assert (loss.kind, loss.wanted) == (DIGITS, "float64")
    assert 990 <= loss.count <= 1000
    alone = Values(table.array[:, 1:], dt.float64)  # of these some become equal by chance
    assert not [*lost_in_cast(alone, cast(alone, dt.float32))]


@pytest.mark.parametrize("target", [dt.float32, dt.bfloat16, dt.float16])
def test_weights_are_rounded_and_nothing_is_lost(target: DType) -> None:
    rng = np.random.default_rng(1)
    for data in (
        rng.normal(0, 1, 20000),
        rng.uniform(0.5, 1, 20000),
        rng.uniform(-3, 3, 20000) * 10,
        1 + rng.normal(0, 0.01, 20000),
        rng.normal(0, 1, 20000) * 1000,
        np.array([0.1]),
        np.array([12345.678]),
    ):
        for source in (dt.float64, dt.float32):
            given = Values(data.astype(source.storage), source)
            kinds = {each.kind for each in lost_in_cast(given, cast(given, target))}
            assert kinds <= ({UNDERFLOW} if target is dt.float16 else set())


def test_text_is_not_looked_at() -> None:
    text = Values(np.array(["1e400", "-5"], np.dtypes.StringDType()), dt.string)
    made = Values(np.array([np.inf, -5]), dt.float64)
    assert not [*lost_in_cast(text, made), *lost_in_cast(made, text)]


def test_masks_are_no_losses() -> None:
    least, most = np.finfo(np.float32).min, np.finfo(np.float32).max
    given = Values(np.array([0, least, most, -np.inf, np.nan], np.float32), dt.float32)
    assert not [*lost_in_cast(given, cast(given, dt.float16))]
    assert not [*lost_in_cast(given, cast(given, dt.bfloat16))]


def test_operands_that_a_promotion_casts() -> None:
    ids = Values(np.array([1, 16777217], np.int64), dt.int64)
    weights = Values(np.ones(2, np.float32), dt.float32)
    made = Values(np.array([2, 16777216], np.float32), dt.float32)
    cases: dict[str, list[Operand]] = {"add": [ids, weights], "divide": [ids, 2], "sqrt": [ids]}
    for operation, operands in cases.items():
        (loss,) = lost(operation, operands, made)
        assert (loss.kind, loss.count, loss.of) == (DIGITS, 1, 2)
        assert (loss.example.given, loss.example.got) == (("16777217",), "16777216.0")
        assert loss.wanted == "float64"
    assert not [*lost("mean", [ids], Values(np.array(8388609, np.float32), dt.float32))]


def test_an_assignment_is_broadcast() -> None:
    given = Values(np.array([[1], [300]]), dt.int64)
    made = Values(np.broadcast_to(given.array, (2, 3)).astype(np.int8), dt.int8)
    loss = one(given, made)
    assert (loss.count, loss.of, loss.example.index) == (3, 6, (1, 0))


def test_of_large_arrays_some_elements_are_examined() -> None:
    given = Values(np.full((100, 100), 300), dt.int64)
    (loss,) = lost_in_cast(given, cast(given, dt.int8), bound=100)
    assert loss.count == loss.of <= 100
    (loss,) = lost_in_cast(given, cast(given, dt.int8), bound=None)
    assert loss.of == 10000
    assert not [*lost_in_cast(given, cast(given, dt.int8), kinds=frozenset({DIGITS}))]


def test_what_was_told_before_is_counted_alone() -> None:
    given = Values(np.array([1.0, 300.0, np.nan], np.float32), dt.float32)
    (loss,) = lost_in_cast(given, cast(given, dt.int8), brief=frozenset({RANGE}))
    assert loss == Loss(RANGE, 2, 3, Example((), (), "", ""))
    x, big = Values(np.array([200, 3], np.uint8), dt.uint8), frozenset(CHECKS)
    made = Values(x.array * x.array, dt.uint8)
    for operation in ("multiply", "square"):
        (loss,) = lost(operation, [x] * (1 + (operation == "multiply")), made, brief=big)
        assert loss == Loss(WRAP, 1, 2, Example((), (), "", ""))
    tall, inf = (Values(np.array(n, np.float32), dt.float32) for n in (1e30, np.inf))
    (loss,) = lost("multiply", [tall, tall], inf, brief=big)
    assert loss == Loss(OVERFLOW, 1, 1, Example((), (), "", ""))
    assert loss == next(born([tall], [inf], brief=big))
    found = absorbed(tall, 1.0, tall, brief=big)
    assert found == Loss(ABSORBED, 1, 1, Example((), (), "", ""))


def test_the_reports_of_casts_agree() -> None:
    """``cast_report`` counts the same numbers in its own classes."""
    for source, target in product((dt.float32, dt.float64), (dt.float8_e4m3fn, dt.float16)):
        given = every_edge(source)
        report = pa.cast_report(pa.asarray(given.array), target)
        found = {each.kind: each.count for each in lost_in_cast(given, cast(given, target))}
        masks = int((np.abs(given.array) == np.finfo(source.storage).max).sum())
        infinite = int(np.isinf(given.array).sum()) if target is dt.float8_e4m3fn else 0
        over = report.overflowed_to_inf + report.overflowed_to_nan + report.saturated
        assert found[RANGE] in (over - masks, over - masks + infinite)
