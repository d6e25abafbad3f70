"""Reductions and running sums of long buffers in one pass: NumPy's bits, and no memory beside."""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from sampled import sampled

import promoarray as pa
from promoarray import kernels
from promoarray.backends.numpy import folds, positions
from promoarray.backends.numpy.short_folds import LONGEST
from promoarray.dtypes import Kind
from promoarray.kernels import DEFAULT, dtype_args
from promoarray.policies import as_policy

REDUCED = ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all"]
FOUND = ["argmax", "argmin"]
RUNNING = ["cumulative_sum", "cumulative_prod"]
DTYPES = [
    *(pa.float32, pa.float64, pa.bfloat16, pa.float16, pa.float8_e4m3fn, pa.float8_e8m0fnu),
    *(pa.int8, pa.uint16, pa.int32, pa.int64, pa.bool, pa.int4),
    *(pa.complex32, pa.complex64, pa.complex128),
]
# Around eight, 128, the pieces that are cast at a time, and what lies in rows and columns.
SHAPES = [(1,), (7,), (129,), (5001,), (3, 2049), (2049, 3), (9, 300), (4, 5, 70), (2, 517, 2)]


@pytest.fixture(params=kernels.levels())
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    before = kernels.use_level(request.param)
    yield request.param
    kernels.use_level(before)


def numbers(dtype: pa.DType, shape: tuple[int, ...], way: str) -> pa.PArray:
    if dtype.kind is Kind.COMPLEX:
        parts = numbers(dtype.part, (*shape, 2), way)._buffer
        return pa.PArray._wrap(parts.view(dtype.storage)[..., 0], dtype)
    random = np.random.default_rng(len(shape) * 7 + shape[0])
    plain = random.standard_normal(shape) + (0 if dtype.name.startswith("u") else 0.25)
    if way == "zeros":
        plain = np.where(plain > 0, 0.0, -0.0)
    if way == "below zero":
        plain = np.minimum(plain, -0.0)
    for place, special in enumerate(SPECIAL.get(way, ())):
        plain.flat[place * (plain.size - 1) // 3] = special
    if "float" not in dtype.name:
        plain = np.abs(plain * 40)
    with pa.policy("torch"), np.errstate(invalid="ignore"):
        made = pa.astype(pa.asarray(plain), dtype)
    if way == "signalling":
        made._buffer.view(f"u{dtype.storage.itemsize}").flat[0] = dtype.format.inf + 1
    return made


SPECIAL: dict[str, tuple[float, ...]] = {
    "two NaN": (np.nan, 1, -np.nan),
    "one NaN": (np.nan, np.nan),
    "a NaN with a sign": (1, -np.nan),
    "infinities": (np.inf, 2, -np.inf),
    "an infinity": (1, 2, -np.inf),
    "infinities and a NaN": (np.inf, np.nan, -np.inf),
    "infinities and a NaN with a sign": (np.inf, -np.nan, -np.inf),
    "a zero and an infinity": (0, 1, np.inf),
    "large": (1e300, 1e300, 1e300, -1e300),
}
"""What stands among ordinary numbers: x86 makes a NaN with a sign of infinities."""


def told(name: str, x: pa.PArray, options: dict[str, Any]) -> tuple[Any, ...]:
    """Dtype, shape, bits and warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = getattr(pa, name)(x, **options)
    held = np.array(made._buffer, order="C")
    return made.dtype, made.shape, held.tobytes(), [str(w.message) for w in seen]


def asked(name: str, ndim: int) -> list[dict[str, Any]]:
    if name in FOUND:
        return [{"axis": axis, "keepdims": axis == 0} for axis in (None, *range(ndim))]
    if name in RUNNING:
        return [{"axis": a, "include_initial": bool(a % 2)} for a in range(ndim)]
    axes: list[Any] = [None, *range(ndim), *([(0, 1)] if ndim > 1 else [])]
    return [{"axis": axis, "keepdims": axis == -1} for axis in axes]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_bits_are_those_of_numpys_loops(
    dtype: pa.DType, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = ["plain"]
    if dtype.kind in (Kind.FLOAT, Kind.COMPLEX):
        ways += ["zeros", "below zero", *SPECIAL]
    if dtype in (*SHORT, pa.float64):
        ways += ["signalling"]
    monkeypatch.setattr(positions, "PIECE", 700)
    differ = []
    # The levels and the dtypes take turns: what a shape or a special number does hangs on neither.
    for shape, way in sampled(product(SHAPES, ways), 4, level + DTYPES.index(dtype)):
        x = numbers(dtype, shape, way)
        for name in REDUCED + FOUND + RUNNING:
            for options in asked(name, len(shape)):
                monkeypatch.setattr(folds, "LONG", 1)
                monkeypatch.setattr(positions, "LONG", 1)
                found = told(name, x, options)
                monkeypatch.setattr(folds, "LONG", 1 << 60)
                monkeypatch.setattr(positions, "LONG", 1 << 60)
                if found != told(name, x, options):
                    differ.append((name, shape, way, options))
    assert not differ


LAYOUTS = {
    "Fortran": np.asfortranarray,
    "turned": lambda x: x.transpose(1, 2, 0),
    "with steps": lambda x: np.repeat(x, 2, axis=2)[:, ::-1, ::2],
    "backwards": lambda x: x[::-1, :, ::-1],
    "spread": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "in rows": lambda x: x,
}
APART: list[Any] = [(0, 2), (2, 0), (1, 2), (0,), 1, -1, None]


def lies(name: str, x: pa.PArray, options: dict[str, Any]) -> tuple[Any, ...]:
    """What is told of a result, and the order of its axes in memory."""
    made = getattr(pa, name)(x, **options)._buffer
    strides = [s for s, n in zip(made.strides, made.shape, strict=True) if n > 1]
    return *told(name, x, options), strides


def in_which(dtype: pa.DType) -> pa.DType:
    """What the sums of a dtype are computed in."""
    wider = {pa.bfloat16: pa.float32, pa.float16: pa.float32, pa.complex32: pa.complex64}
    return wider.get(dtype, dtype)


def folded(name: str, x: Any, dtype: pa.DType, lines: tuple[int, int, int]) -> Any:
    """``kernels.fold`` of lines, read as they are."""
    computed = in_which(dtype)
    rows = dtype_args(dtype), dtype_args(computed), dtype_args(computed)
    out = np.empty(lines[0] * lines[2], computed.storage)
    told = kernels.fold(name, x, out, lines, rows, (DEFAULT, DEFAULT), None, False)
    return None if told & kernels.NOT_TOLD else out


SHORT = [pa.float32, pa.bfloat16, pa.float16]


@pytest.mark.parametrize(
    "dtype", [*SHORT, pa.float64, pa.complex32, pa.complex64, pa.complex128], ids=str
)
def test_leaves_of_every_length_are_added_up_as_numpy_does(dtype: pa.DType, level: int) -> None:
    given = numbers(dtype, (2 * 2000,), "plain")
    with pa.policy("torch"):
        x, wide = given._buffer, pa.astype(given, in_which(dtype))._buffer
    for n in range(1, 2000, 1 if dtype in (pa.float32, pa.bfloat16) else 7):
        wanted = wide[: 2 * n].reshape(2, n).sum(axis=1)
        assert np.array_equal(folded("sum", x[: 2 * n], dtype, (2, n, 1)), wanted), n


@pytest.mark.parametrize("way", ["plain", "zeros", "below zero"])
@pytest.mark.parametrize("dtype", [*SHORT, pa.float64, pa.complex64], ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_rows_beside_each_other_are_folded_as_one_is(
    name: str, dtype: pa.DType, way: str, level: int
) -> None:
    if dtype is pa.complex64 and name != "sum":
        return
    given = numbers(dtype, (23 * 300,), way)
    with pa.policy("torch"), np.errstate(all="ignore"):
        x, wide = given._buffer, pa.astype(given, in_which(dtype))._buffer
        for n in (*range(1, 70), 99, 128, 129, 131, 256, 257, 300):
            reduce = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[
                name
            ]
            wanted = reduce.reduce(wide[: 23 * n].reshape(23, n), axis=1)
            found = folded(name, x[: 23 * n], dtype, (23, n, 1))
            if found is None:  # a zero is the extreme, and there are zeros of both signs
                assert name in ("max", "min")
                assert (wanted == 0).any(), n
                continue
            assert found.tobytes() == wanted.tobytes(), n


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, 1e-45])
def test_what_is_no_normal_number_is_added_wherever_it_stands(special: float, level: int) -> None:
    plain = numbers(pa.float32, (3, 1100), "plain")._buffer
    for place in range(0, 1100, 37):
        x = plain * (1e-45 if special == 1e-45 else 1)
        x[1, place] = special
        for n in (1, 3, 4, 12, 50, 1100):
            rows = x.reshape(-1, n)
            found, wanted = folded("sum", rows, pa.float32, (len(rows), n, 1)), rows.sum(axis=1)
            assert found is not None, (place, n)
            assert found.tobytes() == wanted.tobytes(), (place, n)


@pytest.mark.parametrize("dtype", [pa.float32, pa.float64], ids=str)
@pytest.mark.parametrize(
    "shape", [(2_200_001,), (3, 750_003), (2100, 1024), (2100, 1025), (16_000, 133)]
)
def test_what_no_cache_holds_is_added_as_numpy_does(
    dtype: pa.DType, shape: tuple[int, ...], level: int
) -> None:
    count = int(np.prod(shape))
    held = np.random.default_rng(count).standard_normal(count + 3).astype(dtype.storage)
    for start in (0, 1, 3):  # elements lie wherever
        x = held[start : start + count].reshape(shape)
        for axis in (None, -1, 0):
            found = pa.sum(pa.asarray(x), axis=axis)._buffer
            assert found.tobytes() == np.add.reduce(x, axis=axis).tobytes(), (start, axis)


@pytest.mark.parametrize("value", [-0.0, np.inf, 1e-45])
def test_leaves_that_lie_far_have_nothing_of_others(value: float, level: int) -> None:
    held = np.full((2200, 1024), -0.0, np.float32)
    held[::2, ::128] = held[::2, 127::128] = value  # what a leaf begins and ends with
    for start in range(9):
        x = held.ravel()[start : start + 2199 * 1024].reshape(2199, 1024)
        found = folded("sum", x, pa.float32, (2199, 1024, 1))
        assert found.tobytes() == np.add.reduce(x, axis=1).tobytes(), start


@pytest.mark.parametrize("dtype", [*SHORT, pa.float64, pa.int8, pa.int32], ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_few_columns_are_folded_as_numpy_does(name: str, dtype: pa.DType, level: int) -> None:
    ufuncs = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
    given = numbers(dtype, (17 * 900,), "plain")
    with pa.policy("torch"), np.errstate(all="ignore"):
        x, wide = given._buffer, pa.astype(given, in_which(dtype))._buffer
        for width in (*range(2, 18), 31, 200):
            for n in (1, 3, 8, 33, 100, 128, 900):
                count = min(n, 17 * 900 // width)
                rows = wide[: count * width].reshape(count, width)
                wanted = ufuncs[name].reduce(rows, axis=0, dtype=rows.dtype)
                found = folded(name, x[: count * width], dtype, (1, count, width))
                assert found.tobytes() == wanted.tobytes(), (width, count)


@pytest.mark.parametrize("name", ["max", "min"])
def test_a_nan_among_few_columns_is_seen_wherever_it_stands(name: str, level: int) -> None:
    for dtype in (pa.float32, pa.bfloat16, pa.float16, pa.float64):
        x = np.ones((70, 3), dtype.storage)
        for place in np.ndindex(x.shape):
            x[place] = -np.nan
            assert folded(name, x, dtype, (1, 70, 3)) is None, (dtype, place)
            x[place] = np.nan  # which NumPy answers with too
            found = folded(name, x, dtype, (1, 70, 3))
            if dtype in (pa.float32, pa.float64):
                assert found is None, (dtype, place)
            else:
                assert np.array_equal(found, np.where(np.arange(3) == place[1], np.nan, 1), True)
            x[place] = 1


def test_sums_of_any_length_are_numpys() -> None:
    random = np.random.default_rng(5)
    held = random.standard_normal(1 << 20).astype(np.float32)
    for n in 2 ** random.uniform(10, 20, 200):
        x = held[: int(n)]
        assert pa.sum(pa.asarray(x))._buffer.tobytes() == np.add.reduce(x).tobytes(), int(n)


NARROW = [pa.bool, pa.int8, pa.uint8, pa.int16, pa.uint16, pa.int32, pa.int64]


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_integers_are_folded_in_rows_of_every_length(
    name: str, dtype: pa.DType, level: int
) -> None:
    if dtype is pa.bool and name in ("max", "min"):
        return
    wide = pa.int64 if name in ("sum", "prod") else dtype
    rows = dtype_args(dtype), dtype_args(wide), dtype_args(wide)
    low, high = (0, 1) if dtype is pa.bool else (pa.iinfo(dtype).min, pa.iinfo(dtype).max)
    reduce = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[name]
    random = np.random.default_rng(3)
    for n in (*range(1, 70), 99, 128, 1000, 2049, 8193, 20_000):
        some = random.integers(low, high, (7, n), dtype=np.int64, endpoint=True)
        for given in (some, np.full((7, n), low), np.full((7, n), high)):
            x = given.astype(dtype.storage)
            found = np.empty(7, wide.storage)
            modes = DEFAULT, DEFAULT
            assert kernels.fold(name, x, found, (7, n, 1), rows, modes, None, False) == 0
            wanted = reduce.reduce(x, axis=1, dtype=wide.storage)
            assert np.array_equal(found, wanted), n


@pytest.mark.parametrize("dtype", SHORT[1:], ids=str)
def test_every_code_is_read_as_its_number_wherever_it_stands(dtype: pa.DType, level: int) -> None:
    codes = np.arange(1 << 16, dtype=np.uint16).view(dtype.storage)
    codes = codes[~np.isnan(codes.astype(np.float32))]
    for n in (8, 1024):
        for place in (*range(9), 200, 1023)[: 8 if n == 8 else None]:
            some = codes[:: 1 if n == 8 else 16]
            rows = np.zeros((some.size, n), dtype.storage)
            rows[:, place] = some
            found = folded("sum", rows, dtype, (some.size, n, 1))
            assert np.array_equal(found, some.astype(np.float32)), (n, place)


@pytest.mark.parametrize("dtype", SHORT[1:], ids=str)
def test_truth_hangs_on_one_element(dtype: pa.DType, level: int) -> None:
    rows = dtype_args(dtype), dtype_args(pa.bool), dtype_args(pa.bool)
    for n in (1, 7, 64, 2048, 2049, 5000):
        for place in {0, n // 2, n - 1}:
            for code in (1, 0x8000, 0x8001, 0x7FFF, 0):  # what is true, and two zeros
                for name, others in (("any", 0), ("all", 0x3F80)):
                    x = np.full(n, others, np.uint16)
                    x[place] = code
                    out = np.empty((), np.bool_)
                    lines, modes = (1, n, 1), (DEFAULT, DEFAULT)
                    kernels.fold(name, x.view(dtype.storage), out, lines, rows, modes)
                    wanted = getattr(x & 0x7FFF, name)()
                    assert out == wanted, (name, n, place, code)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", SHORT[1:], ids=str)
def test_every_code_is_ordered_as_its_number(name: str, dtype: pa.DType, level: int) -> None:
    codes = np.arange(1 << 16, dtype=np.uint16).view(dtype.storage)
    codes = np.concatenate([codes[~np.isnan(codes.astype(np.float32))], codes[:1]])
    for other in (1.5, -1.5, np.inf, -np.inf, 2.0**-14, -(2.0**-24)):
        rows = np.stack([codes, np.full_like(codes, other)], axis=1)
        wanted = getattr(rows.astype(np.float32), name)(axis=1)
        found = folded(name, rows[wanted != 0], dtype, (int((wanted != 0).sum()), 2, 1))
        assert found.tobytes() == wanted[wanted != 0].tobytes()
    usual = dtype.format.nan
    for nan in (usual, usual | 0x8000, usual + 1, dtype.format.inf + 1):
        codes[100] = np.uint16(nan).view(dtype.storage)
        found = folded(name, codes, dtype, (1, codes.size, 1))
        if nan == usual:
            assert found.view(np.uint32) == 0x7FC00000
        else:
            assert found is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_bits_are_numpys_whatever_the_layout(
    layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(positions, "PIECE", 700)
    differ = []
    for dtype in (pa.bfloat16, pa.float16, pa.float32, pa.int8, pa.float8_e4m3fn):
        x = pa.asarray(LAYOUTS[layout](numbers(dtype, (6, 7, 290), "plain")._buffer))
        for name in [*REDUCED, *FOUND, *RUNNING, "count_nonzero"]:
            for axis in range(3) if name in RUNNING + FOUND else APART:
                options = {"axis": axis}
                answers = []
                for long in (1, 1 << 60):
                    monkeypatch.setattr(folds, "LONG", long)
                    monkeypatch.setattr(positions, "LONG", long)
                    answers.append(lies(name, x, options))
                if answers[0] != answers[1]:
                    differ.append((name, dtype.name, options))
    assert not differ


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", [*REDUCED, *FOUND, "cumulative_sum", "count_nonzero"])
def test_no_layout_takes_memory_beside_the_result(name: str, layout: str) -> None:
    whole = numbers(pa.bfloat16, (16, 64, 512), "plain")._buffer
    x, run = pa.asarray(LAYOUTS[layout](whole)), getattr(pa, name)
    several = name not in FOUND and not name.startswith("cumulative")
    axis: Any = (0, 2) if several else 0
    run(x, axis=axis)
    tracemalloc.start()
    try:
        made = run(x, axis=axis)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < made._buffer.nbytes + (1 << 20)  # in float32 it is 2 MiB


@pytest.mark.parametrize("name", FOUND)
def test_numpy_looks_for_positions_where_it_is_quick(name: str) -> None:
    """It is asked at once; what lies beside each other goes a piece at a time."""
    policy = as_policy("numpy").derive("positions")
    x = np.arange(24.0).reshape(4, 6).repeat(4096, axis=1)
    with pa.policy(policy):
        getattr(pa, name)(pa.asarray(x))
        kernel = policy.executables[f"{name}()", pa.float64].kernel
        for axis, quick in ((None, True), (1, True), (-1, True), (0, False), (-2, False)):
            assert (kernel(x, axis=axis, keepdims=False) is not None) is quick
            assert (kernel(x.T, axis=axis, keepdims=False) is not None) is False
            assert kernel(x[:, :9].T, axis=axis, keepdims=False) is not None
            for given in (x, x.T):
                found = getattr(pa, name)(pa.asarray(given), axis=axis)
                assert found.tolist() == getattr(given, name)(axis=axis).tolist()


@pytest.mark.parametrize("name", REDUCED + RUNNING)
@pytest.mark.parametrize("dtype", [pa.bfloat16, pa.float8_e4m3fn, pa.int8], ids=str)
def test_it_is_the_way_that_is_taken(
    name: str, dtype: pa.DType, monkeypatch: pytest.MonkeyPatch
) -> None:
    if dtype is pa.int8 and name in ("any", "all"):
        return  # NumPy reads int8 itself
    done, run = [], folds.run

    def counted(*args: Any, **options: Any) -> Any:
        done.append(run(*args, **options))
        return done[-1]

    monkeypatch.setattr(folds, "run", counted)
    x = pa.asarray(np.linspace(0.5, 1.5, LONGEST + 1))  # up to there in C++ at once
    with pa.policy("torch"):
        x = pa.astype(x, dtype)
    with np.errstate(all="ignore"):
        getattr(pa, name)(x)
    assert [made is not None for made in done] == [True]


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", REDUCED + FOUND + RUNNING)
def test_it_takes_no_memory_beside_its_result(name: str, axis: int | None) -> None:
    if axis is None and name in RUNNING:
        return
    x = pa.asarray(np.ones((512, 1024), np.float32), dtype=pa.bfloat16)
    run = getattr(pa, name)
    run(x, axis=axis)
    tracemalloc.start()
    try:
        made = run(x, axis=axis)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < made._buffer.nbytes + (1 << 20)


@pytest.mark.parametrize("how", ["warn", "raise"])
def test_exceptions_are_told_as_numpy_tells_them(how: str) -> None:
    x = pa.asarray(np.full(folds.LONG, 3e38, np.float32))
    with np.errstate(over=how):
        if how == "raise":
            with pytest.raises(FloatingPointError, match="overflow encountered in reduce"):
                pa.sum(x)
        else:
            with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
                assert pa.sum(x) == float("inf")
    with np.errstate(over="ignore"):
        assert pa.sum(x) == float("inf")


ROW = dtype_args(pa.float32)
WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "an unknown name": ("no loop", {"name": "median"}),
    "too few elements": ("has 12 elements", {"shape": (1, 13, 1)}),
    "too many results": ("has 1 elements", {"shape": (2, 6, 1)}),
    "no elements": ("1 or more", {"shape": (1, 0, 1)}),
    "lengths beyond memory": ("1 or more", {"shape": (1 << 40, 1 << 40, 1)}),
    "no center": ("center", {"name": "squares"}),
    "a center of a sum": ("center", {"center": np.zeros(1, np.float32)}),
    "runs of other lengths": ("runs", {"runs": 5}),
    "runs beside each other": ("runs", {"runs": 2, "shape": (1, 6, 2)}),
    "a count in floats": ("64 bits", {"name": "count_nonzero"}),
    "another result": ("computed_row", {"rows": (ROW, ROW, dtype_args(pa.bfloat16))}),
    "a first element of a sum": ("initial", {"initial": True}),
    "a complex row": ("complex", {"rows": (dtype_args(pa.complex64), ROW, ROW)}),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_write_nothing(case: str) -> None:
    words, changed = WRONG[case]
    given: dict[str, Any] = {
        "name": "sum",
        "source": np.ones(12, np.float32),
        "result": np.full(1, -1, np.float32),
        "shape": (1, 12, 1),
        "rows": (ROW, ROW, ROW),
        "modes": (DEFAULT, DEFAULT),
    } | changed
    with pytest.raises(ValueError, match=words):
        kernels.fold(**given)
    assert given["result"] == -1
