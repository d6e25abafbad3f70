"""Ufuncs in parts: the same bits wherever a part begins, and what NumPy tells, told once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.backends.numpy import parts
from promoarray.backends.numpy.kernels import OF_UFUNC

UFUNCS = {name: ufunc for ufunc, name in OF_UFUNC.items()}


@pytest.fixture(autouse=True)
def _enough_threads() -> Iterator[None]:
    before = pa.get_num_threads()
    pa.set_num_threads(parts.ENOUGH)
    yield
    pa.set_num_threads(before)


@pytest.fixture
def _short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of odd lengths, though operands are short."""
    monkeypatch.setattr(parts, "LONG", 100)
    monkeypatch.setattr(parts, "PART", 37)


def numbers(random: np.random.Generator, storage: str, size: int) -> Any:
    """Bits of all kinds beside numbers that are common."""
    dtype = np.dtype(storage)
    common = (random.standard_normal(size) * 20).astype(dtype)
    if storage == "?":
        return common
    some = random.integers(0, 256, size * dtype.itemsize, np.uint8).view(dtype)
    return np.where(random.random(size) < 0.5, some, common)


@pytest.mark.usefixtures("_short_parts")
@pytest.mark.parametrize("name", UFUNCS)
def test_no_element_depends_on_where_a_part_begins(name: str) -> None:
    ufunc, random = UFUNCS[name], np.random.default_rng(len(name))
    compared = 0
    for storage in "?bBhHiIqQefdFD":
        given = [numbers(random, storage, 1001)[1:] for _ in range(ufunc.nin)]
        with np.errstate(all="ignore"):
            try:
                whole = ufunc(*given)
            except (TypeError, ValueError):  # no loop, or an integer to a negative power
                continue
            made = parts.run(ufunc, *given)
        if ufunc.signature is None and ufunc.nout == 1:
            assert made is not None
            assert (made.dtype, made.tobytes()) == (whole.dtype, whole.tobytes()), storage
            compared += 1
    assert compared or ufunc.signature is not None or ufunc.nout > 1


def test_layouts_are_numpy_s() -> None:
    x = np.arange(1_200_000, dtype=np.float32).reshape(1000, 1200)
    scalar = np.asarray(2.0, np.float32)
    row, column, wide = x[0], x[:, :1], np.repeat(x, 2, 1)
    for a, b in ((x, x), (x.T, x.T), (x, scalar), (x, row), (column, x), (wide[:, ::2], x)):
        made, whole = parts.run(np.subtract, a, b), a - b
        assert made is not None
        assert made.strides == whole.strides
        assert np.array_equal(made, whole)
    for a, b in ((x[:, ::-1], x), (x[:1000, :1000], x.T[:1000]), (x, x.astype(">f4")), (row, row)):
        assert parts.run(np.subtract, a, b) is None


@pytest.mark.parametrize("storage", ["f", "d", "e", "F"])
def test_floats_that_lie_as_the_result_wait_for_no_lock(
    storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "LONG", 100)
    monkeypatch.setattr(parts, "PART", 64)  # a few vectors, on whose ends hangs one of two NaN
    monkeypatch.setattr(parts, "in_parts", None)  # in which Python begins each part
    pa.set_num_threads(2)
    random, shape = np.random.default_rng(11), (29, 31)
    compared = 0
    for name, ufunc in UFUNCS.items():
        if (
            ufunc.signature
            or ufunc.nout > 1
            or not any(t.startswith(storage * ufunc.nin + "-") for t in ufunc.types)
        ):
            continue
        x, y = (numbers(random, storage, 29 * 31).reshape(shape) for _ in range(2))
        one = np.asarray(2.5, storage)
        layouts = [(x, y), (x.T, y.T), (x, one), (one, x)] if ufunc.nin == 2 else [(x,), (x.T,)]
        for given in layouts:
            with np.errstate(all="ignore"):
                made, whole = parts.run(ufunc, *given), ufunc(*given)
            assert made is not None, name
            assert (made.dtype, made.strides) == (whole.dtype, whole.strides), name
            assert made.tobytes("A") == whole.tobytes("A"), name
            compared += 1
    assert compared > 40


def test_two_threads_take_what_is_worth_it_beside_memory() -> None:
    assert {*UFUNCS} > parts.WAITS_FOR_MEMORY
    pa.set_num_threads(2)
    few, many = np.ones(parts.LONG, np.int8), np.ones(4 * parts.LONG, np.int8)
    assert parts.run(np.add, few, few) is None
    assert np.array_equal(parts.run(np.add, many, many), many + many)
    gaps = np.ones((1000, 2000), np.float32)[:, ::2]  # a part of which Python begins
    assert parts.run(np.subtract, gaps, gaps) is None
    assert parts.run(np.exp, gaps) is not None
    pa.set_num_threads(parts.ENOUGH)
    assert np.array_equal(parts.run(np.subtract, gaps, gaps), gaps - gaps)


def test_loops_that_may_raise_errors_of_python_stay_with_it() -> None:
    assert parts._inner_loop(np.power, (np.dtype("i4"),) * 2) is None
    x, y = np.full(parts.LONG, 2, np.int32), np.full(parts.LONG, -1, np.int32)
    with pytest.raises(ValueError, match="negative integer powers"):
        parts.run(np.power, x, y)


WAYS = {
    "add": (np.add, lambda x: x + x),
    "exp": (np.exp, pa.exp),
    "bfloat16": (np.exp, lambda x: pa.exp(x.astype(pa.bfloat16))),
}


@pytest.mark.parametrize("way", WAYS)
def test_exceptions_of_floats_are_told_once_and_in_the_way_that_is_asked_for(way: str) -> None:
    _, function = WAYS[way]
    values = np.full(1_100_000, 3e38, np.float32)
    x, calm = pa.asarray(values), pa.asarray(np.zeros_like(values))
    heard: list[Any] = []
    for _ in range(2):  # by the dispatcher, and by the fast path
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            function(x)
            function(calm)
        assert {str(w.message).split(" ")[0] for w in told} == {"overflow"}
        if way != "bfloat16":  # whose blocks are told of one by one
            assert len(told) == 1
        with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
            function(x)
        with np.errstate(over="ignore"):
            function(x)
        heard.clear()
        with np.errstate(over="call", call=lambda *given: heard.append(given)):
            function(x)
        assert {kind for kind, _ in heard} == {"overflow"}


def test_a_warning_is_at_the_user_s_line() -> None:
    x = pa.asarray(np.full(1_100_000, 3e38, np.float32))
    with np.errstate(over="ignore"):
        x + x  # so that the fast path knows it
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        x + x
    assert [(w.filename, str(w.message)) for w in told] == [
        (__file__, "overflow encountered in add")
    ]


def test_operations_and_casts_have_the_same_bits_on_any_number_of_threads() -> None:
    random = np.random.default_rng(7)
    size = parts.LONG + 12_345
    x = pa.asarray(numbers(random, "f", size))
    b, i = (pa.asarray(numbers(random, s, size)) for s in "fb")
    b = b.astype(pa.bfloat16)
    work = {
        "add": lambda: x + x,
        "mixed": lambda: b + x,
        "low": lambda: b * b,
        "compare": lambda: b < b * 2,
        "scalar": lambda: x * 2.5,
        "exp": lambda: pa.exp(x),
        "low exp": lambda: pa.exp(b),
        "widen": lambda: i.astype(pa.float32),
        "narrow": lambda: x.astype(pa.float8_e5m2),
    }
    with np.errstate(all="ignore"):
        for name, function in work.items():
            made = set()
            for threads in (1, 2, 5):
                pa.set_num_threads(threads)
                made.add(np.asarray(function()._buffer).tobytes())
            assert len(made) == 1, name


@pytest.mark.usefixtures("_short_parts")
@pytest.mark.parametrize("storage", ["f", "d", "F", "D"])
@pytest.mark.parametrize(
    "shapes", [((403, 3), (3,)), ((403, 3), (403, 1)), ((61, 101), (101,)), ((203, 17), (1, 17))]
)
def test_which_of_two_nan_comes_out_hangs_on_no_number_of_threads(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], storage: str
) -> None:
    random, dtype = np.random.default_rng(3), np.dtype(storage)
    bits = np.uint32 if dtype.char in "fF" else np.uint64
    some = np.array([[0x7FC00001, 0xFFC00002], [0x7FF8 << 48 | 1, 0xFFF8 << 48 | 2]], np.uint64)
    nans = some[int(bits is np.uint64)].astype(bits).view(dtype.char.lower())

    def holding(shape: tuple[int, ...]) -> Any:
        x = random.choice([*nans, 1.5], (*shape, dtype.itemsize // nans.itemsize))
        return x.astype(nans.dtype).view(dtype)[..., 0]

    a, b = map(holding, shapes)
    for name in ("add", "multiply"):
        for one, other in ((a, b), (b, a)):
            with np.errstate(all="ignore"):
                made, whole = parts.run(UFUNCS[name], one, other), UFUNCS[name](one, other)
            assert made is None or made.tobytes() == whole.tobytes(), name
            with np.errstate(all="ignore"):  # of one NaN, several threads
                calm = np.nan_to_num(other, posinf=1, neginf=1, nan=1)
                made, whole = parts.run(UFUNCS[name], one, calm), UFUNCS[name](one, calm)
            assert made is None or made.tobytes() == whole.tobytes(), name
            if dtype.kind == "f" and calm.size < one.size:
                assert made is not None


BITS = {"f4": [0x7FC00001, 0xFFC00002, 0x7F800003], "f8": [0x7FF8 << 48 | 1, 0xFFF8 << 48 | 2]}


def with_nans(x: Any, seed: int) -> Any:
    """The same with NaN of several payloads here and there."""
    if x.dtype.kind != "f":
        return x
    storage = x.dtype.str[1:]
    random = np.random.default_rng(seed)
    nans = np.array(BITS[storage], storage.replace("f", "u")).view(storage)
    x.reshape(-1)[random.integers(0, x.size, 9)] = random.choice(nans, 9)
    return x


@pytest.mark.parametrize("nans", [(), (0,), (1,), (0, 1)])
@pytest.mark.parametrize("storage", ["f4", "f8", "i1", "u2", "i4"])
def test_rows_that_lie_in_columns_have_numpys_bits(storage: str, nans: tuple[int, ...]) -> None:
    random = np.random.default_rng(len(nans))
    x, y = (numbers(random, storage, 257 * 515).reshape(257, 515) for _ in range(2))
    if storage[0] == "f":
        x, y = np.nan_to_num(x), np.nan_to_num(y)
    x, y = (with_nans(each, i) if i in nans else each for i, each in enumerate((x, y)))
    y = np.asfortranarray(y)
    ways = 0
    for name in parts.ONE_ANSWER:
        ufunc = UFUNCS[name]
        for a, b in ((x, y), (y, x)):
            with np.errstate(all="ignore"):
                made, whole = parts._by_panels(ufunc, a, b), ufunc(a, b)
            if made is not None:
                assert (made.dtype, made.strides) == (whole.dtype, whole.strides)
                assert made.tobytes() == whole.tobytes(), name
                ways += 1
    assert ways >= (12 if nans else 16)


@pytest.mark.parametrize("shape", [(129, 1), (1, 1030), (1030,)])
@pytest.mark.parametrize("name", sorted(parts.ONE_ANSWER))
def test_rows_that_are_repeated_have_numpys_bits(name: str, shape: tuple[int, ...]) -> None:
    pa.set_num_threads(1)
    random, ufunc = np.random.default_rng(5), UFUNCS[name]
    x, less = (numbers(random, "f4", 129 * 1030).reshape(129, 1030) for _ in range(2))
    less = less[tuple(slice(n) for n in shape)] if len(shape) > 1 else less[0]
    less = less.copy()
    assert x.size >= parts.SOME > less.size
    tried = 0
    for given in (less, np.nan_to_num(less)):
        for a, b in ((x, given), (given, x)):
            with np.errstate(all="ignore"):
                made, whole = parts.run(ufunc, a, b), ufunc(a, b)
            if made is not None:
                assert (made.dtype, made.strides) == (whole.dtype, whole.strides)
                assert made.tobytes() == whole.tobytes()
                tried += 1
    assert tried >= 2
    assert np.getbufsize() == 8192


@pytest.mark.parametrize("way", ["columns", "repeated"])
def test_numpy_tells_where_the_program_divides(way: str) -> None:
    pa.set_num_threads(1)
    x, y = np.ones((300, 600), np.float32), np.zeros((600, 300), np.float32).T
    a, b = pa.asarray(x), pa.asarray(y if way == "columns" else y[:, :1].copy())
    a / a  # from the second time on no frame of ours stands between
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = a / b
    assert np.isinf(np.asarray(made)).all()
    assert [(str(each.message), each.filename) for each in told] == [
        ("divide by zero encountered in divide", __file__)
    ]
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        a / b
