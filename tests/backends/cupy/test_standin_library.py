"""What CuPy's own functions do for arrays on a GPU, on a machine that has none.

gpu/cupy_standin/ says what the stand-in is and what it is not. The same is asked of a real GPU
in gpu/test_on_device.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask_cases
import device_cases as cases
import numpy as np
import pytest
from here_and_there import GPU, on_gpu, same

import promoarray as pa
from promoarray import dtypes as dt

# --- Reductions, order, sets ---------------------------------------------------------------------


def reduced(name: str, **options: Any) -> Callable[[Any], Any]:
    return lambda x: getattr(pa, name)(x, **options)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize(
    "values",
    [
        [-np.inf, -np.inf],
        [np.inf, np.inf],
        [1e-40, 3e-40, -2e-40],
        [1.0, np.nan, 3.0],
        [-1.0, -np.nan, 3.0],
        [-0.0, -0.0],
        [2.0, 5.0, 5.0, 2.0],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_extremes(name: str, values: list[float], dtype: str) -> None:
    """CuPy's own take float32 subnormals for zero, and the lowest number for -inf."""
    x = pa.asarray(np.array(values, np.float32), dtype=dtype)
    for options in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}):
        run = reduced(name, **options)
        same(run(x), run(x.to_device(GPU)))


def test_extremes_of_integers_and_of_nothing() -> None:
    x = pa.reshape(cases.array(dt.int16), (16, 16))
    for name in ("max", "min", "argmax", "argmin"):
        for axis in (0, 1, None):
            run = reduced(name, axis=axis)
            same(run(x), run(x.to_device(GPU)))
        with pytest.raises(ValueError, match=r"zero-size|empty|no elements"):
            getattr(pa, name)(on_gpu(np.empty((0,), np.float32)))


@pytest.mark.parametrize("dtype", ["int8", "float32", "bfloat16", "float8_e5m2", "bool", "uint4"])
def test_sums(dtype: str) -> None:
    x = pa.asarray(np.arange(12).reshape(3, 4) % 4, dtype=dtype)
    there = x.to_device(GPU)
    for name in ("sum", "prod", "mean", "all", "any", "cumulative_sum", "std"):
        for axis in (1, 0) if name == "cumulative_sum" else (1, None):
            run = reduced(name, axis=axis)
            want, got = cases.outcome(lambda r=run: r(x)), cases.outcome(lambda r=run: r(there))
            assert not cases.different(want, got, places=4), name
    assert pa.cumulative_sum(there, axis=0, include_initial=True).shape == (4, 4)
    assert pa.count_nonzero(there).dtype is pa.int64


def test_blocks_of_lazy_arrays(cupy: Any) -> None:
    pytest.importorskip("dask")
    wrong = dask_cases.wrong(cupy)
    assert not wrong, "\n".join(wrong)


def test_sums_of_floats_under_a_policy() -> None:
    x = on_gpu(np.full(4096, 0.1), pa.float16)
    with pa.policy("torch"):
        assert abs(float(pa.sum(x)) - 409.6) < 0.5  # accumulated in float32
    assert pa.sum(x).dtype is pa.float16


@pytest.mark.parametrize("dtype", ["float32", "float8_e4m3fn", "int4", "complex64", "bfloat16"])
def test_sorting_and_sets(dtype: str) -> None:
    x = cases.array(dt.BY_NAME[dtype])
    there = x.to_device(GPU)
    same(pa.sort(x), pa.sort(there))
    same(pa.argsort(x, descending=True), pa.argsort(there, descending=True))
    for want, got in zip(pa.unique_all(x), pa.unique_all(there), strict=True):
        same(want, got)
    same(pa.isin(x, x[:7]), pa.isin(there, there[:7]))


def test_subnormals_are_told_apart() -> None:
    x = pa.asarray(np.array([1e-40, 2e-40, 0, 1e-40], np.float32))
    same(pa.unique_values(x), pa.unique_values(x.to_device(GPU)))
    y = pa.sort(x)
    same(pa.searchsorted(y, x), pa.searchsorted(y.to_device(GPU), x.to_device(GPU)))
    same(x == 0, x.to_device(GPU) == 0)
    same(x.astype(pa.bool), x.to_device(GPU).astype(pa.bool))
    assert [i.tolist() for i in pa.nonzero(x.to_device(GPU))] == [[0, 1, 3]]


def test_products_of_matrices() -> None:
    x = pa.asarray(np.arange(6).reshape(2, 3), dtype=pa.bfloat16)
    y = pa.asarray(np.arange(12).reshape(3, 4), dtype=pa.bfloat16)
    there = x.to_device(GPU), y.to_device(GPU)
    same(x @ y, there[0] @ there[1])
    same(pa.tensordot(x, y, axes=1), pa.tensordot(*there, axes=1))
    same(pa.vecdot(x, x), pa.vecdot(there[0], there[0]))
    same(pa.linalg.outer(x[0], y[0]), pa.linalg.outer(there[0][0], there[1][0]))
    same(pa.diff(y), pa.diff(there[1]))
    same(pa.diff(y > 3), pa.diff(there[1] > 3))


def test_linear_algebra_and_transforms() -> None:
    x = pa.asarray(np.array([[2.0, 1.0], [1.0, 3.0]], np.float32))
    there = x.to_device(GPU)
    assert cases.different(pa.linalg.inv(x), pa.linalg.inv(there), places=8) == ""
    assert cases.different(pa.linalg.det(x), pa.linalg.det(there), places=8) == ""
    assert cases.different(pa.fft.fft(x), pa.fft.fft(there), places=8) == ""
    same(pa.linalg.diagonal(x), pa.linalg.diagonal(there))
    same(pa.diag(x[0], -1), pa.diag(there[0], -1))
    same(pa.linalg.trace(x), pa.linalg.trace(there))
    same(pa.linalg.matrix_rank(x), pa.linalg.matrix_rank(there))
    assert cases.different(pa.linalg.pinv(x), pa.linalg.pinv(there), places=64) == ""
    narrow = x.astype(pa.bfloat16)
    for run in (pa.linalg.vector_norm, pa.linalg.matrix_norm):
        assert cases.different(run(narrow), run(narrow.to_device(GPU)), places=2) == ""


# --- Shapes and indices --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "complex32", "float32", "bfloat16"])
def test_values_move(dtype: str) -> None:
    x = pa.reshape(cases.array(dt.BY_NAME[dtype]), (4, -1))
    there = x.to_device(GPU)
    index = pa.asarray([2, 0, -1])
    moves: list[Callable[[Any], Any]] = [
        lambda x: pa.reshape(x, (-1,)),
        lambda x: pa.permute_dims(x, (1, 0)),
        lambda x: pa.flip(x, axis=1),
        lambda x: pa.roll(x, 3),
        lambda x: pa.tile(x, (2, 1)),
        lambda x: pa.repeat(x, 2, axis=0),
        lambda x: pa.repeat(x, pa.asarray([1, 0, 2, 1]).to_device(x.device), axis=0),
        lambda x: pa.concat([x, x], axis=1),
        lambda x: pa.stack([x, x]),
        lambda x: pa.expand_dims(x, axis=1),
        lambda x: pa.take(x, index, axis=0),
        lambda x: pa.tril(x),
        lambda x: pa.meshgrid(x[0], x[1])[1],
        lambda x: pa.unstack(x)[2],
        lambda x: x.T,
        lambda x: x.mT,
    ]
    for move in moves:
        same(move(x), move(there))


KEYS = [
    1,
    (slice(None), -1),
    (..., None, slice(1, 4)),
    (slice(None, None, -2), slice(5, 1, -1)),
    (np.array([0, 2, -1]),),
    (np.array([[0], [2]]), np.array([1, 3])),
    (slice(1, 3), np.array([4, -4])),
    (np.arange(4) % 2 == 0,),
    (slice(None), np.arange(6) > 2),
    (np.arange(24).reshape(4, 6) % 5 == 0,),
    True,
    (),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reads_and_writes(key: Any) -> None:
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    x, y = pa.asarray(values.copy()), on_gpu(values)
    parts = key if isinstance(key, tuple) else (key,)
    mine = tuple(pa.asarray(p) if isinstance(p, np.ndarray) else p for p in parts)
    theirs = tuple(p.to_device(GPU) if isinstance(p, pa.PArray) else p for p in mine)
    mine, theirs = (mine, theirs) if isinstance(key, tuple) else (mine[0], theirs[0])
    same(x[mine], y[theirs])
    x[mine], y[theirs] = 7, 7
    same(x, y)
    x[mine], y[theirs] = x[mine] + 1, y[theirs] + 1
    same(x, y)


@pytest.mark.parametrize(
    "key", [6, np.array([0, 4]), np.array([-5]), np.ones(3, np.bool), (0, 0, 0)], ids=str
)
def test_keys_that_lead_nowhere(key: Any) -> None:
    """CuPy itself wraps indices round."""
    x = on_gpu(np.zeros((4, 6)))
    with pytest.raises(IndexError, match=r"out of bounds|too many|mask"):
        x[key]
    with pytest.raises(IndexError, match=r"out of bounds|too many|mask"):
        x[key] = 1.0
    assert not pa.any(x)
    with pytest.raises(IndexError, match="out of bounds"):
        pa.take(x, on_gpu([4]), axis=0)


def test_memory_that_overlaps() -> None:
    x = on_gpu(np.arange(5))
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3]


# --- Creation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda **o: pa.zeros((2, 3), **o), id="zeros"),
        pytest.param(lambda **o: pa.ones(3, dtype=pa.float8_e4m3fn, **o), id="ones"),
        pytest.param(lambda **o: pa.zeros(3, dtype=pa.float8_e8m0fnu, **o), id="zeros of a scale"),
        pytest.param(lambda **o: pa.full((2,), 1.5, dtype=pa.bfloat16, **o), id="full"),
        pytest.param(lambda **o: pa.arange(7, **o), id="arange"),
        pytest.param(lambda **o: pa.arange(0.1, 3.7, 0.1, **o), id="arange of floats"),
        pytest.param(lambda **o: pa.arange(-0.5, 9, 2, **o), id="arange of both"),
        pytest.param(lambda **o: pa.arange(2**64 - 3, 2**64, dtype=pa.uint64, **o), id="uint64"),
        pytest.param(lambda **o: pa.linspace(0.1, 0.7, 31, **o), id="linspace"),
        pytest.param(lambda **o: pa.linspace(-1, 2, 8, endpoint=False, **o), id="no endpoint"),
        pytest.param(lambda **o: pa.linspace(1, 1, 3, **o), id="linspace of one value"),
        pytest.param(lambda **o: pa.linspace(0, 1j, 5, **o), id="linspace of complex"),
        pytest.param(lambda **o: pa.linspace(0, 1, 0, **o), id="linspace of nothing"),
        pytest.param(lambda **o: pa.eye(3, k=1, **o), id="eye"),
        pytest.param(lambda **o: pa.asarray([1, 2], **o), id="asarray"),
        pytest.param(lambda **o: pa.asarray([0.1, 2], dtype=pa.float4_e2m1fn, **o), id="float4"),
        pytest.param(lambda **o: pa.fft.fftfreq(5, **o), id="fftfreq"),
    ],
)
def test_creation(make: Any) -> None:
    same(make(), make(device=GPU))
    assert make(device="cuda:1").device == "cuda:1"


def test_like() -> None:
    x = on_gpu([[1.0, 2.0]], pa.bfloat16)
    for name in ("zeros_like", "ones_like", "empty_like"):
        assert getattr(pa, name)(x).device == GPU
        assert getattr(pa, name)(x, device="cpu").device == "cpu"
    assert pa.full_like(x, 3).tolist() == [[3.0, 3.0]]


def test_random_lines_are_those_of_numpy() -> None:
    random = np.random.default_rng(3)
    for start, stop, step in random.normal(0, 10, (50, 3)):
        if (stop > start) == (step > 0) and abs((stop - start) / step) < 1e4:
            same(pa.arange(start, stop, step), pa.arange(start, stop, step, device=GPU))
        same(pa.linspace(start, stop, 37), pa.linspace(start, stop, 37, device=GPU))
