"""Operations by a table of all codes: the bits and the exceptions of the operation itself."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import code_tables
from promoarray.backends.numpy.blocks import LONG, BlockPlan
from promoarray.backends.numpy.kernels import is_elementwise
from promoarray.operations import OPERATIONS
from promoarray.policies import as_policy

RNG = np.random.default_rng(3)
NAMES = sorted(
    name
    for name, operation in OPERATIONS.items()
    if is_elementwise(name) and operation.arity == 1 and hasattr(pa, name)
)
NARROW = [
    d
    for d in dt.CONCRETE
    if d.kind in (dt.Kind.FLOAT, dt.Kind.INT, dt.Kind.UINT, dt.Kind.BOOL) and d.bits <= 16
]


def every_code(dtype: dt.DType) -> pa.PArray:
    """All codes, in no order, some often."""
    storage, bits = dtype.storage, dtype.bits
    codes = np.arange(LONG if bits <= 8 else 1 << 16) & ((1 << bits) - 1)
    if dtype.kind is dt.Kind.INT:
        codes -= (codes >> bits - 1) << bits
        return pa.asarray(RNG.permutation(codes).astype(storage), dtype=dtype)
    words = RNG.permutation(codes).astype(f"u{storage.itemsize}")
    return pa.asarray(words.view(storage), dtype=dtype)


def paying(monkeypatch: pytest.MonkeyPatch, elements: int) -> None:
    """Make tables once so many elements have come."""
    monkeypatch.setattr(code_tables, "PAYS", {1: elements, 2: elements})


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many elements were looked up, each time."""
    found: list[int] = []
    look_up = code_tables.look_up

    def listen(x: Any, out: Any, table: Any, heeded: int) -> int:
        found.append(x.size)
        return look_up(x, out, table, heeded)

    monkeypatch.setattr(code_tables, "look_up", listen)
    return found


def result(policy: pa.Policy, name: str, x: pa.PArray, state: Any) -> tuple[Any, set[str]]:
    """The words of a result, and what was heard of it."""
    heard: set[str] = set()
    with pa.policy(policy), np.errstate(all=state, call=lambda kind, _: heard.add(kind)):
        buffer = getattr(pa, name)(x)._buffer
    return buffer.view(f"u{buffer.itemsize}"), heard


@pytest.mark.parametrize(
    "base",
    ["numpy", *(pytest.param(n, marks=pytest.mark.slow) for n in ("jax", "torch", "paddle@3.3"))],
)
def test_every_code_has_the_bits_and_the_exceptions_of_the_operation(
    base: str, monkeypatch: pytest.MonkeyPatch, tables: list[int]
) -> None:
    # Policies of their own have no executables yet.
    usual, tabulated = (as_policy(base).derive(f"{base} {number}") for number in (1, 2))
    differing = []
    operands = [every_code(dtype) for dtype in NARROW]
    for x, name in product(operands, NAMES):
        for state in ("ignore", "call"):
            try:
                paying(monkeypatch, 1 << 60)
                expected, told = result(usual, name, x, state)
            except TypeError:  # the policy refuses it
                break
            paying(monkeypatch, 0)
            found, heard = result(tabulated, name, x, state)
            if heard != told or not np.array_equal(found, expected):
                places = np.flatnonzero(found != expected)[:3]
                differing.append((name, x.dtype.name, state, heard ^ told, places))
    assert not differing
    assert len(tables) > 100


LAYOUTS = {
    "strided": lambda x: x[::2],
    "reversed": lambda x: x[::-1],
    "columns": lambda x: x.reshape(-1, 512).T,
    "some columns": lambda x: x.reshape(-1, 512)[:, 5:300],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_may_lie_in_any_way(
    layout: str, monkeypatch: pytest.MonkeyPatch, tables: list[int]
) -> None:
    paying(monkeypatch, 0)
    with pa.policy(as_policy("numpy").derive("mine")):
        x = LAYOUTS[layout](pa.asarray(np.tile(RNG.normal(size=4096), 64), dtype=pa.bfloat16))
        found = pa.exp(x)
        rows = pa.exp(pa.asarray(x, copy=True))
    assert tables
    assert np.array_equal(np.asarray(found), np.asarray(rows))


@pytest.mark.parametrize("special", [0.0, -0.0, np.inf, -np.inf, np.nan])
def test_common_codes_are_looked_up_though_their_neighbours_raise(
    special: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    paying(monkeypatch, 0)
    x = pa.full(LONG, special, dtype=pa.float16)
    with pa.policy(as_policy("numpy").derive("mine")), np.errstate(all="raise"):
        pa.exp(x)
        monkeypatch.setattr(BlockPlan, "run", None)
        assert pa.all(pa.isnan(pa.exp(x)) if special != special else pa.exp(x) == np.exp(special))


def test_what_numpy_tells_is_told_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    paying(monkeypatch, 0)
    x = pa.asarray([1.0, 0.0] * LONG, dtype=pa.bfloat16)
    with pa.policy(as_policy("numpy").derive("mine")):
        for _ in range(2):
            with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
                pa.log(x)
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            pa.log(x)


def test_threads_look_up_the_same(monkeypatch: pytest.MonkeyPatch, tables: list[int]) -> None:
    paying(monkeypatch, 0)
    x = pa.asarray(RNG.normal(size=1_000_003), dtype=pa.bfloat16)
    before = pa.get_num_threads()
    with pa.policy(as_policy("numpy").derive("mine")):
        try:
            pa.set_num_threads(3)
            found = pa.exp(x)
            pa.set_num_threads(1)
            assert np.array_equal(np.asarray(found), np.asarray(pa.exp(x)))
        finally:
            pa.set_num_threads(before)
    assert tables == [x.size] * 2


@pytest.mark.parametrize("word", ["u1", "u2"])
def test_exceptions_are_those_of_the_codes_between_those_that_were_met(word: str) -> None:
    codes = 1 << 8 * np.dtype(word).itemsize
    raised = np.where(RNG.random(codes) < 0.1, RNG.integers(1, 16, codes), 0).astype(np.uint8)
    raised[: codes // 4] = 0
    table = RNG.integers(0, 1 << 16, codes).astype(np.uint16)
    met = set()
    for n, heeded in product((1, 2, 3, 5000), (0, 4, 15)):
        for _ in range(20):
            first = RNG.integers(0, codes)
            x = (first + RNG.integers(0, RNG.integers(1, codes), n)).astype(word)
            out = np.empty(n, np.uint16)
            found = kernels.look_up(x, out, table, raised, heeded)
            halves = [part for part in (x[x < codes // 2], x[x >= codes // 2]) if part.size]
            near = [raised[part.min() : int(part.max()) + 1] for part in halves]
            assert found == np.bitwise_or.reduce(np.concatenate(near)) & heeded
            assert np.array_equal(out, table[x])
            met.add(bool(found))
    assert met == {True, False}


@pytest.mark.parametrize("word", ["u1", "u2"])
@pytest.mark.parametrize("n", [0, 1, 100, 1_000_003])
def test_codes_are_marked_that_were_met(word: str, n: int) -> None:
    codes = 1 << 8 * np.dtype(word).itemsize
    x = (RNG.normal(codes / 2, codes / 10, n).clip(0, codes - 1)).astype(word)
    met = np.zeros(codes, np.uint8)
    met[3] = 1  # what was met before stays
    kernels.mark_codes(x, met)
    assert np.array_equal(np.flatnonzero(met), np.unique([*x, 3]))


def test_marks_are_refused_where_there_is_no_place_for_a_code() -> None:
    with pytest.raises(ValueError, match="met must be 65536 integers of 8 bits"):
        kernels.mark_codes(np.zeros(3, "u2"), np.zeros(256, "u1"))
    with pytest.raises(ValueError, match=r"source .* more than 16 bits"):
        kernels.mark_codes(np.zeros(3, "u4"), np.zeros(65536, "u1"))


BYTES, WORDS = np.zeros(256, "u1"), np.zeros(65536, "u2")


@pytest.mark.parametrize(
    ("source", "result", "table", "raised", "said"),
    [
        (np.zeros(3, "f4"), np.zeros(3, "u2"), WORDS, BYTES, "source .* more than 16 bits"),
        (np.zeros(3, "u1"), np.zeros(3, "c16"), BYTES, BYTES, "result .* more than 64 bits"),
        (np.zeros(3, "u2"), np.zeros(3, "u2"), WORDS[:256], BYTES, "table .* 65536 .* 16 bits"),
        (np.zeros(3, "u1"), np.zeros(3, "f4"), BYTES, BYTES, "table .* 256 integers of 32 bits"),
        (np.zeros(3, "u1"), np.zeros(3, "u1"), BYTES, WORDS, "raised .* 256 integers of 8 bits"),
        (np.zeros(3, "u1"), np.zeros(4, "u1"), BYTES, BYTES, "result has 4 elements"),
        (np.zeros(3, ">u2"), np.zeros(3, "u2"), WORDS, BYTES, "native byte order"),
    ],
)
def test_the_kernel_refuses_what_it_cannot_look_up(
    source: Any, result: Any, table: Any, raised: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        kernels.look_up(source, result, table, raised, 15)
