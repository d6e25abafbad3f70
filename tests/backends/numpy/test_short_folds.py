"""Reductions of axes of short arrays have NumPy's bits, at every level of the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations, pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from sampled import sampled, turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import loops
from promoarray.dtypes import DType, Kind
from promoarray.kernels import FoldingKernel
from promoarray.kernels.cast_mode import DEFAULT
from promoarray.policies import as_policy

OF_NUMPY: dict[Callable[..., Any], Callable[..., Any]] = {
    pa.sum: np.add.reduce,
    pa.prod: np.multiply.reduce,
    pa.max: np.maximum.reduce,
    pa.min: np.minimum.reduce,
    pa.mean: np.mean,
    pa.var: np.var,
    pa.std: np.std,
    pa.any: np.any,
    pa.all: np.all,
}
DTYPES = [d for d in dt.CONCRETE if d.kind is not Kind.STRING]
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-38, 1e30, -65504.0])
LENGTHS = (1, 2, 3, 7, 8, 9, 31, 128, 137, 1024, 4096, 1 << 15)


@pytest.fixture(params=kernels.levels())
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    before = kernels.use_level(request.param)
    yield request.param
    kernels.use_level(before)


def arrays(dtype: DType) -> Iterator[Any]:
    if dtype.kind is Kind.COMPLEX:
        for one, other in pairwise(arrays(dtype.part)):
            size = min(one.size, other.size)
            parts = np.stack([one[:size], other[:size]], axis=-1)
            yield parts.view(dtype.storage)[..., 0]
        return
    storage = dtype.storage
    random = np.random.default_rng(0)
    for length in LENGTHS:
        values = random.standard_normal(length) * 10.0 ** random.integers(-3, 4)
        yield np.abs(values * 3).astype(np.int64).astype(storage)
        yield (values if np.dtype(storage).kind not in "ub" else values > 0).astype(storage)
        yield random.choice(SPECIAL[:4], length).astype(storage)
        if np.dtype(storage).kind not in "iub":
            yield random.choice(SPECIAL, length).astype(storage)
            bits = random.integers(0, 256, length * np.dtype(storage).itemsize, np.uint8)
            yield bits.view(storage)


SHAPES = ((4, 1024), (300, 4), (3, 5, 7), (2, 1, 60), (9, 1), (130, 40), (3, 2049), (2, 3, 4, 5))


def axes_of(ndim: int) -> list[Any]:
    """None, each by itself, and all that there are of several."""
    several = chain.from_iterable(combinations(range(ndim), n) for n in range(2, ndim + 1))
    return [None, *range(-ndim, ndim), *several]


def in_shapes(x: Any) -> Iterator[Any]:
    """An array in the shapes that it fills."""
    for shape in SHAPES:
        size = int(np.prod(shape))
        if x.size >= size > x.size // 8:
            yield x[:size].reshape(shape)


def bits_of(x: Any) -> tuple[Any, Any, bytes]:
    x = np.asarray(x)
    return x.dtype, x.shape, x.tobytes()


OF_NUMPYS = [
    dt.float32,
    dt.float64,
    dt.int32,
    dt.int64,
    dt.uint64,
    dt.bool,
    dt.complex64,
    dt.complex128,
]


@pytest.mark.parametrize("dtype", OF_NUMPYS, ids=str)
@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_of_numpys_dtypes_are_numpys(level: int, dtype: DType) -> None:
    with pa.policy(as_policy("numpy").derive(f"level {level}")):
        for run, numpys in OF_NUMPY.items():
            try:
                run(pa.asarray(np.ones(1, dtype.storage)))
            except pa.PromotionError:
                continue
            for x in arrays(dtype):
                x = x.astype(dtype.storage)
                for _ in range(2):
                    assert bits_of(run(pa.asarray(x))._buffer) == bits_of(numpys(x))
                    assert bits_of(run(pa.asarray(x), axis=-1)._buffer) == bits_of(numpys(x))
                    row, every = x[None], {"axis": (0, 1), "keepdims": True}
                    assert bits_of(run(pa.asarray(row), **every)._buffer) == bits_of(
                        numpys(row, **every)
                    )


@pytest.mark.parametrize("dtype", OF_NUMPYS, ids=str)
@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_axes_of_numpys_dtypes_are_reduced_as_numpys(level: int, dtype: DType) -> None:
    with pa.policy(as_policy("numpy").derive(f"level {level}")):
        for x in turns(chain.from_iterable(map(in_shapes, arrays(dtype))), 3, level):
            given = x.astype(dtype.storage)
            for run, numpys in OF_NUMPY.items():
                if dtype.kind is Kind.COMPLEX and run in (pa.max, pa.min):
                    continue
                for at, axis in enumerate(axes_of(x.ndim)):
                    options = {"axis": axis, "keepdims": at % 2 == 1}
                    found = run(pa.asarray(given), **options)._buffer
                    assert bits_of(found) == bits_of(numpys(given, **options)), (run, x.shape, axis)
                for other in (given.T, given[::-1], given[..., ::2], given[:0]):
                    if other.size or run in (pa.sum, pa.prod, pa.any, pa.all):
                        found = run(pa.asarray(other), axis=-1)._buffer
                        assert bits_of(found) == bits_of(numpys(other, axis=-1)), (run, x.shape)


@pytest.mark.parametrize(
    "name",
    [
        "numpy",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                *("torch", "tensorflow", "jax@x32", "paddle", "paddle@3.3", "paddle@2.6", "aclnn"),
            )
        ),
    ],
)
@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_short_folds_are_those_of_any_length(level: int, name: str) -> None:
    policy, held = as_policy(name).derive(f"level {level}"), 0
    with pa.policy(policy):
        for dtype in DTYPES:
            for run in OF_NUMPY:
                try:
                    run(pa.PArray._wrap(np.ones(1, np.float32).astype(dtype.storage), dtype))
                except pa.PromotionError:
                    continue
                executable = policy.executables.get((f"{run.__name__}()", dtype))
                if executable is not None and type(executable.kernel) is FoldingKernel:
                    # Nine functions and each level take turns with the arrays of a dtype.
                    held += _alike(executable, dtype, run, [*OF_NUMPY].index(run) + level)
    assert held > 1000


def _alike(executable: Any, dtype: DType, run: Callable[..., Any], turn: int) -> int:
    """How many reductions the fold and what it asks for all else answer alike."""
    of_gaps = run in (pa.var, pa.std)
    count = 0
    for x in sampled(arrays(dtype), 6, turn):
        tried = [(x, None)]
        if x.size < 300:
            tried += [(x, 0)]
        for given in in_shapes(x):
            tried += [(given, axis) for axis in axes_of(given.ndim)]
        for at, (given, axis) in enumerate(tried):
            options: dict[str, Any] = {"axis": axis, "keepdims": at % 2 == 1}
            if of_gaps:
                options = {"axis": axis, "ddof": (0.0, 1, 0.5, 2.0)[at % 4]} | options
            short = executable.kernel(given, **options)
            if short is not None:
                wanted = executable.run(given, **options)
                assert bits_of(short) == bits_of(wanted), (dtype, run, given.shape, options)
                count += 1
    return count


def test_axes_next_to_each_other_are_reduced_by_the_fold() -> None:
    """And no others: apart, named twice, none, or of another array."""

    def otherwise(*_: Any, **options: Any) -> None:
        return None

    rows = kernels.dtype_args(dt.float64)
    folding = FoldingKernel(
        *("sum", (rows,) * 3, (DEFAULT,) * 2, np.dtype(np.float64), np.empty),
        *(loops.watched, otherwise, 1 << 15),
    )
    x = np.arange(24.0).reshape(2, 3, 1, 4)
    apart = {(0, 3), (0, 2, 3)}
    for axis in [*axes_of(4), *permutations((0, -2, 1)), (-1, 2, -3, 0)]:
        for keepdims in (False, True):
            found, wanted = folding(x, axis=axis, keepdims=keepdims), x.sum(axis, keepdims=keepdims)
            assert found is None if axis in apart else bits_of(found) == bits_of(wanted), axis
    others: list[Any] = [(), 4, -5, 2**70, True, 1.0, (0, 0), (0, -4), (0, 4), (0, -5), [0], "0"]
    for axis in [*others, (0, 1.0), (0, True), (0, 2**70)]:
        assert folding(x, axis=axis, keepdims=False) is None, axis
    for keeps in (1, 0, None, "True"):
        assert folding(x, axis=None, keepdims=keeps) is None
    for other in (x.T, x[::-1], x[:0], x[0, 0, 0, 0], x.astype(np.float32)):
        assert folding(other, axis=None, keepdims=False) is None


def test_more_lines_than_are_cast_at_once() -> None:
    with pa.policy("numpy"):
        for x in (np.arange(30000) % 7, np.arange(20000) % 5):
            for lines in (2, 100, x.size // 4, x.size):
                given = x.reshape(lines, -1)
                narrow = pa.asarray(given, dtype=pa.float8_e5m2)
                for axis in (0, 1):
                    largest = pa.astype(pa.max(narrow, axis=axis), pa.int64)
                    assert largest.tolist() == given.max(axis).tolist()


def test_long_arrays_are_reduced_as_numpy_reduces_them(level: int) -> None:
    """Without the GIL, in as many pieces as there are."""
    random = np.random.default_rng(0)
    with pa.policy(as_policy("numpy").derive(f"level {level}")):
        for size in ((1 << 15) + 1, 1 << 17, 1 << 18, (1 << 18) + 1):
            values = random.standard_normal(size) * 100
            for dtype in (np.float32, np.float64, np.int8, np.int64, np.complex64):
                for given in (values.astype(dtype), values[: size // 5 * 5].reshape(-1, 5)):
                    x = given.astype(dtype)
                    for run in (pa.sum, pa.mean, pa.std, pa.any):
                        for axis in (None, 0, -1):
                            found = run(pa.asarray(x), axis=axis)._buffer
                            assert bits_of(found) == bits_of(OF_NUMPY[run](x, axis=axis))


def test_what_numpy_tells_of_is_left_to_it() -> None:
    huge = pa.asarray(np.full(4, 3e38, np.float32))
    for run in (pa.sum, pa.var):
        with np.errstate(all="ignore"):
            run(huge)
        with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
            run(huge)
        with np.errstate(over="ignore", invalid="ignore"):
            assert not pa.isfinite(run(huge))
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        pa.var(pa.asarray([1.0]), correction=1)


def test_integers_have_a_mean_of_more_elements_than_they_count() -> None:
    with pa.policy("tensorflow"):  # Paddle's wheels have no mean of int8
        for x in ([127] + [0] * 299, [-128] + [0] * 127, [1] + [0] * 300):
            assert pa.mean(pa.asarray(x, dtype=pa.int8)) == int(np.sum(x, dtype=np.int8) / len(x))


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        *product([pa.mean], [dt.uint2, dt.int2, dt.uint4, dt.int4]),
        *product([pa.var, pa.std], [dt.uint4, dt.int4]),  # which JAX has of no narrower ones
    ],
)
def test_integers_that_are_widened_are_folded_as_they_are(
    function: Callable[..., Any], dtype: DType
) -> None:
    policy = as_policy("jax@x64").derive("narrow integers")
    codes = np.random.default_rng(0).integers(0, 1 << dtype.bits, 4096)
    with pa.policy(policy):
        for length in LENGTHS[:-1]:
            x = pa.asarray(codes[:length]).astype(dtype)
            got, kept = function(x), function(x, keepdims=True)
            executable = policy.executables[f"{function.__name__}()", dtype]
            want = executable.run(x._buffer)
            assert type(executable.kernel) is FoldingKernel
            assert got._buffer.tobytes() == kept._buffer.tobytes() == want.tobytes()


@pytest.mark.parametrize("name", ["numpy", "jax@x32"])
@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_zero_is_counted_as_numpy_counts_it(level: int, name: str) -> None:
    """Short arrays by the fold, and others by what it asks."""
    with pa.policy(as_policy(name).derive(f"level {level}")):
        index = pa.count_nonzero(pa.asarray([1])).dtype.storage
        for at, dtype in enumerate(DTYPES):
            for x in sampled(arrays(dtype), 4, at + level):
                truth = pa.astype(pa.PArray._wrap(x, dtype), pa.bool)._buffer
                for each, true in zip([x, *in_shapes(x)], [truth, *in_shapes(truth)], strict=True):
                    for kept, axis in enumerate(axes_of(each.ndim)):
                        options = {"axis": axis, "keepdims": kept % 2 == 1}
                        found = pa.count_nonzero(pa.PArray._wrap(each, dtype), **options)._buffer
                        wanted = np.asarray(np.count_nonzero(true, **options), index)
                        assert bits_of(found) == bits_of(wanted), (dtype, each.shape, axis)


def test_counts_of_few_elements_ask_nobody_else() -> None:
    def otherwise(*_: Any, **__: Any) -> None:
        raise AssertionError

    for dtype in DTYPES:
        if dtype is dt.complex32:
            continue
        rows = *map(kernels.dtype_args, (dtype, dt.bool)), kernels.dtype_args(dt.int64)
        own = np.dtype(np.int64), np.empty, loops.watched, otherwise
        count = FoldingKernel("count_nonzero", rows, (DEFAULT, DEFAULT), *own)
        ones = np.ones((3, 4), np.uint8).astype(dtype.storage)
        assert count(ones, axis=1, keepdims=False).tolist() == [4, 4, 4], dtype
        assert count(ones) == 12
    rows = *map(kernels.dtype_args, (dt.complex32, dt.bool)), kernels.dtype_args(dt.int64)
    with pytest.raises(ValueError, match="no loop that computes count_nonzero"):
        FoldingKernel("count_nonzero", rows, (DEFAULT, DEFAULT), *own)


@pytest.mark.parametrize("name", ["numpy", pytest.param("torch", marks=pytest.mark.slow)])
@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_runs_along_an_axis_has_the_bits_of_any_length(level: int, name: str) -> None:
    policy, held = as_policy(name).derive(f"level {level}"), 0
    with pa.policy(policy):
        both = product((pa.cumulative_sum, pa.cumulative_prod), DTYPES)
        for at, (run, dtype) in enumerate(both):
            try:
                run(pa.PArray._wrap(np.ones(1, np.float32).astype(dtype.storage), dtype))
            except pa.PromotionError:
                continue
            executable: Any = policy.executables[f"{run.__name__}()", dtype]
            if type(executable.kernel) is not FoldingKernel:
                continue
            for x in sampled(arrays(dtype), 4, at + level):
                for given in (x, *in_shapes(x)):
                    for axis in range(-given.ndim, given.ndim):
                        options = {"axis": axis, "include_initial": False}
                        short = executable.kernel(given, **options)
                        if short is not None:
                            wanted = executable.run(given, **options)
                            assert bits_of(short) == bits_of(wanted), (dtype, run, x.shape, axis)
                            held += 1
    assert held > 1000


def test_one_axis_is_run_along_by_the_fold() -> None:
    """And not several, one in a tuple, or one that begins with what there was before."""

    def otherwise(*_: Any, **__: Any) -> None:
        return None

    rows = *(kernels.dtype_args(dt.int8),) * 2, kernels.dtype_args(dt.int64)
    own = np.dtype(np.int64), np.empty, loops.watched, otherwise
    running = FoldingKernel("cumulative_sum", rows, (DEFAULT, DEFAULT), *own)
    x = np.ones((2, 1, 3, 4), np.int8)
    for axis in range(-4, 4):
        found = running(x, axis=axis, include_initial=False)
        assert bits_of(found) == bits_of(x.cumsum(axis, np.int64)), axis
    for given, axis in ((x, None), (x, (0,)), (x, (2, 3)), (x, 4), (x, True), (x.T, 0)):
        assert running(given, axis=axis, include_initial=False) is None
    assert running(x, axis=0, include_initial=True) is None
    assert running(x) is None
    line = x[0, 0, 0]
    for found in (running(line), running(line, axis=None, include_initial=False)):
        assert found.tolist() == [1, 2, 3, 4]
    complex_rows = *rows[:2], kernels.dtype_args(dt.complex64)
    with pytest.raises(ValueError, match="the result is complex"):
        FoldingKernel("cumulative_sum", complex_rows, (DEFAULT, DEFAULT), *own)
