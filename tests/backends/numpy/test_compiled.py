"""Plans over NumPy buffers: the bits of casts, NumPy's kernel and a cast, whatever the operands
look like."""

from __future__ import annotations

import operator
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import kernels
from promoarray.backends.numpy.compile import OWN_LOOPS
from promoarray.backends.numpy.kernels import kernel_of
from promoarray.dtypes import DType

NARROW = [pa.bfloat16, pa.float16, pa.float8_e4m3fn, pa.float8_e5m2]
SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    3.0,
    -2.5,
    1e-7,
    6e4,
    1e38,
    -3e38,
    1e-39,
    np.inf,
    -np.inf,
    np.nan,
)


@pytest.fixture(params=kernels.levels(), ids="level {}".format)
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    before = kernels.use_level(request.param)
    yield request.param
    kernels.use_level(before)


def rounded(values: np.ndarray, dtype: DType) -> np.ndarray:
    """Floats in a dtype, and NaN without a payload: which sign it has is nobody's promise."""
    with np.errstate(all="ignore"):
        return values.astype(dtype.storage)


def same(made: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether all bits are the same but those of NaN, which is one in both."""
    if made.dtype.kind == "b":
        return bool((made == wanted).all())
    nan = np.isnan(made.astype(np.float32))
    word = f"u{made.itemsize}"
    alike = np.ascontiguousarray(made).view(word) == np.ascontiguousarray(wanted).view(word)
    return made.dtype == wanted.dtype and bool(
        np.where(nan, np.isnan(wanted.astype(np.float32)), alike).all()
    )


def codes(dtype: DType) -> np.ndarray:
    return np.arange(1 << dtype.bits, dtype=f"u{dtype.bits // 8}").view(dtype.storage)


def by_definition(name: str, *operands: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        made = kernel_of(name, pa.float32)(*(x.astype(np.float32) for x in operands))
        return made if made.dtype == bool else made.astype(operands[0].dtype)


# --- Loops of ours --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [pa.bfloat16, pa.float16], ids=str)
@pytest.mark.parametrize("name", sorted(OWN_LOOPS))
@pytest.mark.filterwarnings("ignore")
def test_each_code_of_16_bits_beside_others(level: int, name: str, dtype: DType) -> None:
    every = codes(dtype)
    rng = np.random.default_rng(7)
    some = rounded(np.array(SPECIAL, np.float32), dtype)
    with pa.policy("torch"), np.errstate(all="ignore"):
        if len(OWN_LOOPS[name][1]) == 1:
            made = getattr(pa, name)(pa.asarray(every))._buffer
            assert same(made, by_definition(name, every))
            return
        for other in (
            every[::-1],
            rng.permutation(every),
            *(np.full(1, each, dtype.storage) for each in some),
        ):
            other = np.broadcast_to(other, every.shape)
            made = getattr(pa, name)(pa.asarray(every), pa.asarray(other.copy()))._buffer
            assert same(made, by_definition(name, every, other))


@pytest.mark.parametrize(
    "name", ["exp", "log", "sqrt", "floor", "sin", "isnan", "square", "reciprocal"]
)
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_each_code_by_one_function(name: str, dtype: DType) -> None:
    every = codes(dtype)
    with pa.policy("numpy"), np.errstate(all="ignore"):
        made = getattr(pa, name)(pa.asarray(every))._buffer
    assert same(made, by_definition(name, every))


# --- Lengths and layouts --------------------------------------------------------------------------

LENGTHS = (0, 1, 2, 31, 33, 511, 513, 1365, 2047, 2049, 4097, 33_000)


def spread(values: np.ndarray) -> dict[str, np.ndarray]:
    """The same values in memory of other kinds."""
    gaps = np.empty((*values.shape[:-1], values.shape[-1] * 3), values.dtype)
    gaps[..., ::3] = values
    one_off = np.empty(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
    one_off[...] = values
    return {
        "in rows": values,
        "in columns": np.asfortranarray(values),
        "with gaps": gaps[..., ::3],
        "backwards": values[..., ::-1].copy()[..., ::-1],
        "not aligned": one_off,
    }


OPERATIONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "one loop of ours": ("bfloat16", operator.add),
    "a ufunc between casts": ("float8_e4m3fn", operator.mul),
    "a traced kernel": ("float16", lambda x, y: pa.extras.poisson_nll_loss(x, y, reduction="none")),
    "a comparison": ("bfloat16", operator.lt),
    "a ufunc": ("float32", operator.truediv),
}


@pytest.mark.parametrize("policy", ["numpy", "jax", "torch"])
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.filterwarnings("ignore")
def test_lengths_and_layouts_do_not_show(name: str, policy: str) -> None:
    dtype, function = OPERATIONS[name]
    storage = getattr(pa, dtype).storage
    rng = np.random.default_rng(3)
    for shape in [(n,) for n in LENGTHS] + [(3, 700), (5, 7, 11), (40, 1030)]:
        first, second = (rounded(rng.standard_normal(shape), getattr(pa, dtype)) for _ in range(2))
        with pa.policy(policy):
            wanted = function(pa.asarray(first), pa.asarray(second))._buffer
            assert wanted.shape == shape
            for x in spread(first).values():
                for y in spread(second).values():
                    made = function(pa.asarray(x, copy=False), pa.asarray(y, copy=False))._buffer
                    assert made.tobytes() == wanted.tobytes()
    assert storage == first.dtype


@pytest.mark.parametrize("policy", ["numpy", "jax"])
@pytest.mark.filterwarnings("ignore")
def test_operands_that_broadcast(policy: str) -> None:
    rng = np.random.default_rng(4)
    shapes = [
        ((), (900,)),
        ((1, 1), (3,)),
        ((40, 1), (1, 600)),
        ((3, 1, 5), (4, 1)),
        ((2000,), (30, 2000)),
        ((0, 1), (1, 4)),
    ]
    for dtype in (pa.bfloat16, pa.float8_e5m2):
        for one, other in shapes:
            x, y = (rounded(rng.standard_normal(shape), dtype) for shape in (one, other))
            with pa.policy(policy):
                made = (pa.asarray(x) - pa.asarray(y))._buffer
            assert made.tobytes() == by_definition("subtract", x, y).tobytes()


@pytest.mark.parametrize("dtype", [pa.bfloat16, pa.float8_e5m2, pa.int4], ids=str)
def test_operands_that_are_one_number_over_and_over(dtype: DType) -> None:
    one = np.array([3], np.float32).astype(dtype.storage)
    for shape in [(4,), (3, 700), (5000,), (0, 3)]:
        many = pa.asarray(np.broadcast_to(one, shape), copy=False, dtype=dtype)
        whole = pa.asarray(np.full(shape, one), dtype=dtype)
        for other in (many, pa.asarray(one, dtype=dtype), pa.asarray(one[0], dtype=dtype)):
            for function in (pa.add, pa.less, pa.multiply):
                made, wanted = function(many, other), function(whole, other)
                assert made._buffer.tobytes() == wanted._buffer.tobytes()
        assert pa.square(many)._buffer.tobytes() == pa.square(whole)._buffer.tobytes()


@pytest.mark.parametrize("shape", [(1_200_000,), (1300, 1000)])
@pytest.mark.filterwarnings("ignore")
def test_threads_do_not_show(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    x, y = (rounded(rng.standard_normal(shape), pa.bfloat16) for _ in range(2))
    before, made = pa.get_num_threads(), set()
    try:
        for count in (1, 2, 5):
            pa.set_num_threads(count)
            for a, b in ((x, y), (x.T, y.T), (x, x[:1])):
                found = (
                    pa.exp(pa.asarray(a) * pa.asarray(b)),
                    pa.asarray(a).astype(pa.float8_e4m3fn),
                )
                made.add((a.strides, b.shape, *(each._buffer.tobytes() for each in found)))
    finally:
        pa.set_num_threads(before)
    assert len(made) == len(
        {(x.strides, y.shape), (x.T.strides, y.T.shape), (x.strides, x[:1].shape)}
    )


# --- In place -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [pa.float32, pa.bfloat16, pa.float8_e4m3fn], ids=str)
@pytest.mark.parametrize("length", [5, 3000, 50_000])
def test_in_place_it_is_the_same(dtype: DType, length: int) -> None:
    rng = np.random.default_rng(6)
    values = rounded(rng.standard_normal(length), dtype)
    other = rounded(rng.standard_normal(length), dtype)
    with pa.policy("torch"):
        for view in (slice(None), slice(None, None, 2), slice(None, None, -1)):
            memory = values.copy()
            x, y = pa.asarray(memory, copy=False)[view], pa.asarray(other)[view]
            wanted = (x + y)._buffer.copy()
            x += y
            assert memory[view].tobytes() == wanted.tobytes()
        memory = values.copy()
        whole = pa.asarray(memory, copy=False)
        later, earlier = whole[1:], whole[:-1]
        wanted = (later + earlier)._buffer.copy()
        later += earlier  # which overlap
        assert memory[1:].tobytes() == wanted.tobytes()


# --- What is told ---------------------------------------------------------------------------------


def messages(function: Callable[[], object]) -> set[str]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        function()
    return {str(warning.message) for warning in heard}


@pytest.mark.parametrize("length", [1, 100, 40_000, 1_100_000])
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_exceptions_are_those_of_what_is_computed_in(dtype: DType, length: int) -> None:
    large, zero = (rounded(np.full(length, value, np.float32), dtype) for value in (1e4, 0.0))
    x, y = pa.asarray(large).astype(dtype), pa.asarray(zero).astype(dtype)
    a, b = large.astype(np.float32), zero.astype(np.float32)
    with pa.policy("torch"):
        assert messages(lambda: x / y) == messages(lambda: a / b)
        assert messages(lambda: y / y) == messages(lambda: b / b)
        assert messages(lambda: pa.exp(x)) == messages(lambda: np.exp(a))
        assert messages(lambda: pa.log(y)) == messages(lambda: np.log(b))
        assert messages(lambda: x - y) == set()


# --- Along axes -----------------------------------------------------------------------------------

REDUCED = ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin"]


@pytest.mark.parametrize("dtype", [pa.float32, pa.float64, *NARROW], ids=str)
@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.filterwarnings("ignore")
def test_axes_are_reduced_as_numpy_reduces_what_is_cast_whole(name: str, dtype: DType) -> None:
    rng = np.random.default_rng(8)
    reduce = getattr(np, name)
    for shape in [(1,), (129,), (9000,), (3, 2049), (2049, 3), (4, 5, 70)]:
        x = rounded(rng.standard_normal(shape) + 0.25, dtype)
        wide = x if dtype.bits >= 32 else x.astype(np.float32)
        for axis in (None, *range(len(shape))):
            with pa.policy("numpy"), np.errstate(all="ignore"):
                made = getattr(pa, name)(pa.asarray(x), axis=axis)
                wanted = np.asarray(reduce(wide, axis=axis)).astype(made.dtype.storage)
            assert made._buffer.tobytes() == wanted.tobytes(), (shape, axis)


@pytest.mark.parametrize("storage", ["i8", "i2", "f4"])
def test_arrays_that_others_write_to_are_sorted_within_their_memory(storage: str) -> None:
    """What comes out is anybody's guess, and of the length that it has to be."""
    memory = np.random.default_rng(1).integers(0, 100, 20_000).astype(storage)
    x, done = pa.asarray(memory, copy=False), threading.Event()

    def write() -> None:
        rng = np.random.default_rng(2)
        while not done.is_set():
            memory[:] = rng.permutation(memory)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(30):
            assert pa.sort(x).shape == pa.argsort(x).shape == x.shape
            values, counts = pa.unique_counts(x)
            assert values.shape == counts.shape
            assert pa.unique_inverse(x).inverse_indices.shape == x.shape
    finally:
        done.set()
        writer.join()
