"""Values: what operators compute, in the dtypes that the plan names, rounded once.

Two oracles that share no code with promoarray: NumPy's own ufuncs on operands that NumPy has cast,
and the exact rounding of cast_oracle.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from cast_oracle import expected as cast_exactly
from cast_oracle import magnitudes, nearest_code, value_of_code
from hypothesis import given
from hypothesis import strategies as st
from operator_table import FORWARD
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.backends.numpy.kernels import KERNELS
from promoarray.dtypes import CONCRETE, WEAK, DType, Format, Kind
from promoarray.kernels import DEFAULT
from promoarray.kernels.portable import complex_arithmetic
from promoarray.kernels.portable.steps import kernels_of
from promoarray.operations import OPERATIONS
from promoarray.policies import Operand, Plan, Policy, Rank, as_policy

SMALL = [d for d in CONCRETE if d.kind is Kind.FLOAT and d.bits <= 8]
HALVES = [dt.float16, dt.bfloat16]
FEW_BITS = [dt.int2, dt.uint2, dt.int4, dt.uint4]


def same(a: Any, b: Any) -> Any:
    """Equal elements, with the sign of zero; one NaN is as good as another."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    if a.dtype.kind in "fc":
        zeros = (np.signbit(a.real) == np.signbit(b.real)) & (a.real == b.real)
        if a.dtype.kind == "c":
            zeros &= (np.signbit(a.imag) == np.signbit(b.imag)) & (a.imag == b.imag)
        return zeros | (np.isnan(a) & np.isnan(b))
    return a == b


def wide(buffer: Any) -> Any:
    """Any storage in a NumPy dtype that holds its values exactly."""
    wider = {"complex32": np.complex64, "bool": np.bool}
    numpys = buffer.dtype.kind in "iufc" and buffer.dtype.isbuiltin == 1
    if numpys or buffer.dtype.name in wider:
        return buffer.astype(wider.get(buffer.dtype.name, buffer.dtype))
    return buffer.astype(np.int64 if "int" in buffer.dtype.name else np.float64)


# --- the oracle for rounding -----------------------------------------------------------------


def layout(dtype: DType) -> Format:
    assert dtype.format is not None
    return dtype.format


def rounded(exact: Any, dtype: DType) -> Any:
    """float64 values rounded to a format, to nearest, ties to the even code, as float64."""
    given = np.ascontiguousarray(exact, np.float64)
    found = cast_exactly(given.reshape(-1).view(np.uint64), dt.float64, dtype, DEFAULT)
    return found.view(dtype.storage).astype(np.float64).reshape(given.shape)


def codes(dtype: DType) -> Any:
    """An array of every code of a dtype."""
    signs = 2 if layout(dtype).signed else 1
    count = signs << (layout(dtype).exponent + layout(dtype).mantissa)
    return np.arange(count).astype(f"uint{8 if dtype.bits <= 8 else 16}").view(dtype.storage)


def differing(ours: Any, exact: Any, dtype: DType, *operands: Any) -> list[Any]:
    nearest = rounded(exact, dtype)
    known = np.isfinite(exact) if layout(dtype).nan is None else np.full(exact.shape, True)
    if dtype is dt.float8_e8m0fnu:  # has no zero and no sign: see the test of its own
        known &= exact >= 2.0**-127
    wrong = ~same(ours.astype(np.float64), nearest) & known
    with np.errstate(invalid="ignore"):
        operands = np.broadcast_arrays(*(np.asarray(o).astype(np.float64) for o in operands))
    cells = zip(*(o[wrong] for o in (*operands, ours.astype(np.float64), nearest)), strict=True)
    return list(cells)[:5]


BASIC: dict[str, Callable[[Any, Any], Any]] = {k: FORWARD[k] for k in list(FORWARD)[:4]}


@pytest.mark.parametrize("name", BASIC)
@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_8_bit_arithmetic_is_correctly_rounded_for_all_pairs(dtype: DType, name: str) -> None:
    x, y = codes(dtype)[:, None], codes(dtype)[None, :]
    with np.errstate(all="ignore"):
        ours = np.asarray(BASIC[name](pa.asarray(x), pa.asarray(y)))
        # float64 is exact for sums and products here, and quotients are off every midpoint.
        exact = BASIC[name](x.astype(np.float64), y.astype(np.float64))
    assert ours.dtype == dtype.storage
    assert differing(ours, exact, dtype, x, y) == []


@pytest.mark.parametrize("dtype", [*SMALL, *HALVES], ids=str)
def test_square_roots_are_correctly_rounded_for_all_codes(dtype: DType) -> None:
    x = codes(dtype)
    with np.errstate(all="ignore"):
        ours, exact = np.asarray(pa.sqrt(pa.asarray(x))), np.sqrt(x.astype(np.float64))
    assert differing(ours, exact, dtype, x) == []


@pytest.mark.parametrize("name", BASIC)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_16_bit_arithmetic_is_correctly_rounded_for_a_million_pairs(
    dtype: DType, name: str
) -> None:
    rng = np.random.default_rng(16)
    every = codes(dtype)
    edges = np.concatenate([every[:40], every[layout(dtype).largest - 40 :][:80], every[-40:]])
    x = np.concatenate([edges, rng.choice(every, 900)])[:, None]
    y = np.concatenate([edges, rng.choice(every, 900)])[None, :]
    with np.errstate(all="ignore"):
        ours = np.asarray(BASIC[name](pa.asarray(x), pa.asarray(y)))
        exact = BASIC[name](x.astype(np.float64), y.astype(np.float64))
    assert differing(ours, exact, dtype, x, y) == []


@given(st.data())
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_16_bit_arithmetic_is_the_nearest_value_to_the_exact_fraction(
    dtype: DType, data: st.DataObject
) -> None:
    values = st.sampled_from(magnitudes(layout(dtype))).map(float)
    x, y = data.draw(values), data.draw(values)
    for name, function in BASIC.items():
        if name == "divide" and y == 0:
            continue
        exact = function(Fraction(x), Fraction(y))
        if abs(exact) < Fraction(pa.finfo(dtype).max):
            ours = function(pa.asarray(x, dtype=dtype), pa.asarray(y, dtype=dtype)).item()
            code = nearest_code(abs(exact), layout(dtype))
            assert abs(ours) == value_of_code(layout(dtype), code), (name, x, y)


def test_powers_of_two_multiply_to_powers_of_two_and_have_no_zero() -> None:
    x = pa.asarray([1.0, 2.0**-127, 2.0**100], dtype=pa.float8_e8m0fnu)
    with np.errstate(over="ignore"):
        assert (x * x).tolist()[0] == 1.0
        assert math.isnan((x * x).tolist()[2])
    assert (x / x).tolist() == [1.0, 1.0, 1.0]
    assert math.isnan((x - x).tolist()[0])


# --- every operator on every pair of dtypes --------------------------------------------------

VALUES = (0, 1, 2, 3, 0.5, 1.5, -1, -2)


@cache
def sample(dtype: DType) -> Any:
    """Those of a few values that a dtype holds exactly."""
    if dtype is dt.bool:
        return np.array([False, True])
    if dtype.kind is Kind.COMPLEX:
        return np.array([0, 1, 1.5 - 2j, -0.5j], np.complex128).astype(dtype.storage)
    if dtype.kind is Kind.FLOAT:
        values = np.asarray(VALUES).astype(dtype.storage)
        return values[values.astype(np.float64) == VALUES]
    info = pa.iinfo(dtype)
    return np.array([v for v in VALUES if v == int(v) and info.min <= v <= info.max]).astype(
        dtype.storage
    )


def operands_of(name: str, a: DType, b: DType) -> tuple[Any, Any]:
    x, y = sample(a)[:, None], sample(b)[None, :]
    if name == "matmul":
        return np.repeat(x, 2, 1).T[:, :3], np.repeat(y, 3, 0)[: len(x)]
    if name in ("pow", "bitwise_left_shift", "bitwise_right_shift"):
        y = y[y >= np.zeros((), y.dtype)][None, :] if b.kind is not Kind.COMPLEX else y
    return x, y


def cast(values: Any, target: DType) -> Any:
    """Cast as NumPy and ml_dtypes do, but to the two dtypes where PyTorch does otherwise."""
    array = np.asarray(values)
    if pa.get_policy().name != "torch@2.13":
        return array.astype(target.storage)
    if target is dt.float8_e8m0fnu and array.dtype != target.storage:
        array = np.abs(array.real.astype(np.float64))
        return np.where(array == 0, 2.0**-127, array).astype(target.storage)
    if target is dt.float8_e4m3fn and array.dtype != target.storage:
        largest = np.clip(array.real.astype(np.float32), -448, 448)
        return largest.astype(target.storage)
    return array.astype(target.storage)


def by_numpy(policy: Policy, name: str, plan: Plan, operands: tuple[Any, ...]) -> Any:
    """Cast, compute and cast with nothing but NumPy and ml_dtypes."""
    given = [
        cast(cast(o, i), plan.compute or i) for o, i in zip(operands, plan.inputs, strict=True)
    ]
    if plan.compute is dt.bool and name in ("subtract",):
        given = [g.astype(np.int8) for g in given]
    if plan.decomposition is not None:  # the first of them as it is by itself
        first, index, name = plan.decomposition
        alone = policy.plan(first, (Operand(pa.asarray(operands[index]).dtype),))
        assert isinstance(alone, Plan)
        made = by_numpy(policy, first, alone, (operands[index],))
        given[index] = cast(cast(made, plan.inputs[index]), plan.compute or plan.inputs[index])
    kernel = policy.kernel(name, plan)
    computed = KERNELS[kernel if name == "pow" or kernel in BY_PARTS else name](*given)
    if kernel == "remainder_keeping_zero":
        computed = np.where(computed == 0, np.copysign(computed, given[0]), computed)
    return cast(computed, plan.result)


BY_PARTS = {*kernels_of(complex_arithmetic)}
"""Complex arithmetic by its definition: PyTorch rounds otherwise than NumPy."""


def cells(policy: str, name: str) -> list[str]:
    rules, wrong = as_policy(policy), []
    # Both policies take turns with the pairs of each operator.
    for a, b in turns(product(CONCRETE, CONCRETE), 2, (policy == "numpy") + [*FORWARD].index(name)):
        plan = rules.plan(name, (Operand(a), Operand(b)))
        if not isinstance(plan, Plan):
            continue
        x, y = operands_of(name, a, b)
        if rules.kernel(name, plan).startswith("checked_"):  # refuse zeros
            y = np.where(wide(y) == 0, np.ones((), y.dtype), y)
        ours = FORWARD[name](pa.asarray(x), pa.asarray(y))
        expected = by_numpy(rules, name, plan, (x, y))
        held = ours.dtype is plan.result and np.asarray(ours).shape == expected.shape
        if not held or not same(wide(np.asarray(ours)), wide(expected)).all():
            wrong.append(f"{a.code} {b.code}: {ours!r} and not {expected!r}")
    return wrong


@pytest.mark.parametrize("name", FORWARD)
@pytest.mark.parametrize("policy", ["numpy", "torch"])
def test_operators_give_numpys_values_in_the_plans_dtypes(policy: str, name: str) -> None:
    with pa.policy(policy), np.errstate(all="ignore"):
        assert cells(policy, name) == []


SCALARS = (True, 1, 0.5, 1.5 - 2j)


@pytest.mark.parametrize("name", [n for n in FORWARD if n != "matmul"])
@pytest.mark.parametrize("policy", ["numpy", "torch"])
def test_python_scalars_on_either_side_give_numpys_values(policy: str, name: str) -> None:
    rules, wrong = as_policy(policy), []
    with pa.policy(policy), np.errstate(all="ignore"):
        for d, scalar, left in product(CONCRETE, SCALARS, (False, True)):
            pair = Operand(d), Operand(WEAK[type(scalar)], Rank.SCALAR)
            values = sample(d)[sample(d) != np.zeros((), d.storage)] if left else sample(d)
            if left and d.kind in (Kind.INT,):
                values = values[values > np.zeros((), d.storage)]
            operands = (scalar, values) if left else (values, scalar)
            plan = rules.plan(name, pair[::-1] if left else pair)
            if not isinstance(plan, Plan):
                continue
            wrapped = [o if o is scalar else pa.asarray(o) for o in operands]
            ours = FORWARD[name](*wrapped)
            expected = by_numpy(rules, name, plan, operands)
            if not same(wide(np.asarray(ours)), wide(expected)).all():
                wrong.append(f"{d.code} {scalar} {left}: {ours!r} and not {expected!r}")
    assert wrong == []


# --- 2- and 4-bit integers -------------------------------------------------------------------


def wrapped(values: Any, dtype: DType) -> Any:
    low = values & ((1 << dtype.bits) - 1)
    return low - ((low >> (dtype.bits - 1)) << dtype.bits) if dtype.kind is Kind.INT else low


@pytest.mark.parametrize("dtype", FEW_BITS, ids=str)
def test_2_and_4_bit_integers_wrap_for_all_pairs(dtype: DType) -> None:
    info = pa.iinfo(dtype)
    every = np.arange(info.min, info.max + 1)
    x, y = every[:, None], every[None, :]
    ours = [pa.asarray(v.astype(dtype.storage)) for v in (x, y)]
    wrong = [
        name
        for name in ("add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor")
        if not np.array_equal(FORWARD[name](*ours).tolist(), wrapped(FORWARD[name](x, y), dtype))
    ]
    assert wrong == []
    assert np.array_equal((~ours[0]).tolist(), wrapped(~x, dtype))
    assert np.array_equal((-ours[0]).tolist(), wrapped(-x, dtype))
    rest = y[:, every != 0]
    divisor = pa.asarray(rest.astype(dtype.storage))
    assert np.array_equal((ours[0] // divisor).tolist(), wrapped(x // rest, dtype))
    assert np.array_equal((ours[0] % divisor).tolist(), wrapped(x % rest, dtype))
    by = np.arange(0, info.max + 1)
    shift = pa.asarray(by.astype(dtype.storage))
    assert np.array_equal((ours[0] << shift).tolist(), wrapped(x << by, dtype))
    assert np.array_equal((ours[0] >> shift).tolist(), wrapped(x >> by, dtype))
    assert np.array_equal((ours[0] ** shift).tolist(), wrapped(x**by, dtype))


@pytest.mark.parametrize("dtype", FEW_BITS, ids=str)
def test_integers_cast_to_2_and_4_bits_keep_their_low_bits(dtype: DType) -> None:
    values = np.arange(-600, 600)
    wrong = [
        source.name
        for source in (dt.int16, dt.int32, dt.int64)
        if pa.asarray(values).astype(source).astype(dtype).tolist()
        != wrapped(values, dtype).tolist()
    ]
    assert wrong == []


# --- reductions ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*HALVES, dt.float8_e4m3fn, dt.float8_e5m2], ids=str)
def test_reductions_of_narrow_floats_accumulate_in_float32(dtype: DType) -> None:
    values = np.random.default_rng(5).uniform(0.25, 1, (3, 150)).astype(dtype.storage)
    x, exact = pa.asarray(values), values.astype(np.float32)

    def once(expected: Any) -> Any:
        return rounded(np.asarray(expected, np.float64), dtype).tolist()

    assert pa.sum(x, axis=1).tolist() == once(np.sum(exact, axis=1))
    assert pa.mean(x, axis=1).tolist() == once(np.mean(exact, axis=1))
    assert pa.prod(x[:, :8], axis=1).tolist() == once(np.prod(exact[:, :8], axis=1))
    steps = values if dtype is pa.float16 else exact  # NumPy's goes on from what was rounded
    assert pa.cumulative_sum(x, axis=1).tolist() == once(np.cumsum(steps, axis=1))
    assert pa.var(x, axis=1).tolist() == once(np.var(exact, axis=1))
    assert (x @ x.T).tolist() == once(exact @ exact.T)
    assert pa.sum(x).dtype is pa.mean(x).dtype is (x @ x.T).dtype is dtype
    assert pa.max(x).item() == exact.max()
    assert pa.argmax(x).item() == exact.argmax()


def test_a_long_bfloat16_sum_does_not_stick() -> None:
    assert pa.sum(pa.ones(1000, dtype=pa.bfloat16)).item() == 1000
    assert pa.sum(pa.ones(100, dtype=pa.float8_e4m3fn)).item() == 96  # 100 lies between 96 and 104


@pytest.mark.parametrize(
    ("policy", "given", "summed", "value"),
    [
        ("numpy", "int8", "int64", 400),
        ("numpy", "uint4", "uint64", 60),
        ("numpy", "bool", "int64", 4),
        ("torch", "uint8", "int64", 1020),
    ],
)
def test_integers_sum_up_in_the_dtype_of_the_policy(
    policy: str, given: str, summed: str, value: int
) -> None:
    with pa.policy(policy):
        top = True if given == "bool" else min(pa.iinfo(given).max, value // 4)
        out = pa.sum(pa.full(4, top, dtype=given))
        assert (out.item(), out.dtype.name) == (value, summed)


def test_sums_over_an_explicit_dtype_are_of_it() -> None:
    x = pa.asarray([100, 100, 100], dtype=pa.int8)
    assert pa.sum(x, dtype=pa.int8).item() == 300 - 256
    assert pa.sum(x, dtype=pa.float16).dtype is pa.float16
    assert pa.sum(x, dtype="float32").item() == 300.0


# --- complex32 -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASIC)
def test_complex32_is_computed_in_complex64_and_rounded_once(name: str) -> None:
    rng = np.random.default_rng(32)
    parts = rng.normal(size=(2, 2, 500)).astype(np.float16)
    x, y = (p[0].astype(np.float32) + 1j * p[1].astype(np.float32) for p in parts)
    ours = BASIC[name](pa.asarray(x).astype("complex32"), pa.asarray(y).astype("complex32"))
    expected = BASIC[name](x, y)
    assert ours.dtype is pa.complex32
    assert np.array_equal(np.asarray(pa.real(ours)), expected.real.astype(np.float16))
    assert np.array_equal(np.asarray(pa.imag(ours)), expected.imag.astype(np.float16))


def test_complex32_has_the_parts_and_functions_of_a_complex_dtype() -> None:
    x = pa.asarray([3 + 4j, -1j], dtype=pa.complex32)
    assert (pa.abs(x).tolist(), pa.abs(x).dtype) == ([5.0, 1.0], pa.float16)
    assert pa.conj(x).tolist() == [3 - 4j, 1j]
    assert (pa.sum(x).item(), pa.sum(x).dtype) == (3 + 3j, pa.complex32)
    assert (x + 1.5).dtype is pa.complex32
    assert (x == x).tolist() == [True, True]
    assert pa.asarray([2.5, 1e6], dtype=pa.float64).astype("complex32").tolist() == [2.5, math.inf]


# --- casts round once ------------------------------------------------------------------------


@pytest.mark.parametrize("source", [dt.int16, dt.uint16, dt.int32, dt.int64, dt.uint64], ids=str)
@pytest.mark.parametrize("dtype", [*HALVES, dt.float8_e5m2, dt.float8_e4m3fn], ids=str)
def test_integers_are_rounded_once_to_narrow_floats(source: DType, dtype: DType) -> None:
    info, rng = pa.iinfo(source), np.random.default_rng(1)
    ends = [b << s for b in (257, 259, 2049, 2051, 1, 3) for s in range(60)]
    near = {e + d for e in ends for d in (-1, 0, 1)} | {-e - d for e in ends for d in (-1, 0, 1)}
    near |= {int(v) for v in rng.integers(info.min, info.max, 200, source.storage, endpoint=True)}
    values = [v for v in sorted(near) if info.min <= v <= info.max]
    ours = pa.asarray(values, dtype=source).astype(dtype).tolist()
    largest = Fraction(pa.finfo(dtype).max)
    nearest = [
        math.copysign(
            value_of_code(layout(dtype), nearest_code(abs(Fraction(v)), layout(dtype))), v
        )
        for v in values
    ]
    cells = zip(values, ours, nearest, strict=True)
    wrong = [cell for cell in cells if abs(cell[0]) <= largest and cell[1] != cell[2]]
    assert wrong == []


def test_complex_numbers_are_rounded_once_to_complex32() -> None:
    tie = 1 + 2.0**-11  # halfway between two float16 values, and a hair above it
    x = pa.asarray([complex(tie + 2.0**-40, -tie - 2.0**-40)])
    assert x.astype("complex32").tolist() == [complex(1 + 2.0**-10, -1 - 2.0**-10)]


@pytest.mark.parametrize("dtype", [d for d in CONCRETE if d.kind is Kind.FLOAT], ids=str)
def test_to_bool_zero_alone_is_false(dtype: DType) -> None:
    x = pa.asarray([0.0, -0.0, 1.0, 0.5, math.nan], dtype=dtype)
    expected = np.asarray(x).astype(np.float64) != 0
    assert x.astype(pa.bool).tolist() == expected.tolist()
    assert pa.logical_not(x).tolist() == (~expected).tolist()


@pytest.mark.parametrize("source", [d for d in CONCRETE if d.kind is Kind.FLOAT], ids=str)
def test_floats_to_integers_lose_their_fraction(source: DType) -> None:
    values = np.asarray([0.5, 1.0, 1.5, -1.5, -0.5]).astype(source.storage)
    values = values[(np.abs(values.astype(np.float64)) <= 1.5)]
    expected = np.trunc(values.astype(np.float64)).astype(int).tolist()
    wrong = [
        d.name
        for d in CONCRETE
        if d.kind is Kind.INT and pa.asarray(values).astype(d).tolist() != expected
    ]
    assert wrong == []


@pytest.mark.parametrize("target", [d for d in CONCRETE if d.kind is Kind.FLOAT], ids=str)
def test_casts_read_strided_unaligned_and_read_only_buffers(target: DType) -> None:
    values = np.array([1.0, 2.0, 4.0, 0.5] * 3)
    raw = np.frombuffer(b"\0" + values.tobytes(), np.uint8)[1:].view(np.float64)
    assert not raw.flags.aligned
    assert not raw.flags.writeable
    for buffer in (raw, values[::-1][::-1], values.reshape(3, 4).T, values.astype(">f8")):
        out = pa.asarray(buffer).astype(target)
        assert np.array_equal(np.asarray(out).astype(np.float64), buffer)
    assert pa.asarray(values[::2]).astype(target).tolist() == values[::2].tolist()


def test_every_code_of_a_narrow_float_can_be_shown_and_computed_with() -> None:
    for dtype in (*SMALL, *HALVES):
        x = pa.asarray(codes(dtype))  # signalling NaNs too
        whole = dtype.bits <= 8  # of long arrays NumPy shows three at each end
        assert ("..." in repr(x), repr(x).count(",")) == (not whole, len(x) if whole else 7)
        with np.errstate(over="ignore", invalid="ignore"):
            assert ((x * 1.0) == x).tolist() == (~np.isnan(codes(dtype))).tolist()


def test_every_binary_operator_is_tested_here() -> None:
    assert {n for n, row in OPERATIONS.items() if row.symbol and row.arity == 2} == set(FORWARD)
