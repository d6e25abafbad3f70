"""The fast path of the operators: the answers of the long way, ``dispatch.apply``, only sooner."""

from __future__ import annotations

import copy
import gc
import inspect
import math
import operator
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from operator_table import FORWARD, MIRRORED
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray import parray
from promoarray.core import dispatch, events, observers, operators
from promoarray.core._fast_path import FastOperator
from promoarray.dtypes import CONCRETE, STANDARD, DType, Kind
from promoarray.namespaces import array_type
from promoarray.policies import as_policy

POLICIES = ["numpy", "torch", "jax", "paddle"]
SCALARS = [
    True, False, 0, 1, -1, 2, 127, 128, 2**40, 2**70,
    0.0, -0.0, 1.0, 1.5, -2.5, 1e300, math.inf, math.nan,
    1j, complex(1, 0.0), complex(1, -0.0), complex(0.0, -0.0), complex(-0.0, 0.0),
]  # fmt: skip


@cache
def sample(dtype: DType, rank: int) -> Any:
    """An array of a rank; of floats with a NaN and with a -0.0, which shows a change of sign."""
    floats = dtype.kind in (Kind.FLOAT, Kind.COMPLEX)
    values = [1.0, -0.0, math.nan, 3.0] if floats and dtype.bits >= 16 else [1, 0, 2, 3]
    array = pa.astype(pa.asarray(np.asarray(values)), dtype)
    return (array[1], array, array[None, :])[rank]


def disagreements(name: str, x: Any, y: Any) -> list[str]:
    """Ask the long way once and the operator thrice, which may be long the first time."""
    expected = outcome(lambda: dispatch.apply(name, x, y))
    if name in MIRRORED and not isinstance(x, pa.PArray):
        expected = outcome(lambda: dispatch.apply(MIRRORED[name], y, x))
    short = [outcome(lambda: FORWARD[name](x, y)) for _ in range(3)]
    return [f"{name} {x!r} {y!r}: {each} and not {expected}" for each in short if each != expected]


@pytest.fixture
def long_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that took the long way."""
    taken, apply = [], dispatch.apply

    def counted(name: str, *operands: Any, **options: Any) -> Any:
        taken.append(name)
        return apply(name, *operands, **options)

    monkeypatch.setattr(operators, "apply", counted)
    return taken


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", FORWARD)
def test_two_arrays_of_any_dtypes(policy: str, name: str) -> None:
    wrong = []
    with pa.policy(policy):
        # Names and policies take turns: the fast path knows nothing of either.
        turn = [*FORWARD].index(name) + POLICIES.index(policy)
        for a, b in turns(product(STANDARD, STANDARD), 4, turn):
            wrong += disagreements(name, sample(a, 1), sample(b, 1))
    assert wrong == []


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", [name for name in FORWARD if name != "matmul"])
def test_a_python_scalar_on_either_side(policy: str, name: str) -> None:
    wrong = []
    with pa.policy(policy):
        turn = [*FORWARD].index(name) + POLICIES.index(policy)
        every = product((dt.bool, dt.int8, dt.float32, dt.complex64), SCALARS)
        for dtype, scalar in turns(every, 6, turn):
            x = sample(dtype, 1)
            wrong += disagreements(name, x, scalar) + disagreements(name, scalar, x)
    assert wrong == []


@given(st.data())
def test_whatever_the_operands(data: st.DataObject) -> None:
    def operand() -> Any:
        dtype, rank = data.draw(st.sampled_from(CONCRETE)), data.draw(st.integers(0, 2))
        return sample(dtype, rank)

    name = data.draw(st.sampled_from([*FORWARD]))
    scalar = st.sampled_from(SCALARS) | st.floats() | st.integers() | st.complex_numbers()
    operands = [operand(), data.draw(scalar) if data.draw(st.booleans()) else operand()]
    if data.draw(st.booleans()):
        operands.reverse()
    with pa.policy(data.draw(st.sampled_from([*POLICIES, "tensorflow", "onnx", "jax@x32"]))):
        assert disagreements(name, *operands) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_the_second_call_is_a_short_one(policy: str, long_calls: list[str]) -> None:
    x, y, i = (sample(d, 1) for d in (dt.float32, dt.float32, dt.int8))
    with pa.policy(policy):
        for run in (lambda: x + y, lambda: i * i, lambda: x < y, lambda: x + 1.5, lambda: 1.5 - x):
            run()
            long_calls.clear()
            assert outcome(run) == outcome(run)
            assert long_calls == []


def test_pythons_round_is_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    for policy, dtype in product(POLICIES, STANDARD):
        x = sample(dtype, 1)
        with pa.policy(policy):
            expected = outcome(partial(pa.round, x))
            assert [outcome(partial(round, x)) for _ in range(2)] == [expected] * 2
    x, y = sample(dt.bfloat16, 1), sample(dt.float32, 0)
    expected = [outcome(partial(round, each)) for each in (x, y)]
    monkeypatch.setattr(parray, "call", None)
    assert [outcome(partial(round, each)) for each in (x, y)] == expected
    for digits in (0, 2):
        with pytest.raises(TypeError, match="not in the array API"):
            round(x, digits)
    with pytest.raises(TypeError, match="not in the array API"):
        x.__round__(ndigits=1)


def test_scalars_that_are_equal_keep_apart() -> None:
    x = pa.asarray(np.asarray([-0.0], np.float32))
    c = pa.asarray(np.asarray([complex(1, -0.0)], np.complex64))
    for _ in range(3):
        assert [math.copysign(1, (x + zero).item()) for zero in (0.0, -0.0, 0.0)] == [1, -1, 1]
        # Fresh objects each time, so that not even their addresses are new.
        signs = [math.copysign(1, (x + float(text)).item()) for text in ("0", "-0", "0", "-0")]
        assert signs == [1, -1, 1, -1]
        assert [(x * one).dtype.name for one in (True, 1, 1.0)] == ["float32"] * 3
        parts = [(c + complex(1, zero)).item().imag for zero in (0.0, -0.0, 0.0)]
        assert [math.copysign(1, p) for p in parts] == [1, -1, 1]
    i = pa.asarray(np.asarray([1], np.int8))
    for _ in range(3):
        assert [(i + one).dtype.name for one in (True, 1, 1.0)] == ["int8", "int8", "float64"]


def test_many_scalars_at_few_addresses() -> None:
    x = pa.asarray(np.asarray([1], np.float64))
    assert all((x * float(n)).item() == n for n in range(10_000))
    assert all((n - x).item() == n - 1 for n in range(1000, 10_000))


def test_an_array_that_is_weakly_typed_is_no_scalar() -> None:
    with pa.policy("jax"):
        x = pa.asarray(np.ones(2, np.float32))
        weak = pa.PArray([1.5, 2.5], weak_type=True)
        for _ in range(2):
            assert disagreements("add", x, 1.5) + disagreements("add", x, weak) == []
            assert (x + weak)._buffer.dtype == np.float32


@pytest.mark.parametrize("policy", POLICIES)
def test_a_number_that_does_not_fit_is_refused_every_time(policy: str) -> None:
    i = pa.asarray(np.asarray([1], np.int8))
    fits = pa.namespace(policy).asarray(np.asarray([1], np.int8))
    with pa.policy("numpy"):
        i + 1
        for run in (lambda: i + 300, lambda: 300 - i, lambda: i * -129):
            for _ in range(3):
                with pytest.raises(OverflowError, match="does not fit int8, whose range"):
                    run()
    assert disagreements("add", fits, 300) + disagreements("add", 300, fits) == []


def test_errors_of_kernels_come_through() -> None:
    x, i = pa.asarray(np.ones(2, np.float32)), pa.asarray(np.asarray([2], np.int64))
    y, negative = pa.asarray(np.ones(3, np.float32)), pa.asarray(np.asarray([-1], np.int64))
    i**i
    for _ in range(3):
        with pytest.raises(ValueError, match=r"add: shapes \(2,\) and \(3,\) do not match"):
            x + y
        with pytest.raises(ValueError, match="negative integer powers"):
            i**negative
    with np.errstate(over="raise"):
        big = pa.asarray(np.asarray([3e38], np.float32))
        with np.errstate(over="ignore"):
            big + big
        with pytest.raises(FloatingPointError, match="overflow"):
            big + big


SIGNALLING = {
    "float32": (0x7F800001, np.uint32),
    "float16": (0x7C01, np.uint16),
    "bfloat16": (0x7F81, np.uint16),
    "float8_e5m2": (0x7D, np.uint8),
}


@pytest.mark.parametrize("dtype", SIGNALLING)
@pytest.mark.parametrize("policy", ["numpy", "jax", "torch", "paddle"])
def test_no_cast_to_a_wider_float_warns_of_a_signalling_nan(policy: str, dtype: str) -> None:
    code, width = SIGNALLING[dtype]
    x = pa.asarray(np.full(3, code, width)).view(dtype)
    with pa.policy(policy):
        for other in (pa.ones(3, dtype="float64"), pa.ones(3, dtype="complex128")):
            for _ in range(3):
                for combine in (operator.add, operator.mul, operator.eq):
                    try:
                        combine(x, other)
                        combine(other, x)
                    except pa.PromotionError:
                        break
        assert x.astype(pa.float64).dtype is pa.float64


@pytest.mark.parametrize("policy", ["torch", "paddle"])
@pytest.mark.parametrize("size", [3, 300, 40_000])
def test_an_operand_is_rounded_to_what_it_becomes(policy: str, size: int) -> None:
    # float32[] becomes bfloat16: 2**-8, half of what 1.0 lacks to the next.
    above_half = pa.asarray(np.asarray(2**-8 + 2**-20, np.float32))
    with pa.policy(as_policy(policy).derive("unmet")):
        x = pa.ones(size, dtype="bfloat16")
        for _ in range(3):
            assert pa.all(x + above_half == x)


MIXED = [
    ("bfloat16", "bfloat16"),
    ("bfloat16", "float32"),
    ("int8", "bfloat16"),
    ("float32", "float64"),
    ("int32", "float16"),
]
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    *(((n,), (m,)) for n in (255, 257, 1025, 2049, 33_000) for m in (n, 1)),
    ((2, 300), (300,)),
    ((7, 1), (1, 5)),
    ((3, 4), ()),
    ((0, 3), (3,)),
]


@pytest.mark.parametrize("pair", MIXED)
@pytest.mark.parametrize("policy", ["numpy", "torch"])
def test_a_kernel_answers_as_the_whole_plan_does(policy: str, pair: tuple[str, str]) -> None:
    wrong = []
    random = np.random.default_rng(0)
    with pa.policy(policy):
        for shapes in SHAPES:
            x, y = (
                pa.asarray(random.integers(-999, 999, shape) / 7).astype(dt.as_dtype(name))
                for shape, name in zip(shapes, pair, strict=True)
            )
            for name in ("multiply", "less"):
                for a, b in ((x, y), (y, x), (x[..., ::-1], y), (x, 1.5)):
                    wrong += disagreements(name, a, b)
            lying = pa.asarray(np.array(x._buffer, order="F")), pa.asarray(np.asarray(y._buffer))
            made = [lying[0] * lying[1] for _ in range(2)]
            assert made[0]._buffer.strides == made[1]._buffer.strides
    assert wrong == []


@pytest.mark.parametrize("shape", [(), (3,), (300,), (3, 2), (40_000,)])
def test_a_kernel_leaves_exceptions_to_numpy(shape: tuple[int, ...]) -> None:
    big = pa.asarray(np.full(shape, 3e38, np.float32).T)
    double, low = big.astype(pa.float64), big.astype(pa.bfloat16)
    for _ in range(2):
        with np.errstate(over="raise"):
            assert not pa.any(pa.isinf(big * double))
            with pytest.raises(FloatingPointError, match="overflow"):
                big * low
        with np.errstate(over="ignore"):
            assert pa.all(pa.isinf(big * low))


def test_watchers_see_every_operation() -> None:
    class Watcher(events.Observer):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def on_operation(self, event: events.OperationEvent) -> None:
            self.seen.append(event.name)

    x, watcher = sample(dt.float32, 1), Watcher()
    for _ in range(3):
        watcher.seen.clear()
        _ = x + x, x * 2, 2 - x, x < x
        with observers.observing(watcher):
            _ = x + x, x * 2, 2 - x, x < x
        assert watcher.seen == ["add", "multiply", "subtract", "less"]


def test_the_policy_may_change_between_two_calls() -> None:
    x, y = sample(dt.int64, 1), sample(dt.float32, 1)
    for _ in range(3):
        assert (x + y).dtype is dt.float64
        with pa.policy("torch"):
            assert (x + y).dtype is dt.float32
            with pa.policy("numpy"):
                assert (x + y).dtype is dt.float64
            assert (x + y).dtype is dt.float32
        pa.set_policy("torch")
        assert (x + y).dtype is dt.float32
        pa.set_policy("numpy")
    derived = as_policy("numpy").derive("numpy-narrow", {("int64", "float32"): "float32"})
    for _ in range(3):
        with pa.policy(derived):
            assert (x + y).dtype is dt.float32
        assert (x + y).dtype is dt.float64


def test_threads_have_their_own_policies() -> None:
    x, y = sample(dt.int64, 1), sample(dt.float32, 1)

    def run(turn: int) -> set[DType]:
        with pa.policy("torch" if turn % 2 else "numpy"):
            return {(x + y).dtype for _ in range(2000)} | {(y * float(n)).dtype for n in range(9)}

    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(run, range(16))]
    assert answers == [{dt.float64, dt.float32}, {dt.float32}] * 8


def test_subclasses_and_bound_arrays_keep_their_class(long_calls: list[str]) -> None:
    class Mine(pa.PArray):  # with a __dict__, so not of the layout of PArray
        def __add__(self, other: Any) -> Any:
            return super().__add__(other)

    mine = Mine._wrap(np.ones(2, np.float32), dt.float32)
    mine.note = "kept"
    bound = pa.namespace("torch").asarray(np.asarray([1, 2], np.int64))
    x = sample(dt.float32, 1)[:2]
    for _ in range(3):
        long_calls.clear()
        z = mine + mine
        assert type(z) is Mine
        assert not hasattr(z, "note")
        assert type(2.0 * mine) is Mine
        twice = bound * 2.0
        assert (type(twice), twice.dtype) == (array_type(as_policy("torch")), dt.float32)
    assert long_calls == []  # int64 to float32 too, whose cast is not NumPy's
    assert type(bound + x) is type(x + bound) is type(bound)
    with pytest.raises(TypeError, match="do not mix"):
        bound + pa.namespace("jax").asarray([1])


def test_foreign_operands_are_refused_or_answer_themselves() -> None:
    class Foreign:
        def __radd__(self, other: Any) -> str:
            return "mine"

        def __add__(self, other: Any) -> Any:
            return NotImplemented

    class Real(float): ...

    x = sample(dt.float32, 1)
    for _ in range(2):
        assert x + Foreign() == "mine"
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+"):
            Foreign() + x
        for data in ([1], None, "1", (1,)):
            with pytest.raises(TypeError, match="operands are arrays and Python scalars"):
                x + data
            with pytest.raises(TypeError, match="operands are arrays and Python scalars"):
                data - x
        assert (x + Real(1)).dtype is dt.float64  # of which NumPy 2 makes an array
        with pa.policy("torch"):
            assert (x + Real(1)).dtype is dt.float32  # as a float
        assert isinstance(np.float64(1) + x, pa.PArray)
        assert isinstance(np.ones(4, np.float32) + x, pa.PArray)
    with pytest.raises(TypeError, match="positional argument"):
        pa.PArray.__add__(x)
    with pytest.raises(TypeError, match="positional-only"):
        pa.PArray.__add__(x, other=x)


def test_a_buffer_of_another_library_takes_the_long_way(long_calls: list[str]) -> None:
    class Theirs(np.ndarray): ...

    x = sample(dt.float32, 1)
    theirs = x._wrap(x._buffer.view(Theirs), dt.float32)
    x + x
    long_calls.clear()
    for run in (lambda: theirs + x, lambda: x + theirs, lambda: theirs + 1.5):
        run()
    assert long_calls == ["add"] * 3


def test_what_inspect_and_help_show() -> None:
    method = pa.PArray.__add__
    assert isinstance(method, FastOperator)
    assert (method.__name__, method.__doc__) == ("add", "self + other, under the policy.")
    assert pa.PArray.__rsub__.__doc__ == "other - self, under the policy."
    assert [*inspect.signature(method).parameters] == ["self", "other"]
    assert inspect.isroutine(method)
    x = sample(dt.float32, 1)
    assert [*inspect.signature(x.__add__).parameters] == ["other"]
    assert outcome(lambda: x.__add__(x)) == outcome(lambda: x + x)
    with pytest.raises(TypeError, match="missing required argument"):
        FastOperator()  # type: ignore[call-arg]


def test_copies_and_pickles_are_as_ever() -> None:
    for x in (sample(dt.float32, 1), pa.namespace("torch").asarray([1.5])):
        for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            assert (type(other), other._type) == (type(x), x._type)
            assert other._buffer.tobytes() == x._buffer.tobytes()
    assert pickle.loads(pickle.dumps(pa.PArray)) is pa.PArray
    assert copy.deepcopy(pa.PArray) is pa.PArray
    with pytest.raises(AttributeError):
        sample(dt.float32, 1).note = "there are two slots and no dict"
    with pytest.raises(AttributeError):
        _ = object.__new__(pa.PArray)._buffer
    with pytest.raises(AttributeError):
        object.__new__(pa.PArray) + 1


@pytest.mark.usefixtures("quick_collections")
def test_nothing_is_leaked_and_nothing_freed_too_early() -> None:
    x, y, i = (pa.asarray(np.ones(2, t)) for t in (np.float32, np.float32, np.int8))
    long, bad = pa.asarray(np.ones(3, np.float32)), 10**6
    value = 0.1 + 0.2
    w = pa.PArray(1.5, weak_type=True)
    watched = [x, y, i, x._buffer, y._buffer, i._buffer, long, value, bad, dt.float32, pa.PArray]
    watched += [w, w._buffer, w._type, w._buffer.dtype]
    watched += [pa.get_policy(), None, pa.PArray.__add__, np.add, np.ndarray]

    def work(times: int) -> None:
        for n in range(times):
            _ = x + y, i + y, x + value, value + x, x + float(n), n * 0.5 - x, x < y
            _ = x._wrap(np.asarray(np.float32(1)), dt.float32) + value
            _ = w + w, x + w, w * value, -w, w.astype(dt.int8), w.reshape(1), pa.flip(w.reshape(1))
            for run in (lambda: x + long, lambda: i + bad, lambda: x + None):
                try:
                    run()
                except (ValueError, OverflowError, TypeError):
                    continue
                raise AssertionError("must fail")

    work(3000)  # until all caches are full
    gc.collect()
    counts, blocks = [sys.getrefcount(o) for o in watched], sys.getallocatedblocks()
    work(1000)
    gc.collect()
    grown = [sys.getrefcount(o) - c for o, c in zip(watched, counts, strict=True)]
    assert all(abs(g) < 50 for g in grown), grown  # a leak would count a thousand
    assert sys.getallocatedblocks() - blocks < 500


def test_memory_that_operands_are_cast_to_is_used_again_and_never_seen():
    shapes = [(3,), (3,), (), (2, 2), (3,), (300,), (3,)]
    made, wanted = [], []
    for i, shape in enumerate(shapes * 3):
        x = np.full(shape, i + 1, np.float16)
        z = np.full(shape, 2 + i * 1j, np.complex64)
        made.append(pa.asarray(x) * pa.asarray(z))
        wanted.append(x.astype(np.complex64) * z)
    for got, want in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


def test_an_operation_inside_of_an_operation_has_memory_of_its_own():
    x, z = pa.asarray([1.0, 0.0], dtype=pa.float16), pa.asarray([2j, 0j], dtype=pa.complex64)
    heard = []

    def again(*_: object) -> None:
        if len(heard) < 3:
            heard.append(None)
            heard[-1] = (z + 1) / (x * 5 + 7)

    with np.errstate(all="call", call=again):
        made = [z / x for _ in range(3)]
    assert len(heard) == 3
    for got in made:
        assert got[0] == 2j
        assert np.isnan(np.asarray(got)[1])
    for got in heard:
        np.testing.assert_allclose(np.asarray(got), [(1 + 2j) / 12, 1 / 7], rtol=1e-3)


@pytest.mark.parametrize("policy", ["torch", "jax"])
@pytest.mark.parametrize("dtype", [pa.float16, pa.bfloat16, pa.float32, pa.float64], ids=str)
def test_reciprocals_are_rounded_as_in_two_steps(policy, dtype):
    with pa.policy(policy):
        x = pa.astype(pa.linspace(-9, 9, 300, dtype=pa.float64), dtype)
        one, three = pa.asarray(1, dtype=dtype), pa.asarray(3, dtype=dtype)
        for _ in range(2):
            if policy == "torch":
                got, want = 3.0 / x, pa.reciprocal(x) * 3.0
            else:
                got = x / three
                spread = dtype is not pa.bfloat16  # which is divided in float32
                want = x * (one / three) if spread else x / pa.full_like(x, 3.0)
            assert pa.all(got == want)
