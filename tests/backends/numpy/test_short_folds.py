"""Reductions of short arrays to a number have NumPy's bits, at every level of the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest

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
                    held += _alike(executable, dtype, run)
    assert held > 1000


def _alike(executable: Any, dtype: DType, run: Callable[..., Any]) -> int:
    plain: dict[str, Any] = {"axis": None, "keepdims": False}
    ways = [plain, {"axis": 0, "keepdims": False}, {"axis": -1, "keepdims": True}]
    if run in (pa.var, pa.std):
        ways = [{"axis": None, "ddof": ddof, "keepdims": False} for ddof in (0.0, 1, 0.5, 2.0)]
    axes: list[Any] = [None, (0, 1), (-1, 0)]
    of_matrices = [
        ways[-1] | {"axis": axis, "keepdims": keeps} for axis in axes for keeps in (False, True)
    ]
    count = 0
    for x in arrays(dtype):
        tried = [(x, options) for options in (ways if x.size < 300 else ways[:1])]
        matrix = x[: x.size // 2 * 2].reshape(-1, 2)
        if 1 < x.size < 300:
            tried += [(each, way) for each in (matrix, matrix.T) for way in of_matrices]
        for given, options in tried:
            short = executable.kernel(given, **options)
            if short is not None:
                wanted = executable.run(given, **options)
                assert bits_of(short) == bits_of(wanted), (dtype, run, options)
                count += 1
    return count


def test_all_axes_are_reduced_to_one_number_by_the_fold() -> None:
    """And no others: named twice, of another array, or some of them."""

    def otherwise(*_: Any, **options: Any) -> None:
        return None

    rows = kernels.dtype_args(dt.float64)
    folding = FoldingKernel(
        *("sum", (rows,) * 3, (DEFAULT,) * 2, np.dtype(np.float64), np.empty),
        *(loops.watched, otherwise, 1 << 15),
    )
    x = np.arange(4.0).reshape(2, 2, 1)
    every = [None, *permutations((0, 1, 2)), (-1, 0, 1), (-3, -2, -1), (2, -2, -3)]
    for axis in every:
        assert bits_of(folding(x, axis=axis, keepdims=False)) == bits_of(np.float64(6))
        assert bits_of(folding(x, axis=axis, keepdims=True)) == bits_of(np.full((1, 1, 1), 6.0))
    others: list[Any] = [0, -1, (), (0,), (0, 1), (0, 0, 1), (0, 2, -1), (0, 1, 3), (0, 1, -4)]
    others += [(0, 1, 2, 2), [0, 1, 2], (0, 1, 2.0), (0, 1, True), (0, 1, 2**70), "012"]
    for axis in others:
        assert folding(x, axis=axis, keepdims=False) is None, axis
    for keeps in (1, 0, None, "True"):
        assert folding(x, axis=None, keepdims=keeps) is None
    assert folding(x[0, :, 0], axis=(0,), keepdims=True).tolist() == [1.0]
    assert folding(x[0, 0, 0], axis=(), keepdims=True) is None


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
