"""Operations between casts: against the casts and NumPy, one after the other, in every layout."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from cast_cases import same_numbers

import promoarray as pa
from promoarray import dtypes
from promoarray.backends.numpy.loops import raised_by
from promoarray.dtypes import DType
from promoarray.kernels import (
    DEFAULT,
    cast,
    combine,
    dtype_args,
    levels,
    loop_of,
    use_level,
)
from promoarray.kernels.portable import variants

Array = np.ndarray[Any, Any]

TYPES = {
    "bfloat16": (dtypes.bfloat16, dtypes.bfloat16, dtypes.float32),
    "float16": (dtypes.float16, dtypes.float16, dtypes.float32),
    "mixed": (dtypes.bfloat16, dtypes.float16, dtypes.float32),
    "mixed the other way": (dtypes.float16, dtypes.bfloat16, dtypes.float32),
    "bfloat16 and float32": (dtypes.bfloat16, dtypes.float32, dtypes.float32),
    "float32 and bfloat16": (dtypes.float32, dtypes.bfloat16, dtypes.float32),
    "float32 and float16": (dtypes.float32, dtypes.float16, dtypes.float32),
    "float16 and float32": (dtypes.float16, dtypes.float32, dtypes.float32),
    "int8 and float32": (dtypes.int8, dtypes.float32, dtypes.float32),
    "float32 and uint16": (dtypes.float32, dtypes.uint16, dtypes.float32),
    "int8 and int32": (dtypes.int8, dtypes.int32, dtypes.int32),
    "uint32 and uint8": (dtypes.uint32, dtypes.uint8, dtypes.uint32),
    "float8": (dtypes.float8_e5m2, dtypes.int8, dtypes.float32),
    "float32": (dtypes.float32, dtypes.float32, dtypes.float32),
    "float64": (dtypes.float32, dtypes.float64, dtypes.float64),
    "int": (dtypes.int16, dtypes.uint8, dtypes.uint16),
    "int64": (dtypes.int8, dtypes.int64, dtypes.int64),
    "bool": (dtypes.bool, dtypes.bool, dtypes.bool),
}
"""The dtypes of two operands, and what is computed in; the result has that of each, too."""


def clipped(name: str, low: bool, high: bool) -> Callable[..., Array]:
    return partial(getattr(variants, name), np, low=low, high=high)


REFERENCES: dict[str, Callable[..., Array]] = {
    **{name: getattr(np, name) for name in ("add", "subtract", "multiply", "divide", "square")},
    **{name: getattr(np, name) for name in ("reciprocal", "sqrt", "positive", "negative", "abs")},
    **{name: getattr(np, name) for name in ("copysign", "sign", "floor", "ceil", "trunc", "round")},
    **{name: getattr(np, name) for name in ("isnan", "isfinite", "isinf", "signbit", "equal")},
    **{name: getattr(np, name) for name in ("not_equal", "less", "less_equal", "greater")},
    **{name: getattr(np, name) for name in ("greater_equal", "logical_and", "logical_or")},
    **{name: getattr(np, name) for name in ("hypot", "nextafter")},
    **{name: getattr(np, name) for name in ("logical_xor", "logical_not", "maximum", "minimum")},
    **{
        name + end: clipped(name, low, high)
        for name in ("clip_beyond", "clip_up_to", "clip_signed_zeros", "low_bound_last")
        for end, low, high in (("", True, True), ("_low", True, False), ("_high", False, True))
    },
    **{
        name: partial(getattr(variants, name), np)
        for name in ("sign_keeping_zero", "sign_without_nan", "scaled_negative", "hypot_of_squares")
    },
    "where": np.where,
}


def bits(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Array:
    """Elements of any bits, many zeros of both signs, infinities and NaN; bools are 0 and 1."""
    if dtype is dtypes.bool:
        return rng.integers(0, 2, shape).astype(bool)
    size = dtype.storage.itemsize
    found = rng.integers(0, 256, (*shape, size), np.uint8)
    found[rng.random(shape) < 0.2] = 0
    found[rng.random(shape) < 0.1] = [0] * (size - 1) + [0x80]
    found[rng.random(shape) < 0.1, :-1] = 0
    found[rng.random(shape) < 0.1, -1] |= 0x7C
    return found.view(dtype.storage).reshape(shape)


def converted(x: Array, source: DType, target: DType) -> Array:
    if source is target:
        return x
    out = np.empty(x.shape, target.storage)
    cast(x, out, dtype_args(source), dtype_args(target), DEFAULT)
    return out


def by_steps(name: str, operands: list[Array], types: list[DType], result: DType) -> Array:
    """Casts, NumPy, cast: ``types`` are those of the operands and of what is computed in."""
    *held, computed = types
    masked = name == "where"
    values = [
        x if masked and i == 0 else converted(x, dtype, computed)
        for i, (x, dtype) in enumerate(zip(operands, held, strict=True))
    ]
    with np.errstate(all="ignore"):
        made = REFERENCES[name](*values)
    return converted(made, dtypes.as_dtype(made.dtype), result)


def rows(types: list[DType], result: DType) -> tuple[Any, ...]:
    return tuple(map(dtype_args, (*types, result)))


ONE = [1.5, 0.0, -0.0, np.inf, np.nan, -np.nan, 1e-39, 65504.0]


@pytest.mark.parametrize("one", ONE)
@pytest.mark.parametrize("held", [dtypes.bfloat16, dtypes.float16])
@pytest.mark.parametrize("beside", ["itself", "float32"])
def test_one_number_gives_what_as_many_of_it_give(level, one, held, beside):
    other = held if beside == "itself" else dtypes.float32
    x = np.arange(1 << 16, dtype=np.uint16).view(held.storage)
    with np.errstate(all="ignore"):
        number = np.asarray(one).astype(other.storage)
    types = rows([held, other, dtypes.float32], held)
    for name, n in product(("add", "subtract", "multiply", "divide"), (1, 31, 1000, 1 << 16)):
        found, expected = np.empty(n, held.storage), np.empty(n, held.storage)
        raised = raised_by(combine(name, (x[:n], number), found, types, (DEFAULT,) * 3))
        many = np.full(n, number)
        met = combine(name, (x[:n], many), expected, types, (DEFAULT,) * 3)
        assert raised_by(met) == raised, (name, n)
        assert np.array_equal(found.view(np.uint16), expected.view(np.uint16)), (name, n)


@pytest.mark.parametrize("types", [("bfloat16", "float32"), ("float16", "float32")])
def test_the_first_of_two_nan_comes_out(level, types):
    quiet = {"bfloat16": 0x7FC0, "float16": 0x7E00, "float32": 0x7FC00000}
    first, second = map(dtypes.as_dtype, types)
    for left, right in ((first, second), (second, first)):
        x, y = (
            np.full(64, quiet[d.name] | sign << d.bits - 1, f"u{d.storage.itemsize}")
            for d, sign in ((left, 1), (right, 0))
        )
        out = np.empty(64, np.float32)
        for name in ("add", "subtract", "multiply", "divide"):
            held = x.view(left.storage), y.view(right.storage)
            wanted = rows([left, right, dtypes.float32], dtypes.float32)
            combine(name, held, out, wanted, (DEFAULT,) * 3)
            assert np.signbit(out).all() or level == 1, (name, left)


@pytest.mark.parametrize("kind", TYPES)
def test_loops_give_what_casts_and_numpy_give(level, kind):
    first, second, computed = TYPES[kind]
    rng, done = np.random.default_rng(level), 0
    for name in REFERENCES:
        found = loop_of(name, dtype_args(computed))
        if found is None:
            continue
        count, masked, tests = found
        held = [dtypes.bool] * masked + [first, second, second][: count - masked]
        for lengths in product(*((4097,), (4097, 1), (4097, 1))[:count]):
            operands = [bits(rng, (n,), d) for n, d in zip(lengths, held, strict=True)]
            for result in {dtypes.bool} if tests else {first, second, computed}:
                got = np.empty(4097, result.storage)
                combine(
                    name,
                    tuple(operands),
                    got,
                    rows([*held, computed], result),
                    (DEFAULT,) * (count + 1),
                )
                want = by_steps(name, operands, [*held, computed], result)
                assert same_numbers(got, want, result), (name, lengths, result)
        done += 1
    assert done > 7


def test_hypot_beside_the_middle_of_two_floats(level):
    """Where the root of a sum is so near it that an estimate does not say which of both it is."""
    x = np.linspace(1, 2, 10_001, endpoint=False, dtype=np.float32)
    below = x.astype(np.float64)
    y = np.sqrt((below + 2.0**-24) ** 2 - below**2).astype(np.float32)
    for scale in (1, 2.0**-140, 2.0**100):
        operands = x * np.float32(scale), y * np.float32(scale)
        got = np.empty_like(x)
        rows = (dtype_args(dtypes.float32),) * 4
        combine("hypot", operands, got, rows, (DEFAULT,) * 3)
        assert same_numbers(got, np.hypot(*operands), dtypes.float32), scale


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
@pytest.mark.parametrize("name", ["hypot", "nextafter"])
def test_exceptions_are_told_as_numpy_tells_them(level, name, dtype):
    ends = np.finfo(dtype.storage)
    few = [0, -0.0, 1, -2.5, ends.max, -ends.max, ends.tiny, -ends.smallest_subnormal]
    few += [3 * ends.smallest_subnormal, np.inf, -np.inf, np.nan]
    numbers = np.array(few, dtype.storage)
    for x, y in product(numbers, numbers):
        operands = np.array([x]), np.array([y])
        got, met = np.empty_like(operands[0]), set()
        raised = raised_by(combine(name, operands, got, (dtype_args(dtype),) * 4, (DEFAULT,) * 3))
        with np.errstate(all="call", call=lambda what, _, met=met: met.add(what)):
            want = REFERENCES[name](*operands)
        assert same_numbers(got, want, dtype), (x, y)
        told = {what for bit, what in ((2, "overflow"), (4, "underflow")) if raised & bit}
        assert told >= met, (x, y)
        if name == "nextafter":
            assert told == met, (x, y)


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["sign_keeping_zero", "sign_without_nan", "scaled_negative"])
def test_every_number_of_16_bits_has_the_sign_it_has_as_float32(level, name, dtype):
    row = dtype_args(dtype)
    if loop_of(name, row) is None:
        pytest.skip("this level has no loop of it")
    codes = np.arange(1 << 16, dtype=np.uint16).view(dtype.storage)
    got = np.empty_like(codes)
    combine(name, (codes,), got, (row, row, row), (DEFAULT, DEFAULT))
    with np.errstate(all="ignore"):
        want = REFERENCES[name](codes.astype(np.float32)).astype(dtype.storage)
    assert same_numbers(got, want, dtype)
    known = ~np.isnan(want.astype(np.float32))
    np.testing.assert_array_equal(got.view(np.uint16)[known], want.view(np.uint16)[known])


CLIPPED = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int8)


@pytest.mark.parametrize(
    "name", ["clip_beyond", "clip_up_to", "clip_signed_zeros", "low_bound_last"]
)
@pytest.mark.parametrize("dtype", [*CLIPPED, dtypes.uint16, dtypes.int32, dtypes.uint64], ids=str)
def test_bounds_of_one_number_clip_as_bounds_for_each_element(level, name, dtype):
    if loop_of(name, dtype_args(dtype)) is None:
        pytest.skip("a level without registers has no float16")
    rng, size = np.random.default_rng(level), dtype.storage.itemsize
    x = bits(rng, (1 << 16,), dtype)
    if size <= 2:
        x = np.arange(1 << 16, dtype=np.uint16).astype(f"u{size}").view(dtype.storage)
    zeros = np.zeros(2, dtype.storage)
    if dtype.kind is dtypes.Kind.FLOAT:
        zeros[1] = -zeros[1]
    bounds = [*bits(rng, (20,), dtype), *zeros]
    rows_, modes = rows([dtype] * 4, dtype), (DEFAULT,) * 4
    for low, high in zip(rng.permutation(bounds), rng.permutation(bounds), strict=True):
        ends = [np.array([end], dtype.storage) for end in (low, high)]
        each = [np.repeat(end, x.size) for end in ends]
        got, want = np.empty_like(x), np.empty_like(x)
        assert combine(name, (x, *ends), got, rows_, modes) == combine(
            name, (x, *each), want, rows_, modes
        )
        assert np.array_equal(got.view(f"u{size}"), want.view(f"u{size}")), (low, high)


def laid_out(x: Array, way: str) -> Array:
    """The same elements, or one row, column or element that stands for all."""
    if way == "transposed":
        return np.ascontiguousarray(x.T).T
    if way == "backwards":
        return np.ascontiguousarray(x[:, ::-1])[:, ::-1]
    if way == "every other":
        return np.repeat(x, 2, axis=1)[:, ::2]
    if way == "misaligned":
        beside = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
        beside[...] = x
        return beside
    return {"row": x[0], "column": x[:, :1], "one": x[:1, :1], "zero-d": x[0, 0, ...]}.get(way, x)


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.bfloat16, dtypes.float64], ids=str)
def test_a_result_may_begin_anywhere_in_a_line_of_memory(dtype):
    rng = np.random.default_rng(8)
    types = [dtype, dtype, dtypes.float32 if dtype is dtypes.bfloat16 else dtype]
    x, y = bits(rng, (9000,), dtype), bits(rng, (9000,), dtype)
    want = by_steps("subtract", [x, y], types, dtype)
    for begin in range(64 // dtype.storage.itemsize + 1):
        room = np.ones(9200, dtype.storage)
        combine("subtract", (x, y), room[begin:][:9000], rows(types, dtype), (DEFAULT,) * 3)
        assert same_numbers(room[begin:][:9000], want, dtype)
        assert (room[:begin] == 1).all()
        assert (room[begin + 9000 :] == 1).all()


WAYS = ("in rows", "transposed", "backwards", "every other", "misaligned", "row", "column", "one")


@pytest.mark.parametrize("into", ["in rows", "transposed", "backwards", "every other"])
@pytest.mark.parametrize("shape", [(3, 5), (70, 90), (1, 5000)])
def test_operands_and_results_lie_in_any_way(shape, into):
    rng = np.random.default_rng(3)
    cases = (
        ("subtract", [dtypes.bfloat16, dtypes.bfloat16, dtypes.float32], dtypes.bfloat16),
        ("less", [dtypes.float16, dtypes.float32, dtypes.float32], dtypes.bool),
    )
    for (name, types, result), first, second in product(cases, WAYS, (*WAYS, "zero-d")):
        plain = [bits(rng, shape, dtype) for dtype in types[:2]]
        operands = [laid_out(x, way) for x, way in zip(plain, (first, second), strict=True)]
        before = np.zeros(shape, result.storage)
        got = laid_out(before, into)
        combine(name, tuple(operands), got, rows(types, result), (DEFAULT,) * 3)
        want = by_steps(name, operands, types, result)
        assert same_numbers(got, np.broadcast_to(want, shape), result), (name, first, second)


@pytest.mark.parametrize("shape", [(37, 512), (133, 777), (2, 40, 700), (1300, 800)])
@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.bfloat16, dtypes.float32, dtypes.int64])
def test_long_rows_that_lie_in_columns_are_read_by_panels(shape, dtype):
    rng = np.random.default_rng(5)
    turned = bits(rng, (*shape[:-2], shape[-1], shape[-2]), dtype).swapaxes(-1, -2)
    computed = dtypes.float32 if dtype is dtypes.bfloat16 else dtype
    types = [dtype, dtype, computed]
    operands = (turned, bits(rng, shape, dtype))
    want = by_steps("subtract", list(operands), types, dtype)
    before = pa.get_num_threads()
    for threads in (1, 3):
        pa.set_num_threads(threads)
        got = np.empty(shape, dtype.storage)
        combine("subtract", operands, got, rows(types, dtype), (DEFAULT,) * 3)
        assert same_numbers(got, want, dtype)
    pa.set_num_threads(before)


@pytest.mark.parametrize("shape", [(40, 3001), (700, 512), (3, 70_000), (350, 3001)])
@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.bfloat16, dtypes.float64], ids=str)
def test_blocks_end_with_long_rows(shape, dtype):
    rng = np.random.default_rng(6)
    types = [dtype, dtype, dtypes.float32 if dtype is dtypes.bfloat16 else dtype]
    x, y = bits(rng, shape, dtype), bits(rng, shape, dtype)
    before = pa.get_num_threads()
    pa.set_num_threads(3)  # parts begin within rows
    for first, second in product(("in rows", "misaligned", "row", "column"), repeat=2):
        operands = [laid_out(x, first), laid_out(y, second)]
        got = np.empty(shape, dtype.storage)
        combine("subtract", tuple(operands), got, rows(types, dtype), (DEFAULT,) * 3)
        want = np.broadcast_to(by_steps("subtract", operands, types, dtype), shape)
        assert same_numbers(got, want, dtype), (first, second)
    pa.set_num_threads(before)


@pytest.mark.parametrize("shape", [(8, 6, 100), (3, 2, 700), (5, 1, 1200)])
@pytest.mark.parametrize("name", ["subtract", "maximum"])
def test_one_number_for_each_of_some_rows(name, shape):
    rng, dtype = np.random.default_rng(7), dtypes.bfloat16
    types = [dtype, dtype, dtypes.float32]
    apart = bits(rng, (*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
    for x in (apart, apart[..., ::-1], np.ascontiguousarray(apart)):
        for of in ((*shape[:-1], 1), (shape[0], 1, 1), (*shape[1:-1], 1)):
            operands = [x, bits(rng, of, dtype)]
            got = np.empty(shape, dtype.storage)
            combine(name, tuple(operands), got, rows(types, dtype), (DEFAULT,) * 3)
            assert same_numbers(got, by_steps(name, operands, types, dtype), dtype), of


@pytest.mark.parametrize("way", ["in rows", "transposed", "backwards"])
def test_a_result_may_be_an_operand(way):
    rng = np.random.default_rng(4)
    x, y = (bits(rng, (70, 90), dtypes.bfloat16) for _ in range(2))
    types = [dtypes.bfloat16, dtypes.bfloat16, dtypes.float32]
    for pick in (lambda a: (a, y), lambda a: (y, a), lambda a: (a, a)):
        target = laid_out(x.copy(), way)
        want = by_steps("subtract", list(pick(target.copy())), types, dtypes.bfloat16)
        combine("subtract", pick(target), target, rows(types, dtypes.bfloat16), (DEFAULT,) * 3)
        assert same_numbers(target, want, dtypes.bfloat16)


def test_combine_tells_the_exceptions_of_the_operation():
    def raised(name: str, *values: float, dtype: DType = dtypes.float32) -> int:
        operands = tuple(np.full(5, v, dtype.storage) for v in values)
        given = rows([dtype] * len(values) + [dtypes.float32], dtype)
        made = np.empty(5, dtype.storage)
        return raised_by(combine(name, operands, made, given, (DEFAULT,) * (len(values) + 1)))

    assert raised("add", 1, 2) == raised("add", 1, 2, dtype=dtypes.float16) == 0
    assert raised("divide", 1, 0) & 1
    assert raised("multiply", 3e38, 3e38) & 2
    assert raised("multiply", 1e-38, 1e-20) & 4
    assert raised("subtract", np.inf, np.inf, dtype=dtypes.bfloat16) & 8
    assert raised("sqrt", -1.0, dtype=dtypes.float16) & 8
    assert raised("maximum", np.nan, 1) == raised("floor", 0.5) == 0


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16], ids=str)
@pytest.mark.parametrize("level", levels())
def test_a_signalling_nan_is_no_exception_once_it_was_cast(level, dtype):
    largest, quiet = dtype.format.inf, 1 << dtype.format.mantissa - 1
    signalling = largest + 1, largest + quiet - 1
    codes = np.array([code | sign for code in signalling for sign in (0, 0x8000)] * 5, np.uint16)
    x = codes.view(dtype.storage)
    before = use_level(level)
    try:
        met = combine("add", (x, x), x.copy(), rows([dtype] * 2 + [dtypes.float32], dtype), MODES)
    finally:
        use_level(before)
    assert met == ()


MODES = (DEFAULT,) * 3
F8, F32 = dtype_args(dtypes.float8_e4m3fn), dtype_args(dtypes.float32)
X = np.ones(4, np.float32)
TARGET = np.ones(5, np.float32)
FROZEN = np.ones(4, np.float32)
FROZEN.flags.writeable = False


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"name": "power"}, ValueError, "there is no loop that computes power"),
        ({"name": "sqrt"}, ValueError, "there is no loop that computes sqrt"),
        ({"operands": (X[:3], X)}, ValueError, "operand 1 does not broadcast"),
        ({"operands": (X, X[None, None])}, ValueError, "operand 2 does not broadcast"),
        ({"operands": (X, X.astype(np.float64))}, ValueError, "operand 2 has elements of 8 bytes"),
        ({"operands": (X.astype(">f4"), X)}, ValueError, "operand 1 must be in native byte order"),
        ({"operands": (X,) * 4}, TypeError, "operands must be a tuple of 1 to 3 arrays"),
        ({"operands": [X, X]}, TypeError, "operands must be a tuple of 1 to 3 arrays"),
        ({"operands": (X, None)}, TypeError, "bytes-like object is required"),
        ({"result": FROZEN}, ValueError, "read-only"),
        ({"operands": (TARGET[1:], X), "result": TARGET[:4]}, ValueError, "overlap in memory"),
        ({"operands": (X[:1], X), "result": X}, ValueError, "operand 1 and result overlap"),
        ({"result": np.zeros(17, np.uint8)[1:].view(np.float32)}, ValueError, "not aligned"),
        (
            {"result": np.lib.stride_tricks.as_strided(TARGET, (4,), (0,))},
            ValueError,
            "elements of result overlap in memory",
        ),
        ({"rows": (F32,) * 3}, TypeError, "rows must be a tuple of 2 more than operands"),
        ({"modes": (DEFAULT,) * 2}, TypeError, "and modes one of 1 more"),
        ({"rows": (F32, F32, F32, F8)}, ValueError, "result has elements of 4 bytes"),
        (
            {"rows": (F32, F32, dtype_args(dtypes.complex64), F32)},
            ValueError,
            "no loop that computes add",
        ),
        ({"result": np.zeros(4, "V0")}, ValueError, "result has elements of 0 bytes"),
    ],
)
def test_wrong_arguments_of_combine_are_refused(change, error, match):
    given = {"name": "add", "operands": (X, X), "result": np.zeros(4, np.float32)}
    given |= {"rows": (F32,) * 4, "modes": (DEFAULT,) * 3}
    with pytest.raises(error, match=match):
        combine(**given | change)
    assert np.all(X == 1)
    assert np.all(TARGET == 1)


def test_there_are_loops_for_what_is_computed_in():
    assert loop_of("add", F32) == (2, False, False)
    assert loop_of("isnan", F32) == (1, False, True)
    assert loop_of("where", dtype_args(dtypes.bool)) == (3, True, False)
    for name, dtype in (("exp", dtypes.float32), ("divide", dtypes.int8), ("add", dtypes.bool)):
        assert loop_of(name, dtype_args(dtype)) is None
    assert loop_of("add", dtype_args(dtypes.complex64)) is None
