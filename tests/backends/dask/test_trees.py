"""Reductions, products and what orders, over blocks: against NumPy's back end in one piece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lazily import bits

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.backends import numpy as numpy_backend
from promoarray.dtypes import DType, Kind

da = pytest.importorskip("dask.array")

from promoarray.backends.dask.buffer import closed, opened  # noqa: E402
from promoarray.backends.dask.compile import GRAPHS  # noqa: E402

DTYPES = (dt.bool, dt.int8, dt.uint64, dt.float32, dt.complex64)


def values(shape: tuple[int, ...], dtype: DType, seed: int = 0) -> Any:
    plain = np.random.default_rng(seed).integers(-9, 9, shape)
    if dtype is dt.bool:
        return plain > 0
    return (plain + 1j if dtype.kind is Kind.COMPLEX else plain).astype(dtype.storage)


def compare(
    kernel: str, arrays: tuple[Any, ...], compute: DType, chunks: Any, **options: Any
) -> None:
    """Small whole numbers: sums of floats are exact too, so every bit has to be the same."""
    blocks = tuple(
        da.from_array(closed(x, compute), chunks=chunks if x.ndim > 1 else 3) for x in arrays
    )
    want = numpy_backend.call(kernel, arrays, compute, **options)
    got = GRAPHS[kernel](kernel, blocks, compute, **options)
    assert len(got) == len(want)
    for (lazy, made), (eager, dtype) in zip(got, want, strict=True):
        found = opened(np.asarray(lazy.compute()), made)
        assert made is dtype
        assert found.shape == eager.shape
        assert found.tobytes() == np.ascontiguousarray(eager).tobytes(), (kernel, options)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_that_have_no_choice(dtype: DType) -> None:
    x = values((7, 9), dtype)
    for name in ("sum", "prod", "max", "min", "all", "any", "argmax", "argmin"):
        if name == "prod" and dtype.kind is Kind.COMPLEX:
            continue  # rounds
        for axis in (None, 0, -1):
            compare(name, (x,), dtype, (2, 4), axis=axis, keepdims=axis == 0)


@pytest.mark.parametrize("kernel", ["argmax", "argmin", "argmax_without_nan", "argmin_without_nan"])
def test_the_first_of_equals_wherever_blocks_end(kernel: str) -> None:
    x = values((6, 6), dt.float32) // 4
    x[4, 1] = x[1, 5] = np.nan
    for chunks in ((1, 1), (4, 2), (6, 1)):
        for axis in (None, 0, 1):
            compare(kernel, (x,), dt.float32, chunks, axis=axis, keepdims=False)


def test_the_first_complex_number_with_nan_wherever_blocks_end() -> None:
    x = values((6, 6), dt.complex64)
    x[1, 5], x[3, 0], x[4, 4] = complex(np.nan, 1), complex(np.nan, 2), complex(3, np.nan)
    for kernel in ("max", "min"):
        for chunks in ((1, 1), (4, 2), (6, 1)):
            for axis in (None, 0, (0, 1)):
                compare(kernel, (x,), dt.complex64, chunks, axis=axis, keepdims=axis is None)


@pytest.mark.parametrize("kernel", ["exact_integer_mean", "truncated_mean", "max_or_lowest"])
def test_reductions_of_single_frameworks(kernel: str) -> None:
    for axis in (None, 1):
        compare(kernel, (values((5, 6), dt.int32),), dt.int32, (2, 3), axis=axis, keepdims=False)


@pytest.mark.parametrize("kernel", ["exact_integer_mean", "truncated_mean", "var_around_integer"])
def test_more_elements_than_a_small_integer_can_count(kernel: str) -> None:
    x = np.random.default_rng(4).integers(-128, 128, (30, 20)).astype(np.int8)
    for options in ({}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}):
        compare(kernel, (x,), dt.int8, (7, 20), **options)


def test_means_and_variances_of_many_blocks() -> None:
    x = np.random.default_rng(1).normal(1e3, 1.0, (40, 30))
    for name, exact in (("mean", np.mean), ("var", np.var), ("std", np.std)):
        for axis in (None, 0):
            blocks = da.from_array(x, chunks=(7, 11))
            ((got, made),) = GRAPHS[name](name, (blocks,), dt.float64, axis=axis, keepdims=False)
            assert made is dt.float64
            assert np.allclose(got.compute(), exact(x, axis=axis), rtol=1e-12)


def test_running_sums_have_the_bits_of_numpy() -> None:
    x = np.random.default_rng(2).normal(size=(9, 5)).astype(np.float32)
    for axis in (0, 1):
        for initial in (False, True):
            options = {"axis": axis, "include_initial": initial}
            compare("cumulative_sum", (x,), dt.float32, ((2, 0, 7), (1, 4)), **options)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_products(dtype: DType) -> None:
    x, y, v = values((5, 7), dtype), values((7, 4), dtype, 1), values((7,), dtype, 2)
    for pair in ((x, y), (x, v), (v, y), (v, v)):
        compare("matmul", pair, dtype, (2, 3))
    compare("tensordot", (x, y), dtype, (2, 3), axes=1)
    compare("vecdot", (x, v), dtype, (2, 3), axis=-1)
    compare("outer", (v, v), dtype, 3)


def test_products_of_many_blocks_broadcast_and_warn_of_nothing() -> None:
    x, y = values((1, 12, 12), dt.int32), values((3, 12, 12), dt.int32, 1)
    for chunks in ((1, 1, 1), (2, 12, 5)):
        compare("matmul", (x, y), dt.int32, chunks)
        compare("matmul", (y, x), dt.int32, chunks)
    compare("vecdot", (x[0, :1], y[0]), dt.int32, (1, 1), axis=-1)


def test_small_integers_wrap_in_products_of_blocks() -> None:
    x = np.full((2, 64), 100, np.int8)
    compare("matmul", (x, x.T.copy()), dt.int8, (1, 5))


@pytest.mark.parametrize("dtype", [dt.int32, dt.int64, dt.uint8])
def test_variances_around_integers_wrap_as_in_one_block(dtype: DType) -> None:
    x = np.random.default_rng(4).integers(0, 1 << 62, (6, 5)).astype(dtype.storage)
    for kernel in ("var_around_integer", "std_around_integer"):
        for options in ({}, {"axis": 0, "ddof": 1.0}, {"axis": (1,), "keepdims": True}):
            with np.errstate(invalid="ignore"):  # roots of what wrapped to below 0
                compare(kernel, (x,), dtype, (2, 3), **options)


@pytest.mark.parametrize("dtype", [dt.int8, dt.uint8, dt.int16])
def test_variances_around_a_mean_of_float32_are_exact_as_long_as_its_sum_is(dtype: DType) -> None:
    x = np.random.default_rng(4).integers(-(1 << 15), 1 << 15, (6, 5)).astype(dtype.storage)
    for kernel in ("integer_var", "integer_std"):
        for options in ({}, {"axis": 0, "ddof": 1.0}, {"axis": (1,), "keepdims": True}):
            with np.errstate(invalid="ignore"):  # roots of what wrapped to below 0
                compare(kernel, (x,), dtype, (2, 3), **options)
    for beyond in (da.ones((1 << 18, 2), chunks=(1 << 17, 2), dtype="i1"), da.ones(8, chunks=2)):
        held = dt.int8 if beyond.ndim > 1 else dt.int64
        with pytest.raises(ValueError, match=r"var needs axis 0 in one block.*rechunk"):
            GRAPHS["integer_var"]("integer_var", (beyond.astype(held.storage),), held)


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64, dt.complex64, dt.int16, dt.bool])
def test_norms_of_vectors(dtype: DType) -> None:
    x = values((7, 9), dtype)
    if dtype is dt.complex64:
        x = x.real.astype(np.complex64)  # whose magnitudes are exact
    for order in (np.inf, -np.inf, 0, 1, 2):
        for axes in ((0, 1), (0,), (1,)):
            options = {"axis": axes, "keepdims": axes == (0,), "ord": order}
            compare("vector_norm", (x,), dtype, (2, 4), **options)
    for order in (3, 2.5, 0.5, -1):
        options = {"axis": (0, 1), "keepdims": False, "ord": order}
        blocks = da.from_array(closed(abs(x) + x.dtype.type(1), dtype), chunks=(2, 4))
        ((got, _),) = GRAPHS["vector_norm"]("vector_norm", (blocks,), dtype, **options)
        ((want, _),) = numpy_backend.call(
            "vector_norm", (abs(x) + x.dtype.type(1),), dtype, **options
        )
        assert np.allclose(got.compute(), want, rtol=1e-5)


def test_norms_where_masks_left_blocks_empty() -> None:
    x, mask = pa.asarray(np.arange(1.0, 7.0)), np.arange(6) > 2
    there = x.to_device("dask").rechunk(2)
    some = there[pa.asarray(mask).to_device("dask").rechunk(2)]
    for order in (np.inf, -np.inf, 0, 1, -1):
        here = pa.linalg.vector_norm(x[mask], ord=order)
        assert pa.linalg.vector_norm(some, ord=order).compute() == here
    nothing = there[there > 9]
    assert pa.linalg.vector_norm(nothing).compute() == 0
    with pytest.raises(ValueError, match="there is no smallest one"):
        pa.linalg.vector_norm(nothing, ord=-np.inf).compute()


def test_what_sorts_and_finds() -> None:
    x = values((4, 6), dt.float32)
    for name in ("sort", "argsort"):
        compare(name, (x,), dt.float32, (1, 6), axis=1, descending=True, stable=True)
    for name in ("unique_values", "unique_counts", "unique_inverse", "unique_all"):
        compare(name, (x,), dt.float32, (4, 6))
    compare("isin", (x, x[:1]), dt.float32, (4, 6), invert=True)


def test_linear_algebra_of_stacks() -> None:
    x = np.random.default_rng(3).normal(size=(4, 3, 3))
    for name in ("det", "inv", "slogdet", "svdvals"):
        compare(name, (x,), dt.float64, (1, 3, 3))
    compare("qr", (x[:, :, :2],), dt.float64, (2, 3, 2), mode="complete")
    compare("rfft", (x,), dt.float64, (2, 3, 1), n=5, axis=1, norm="backward")


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms(name: str) -> None:
    for shape in ((3,), (2, 3)):
        x = pa.asarray(np.arange(6.0)[: int(np.prod(shape))].reshape(shape))
        x = x if name in ("rfft", "ihfft") else x + 1j
        asked: list[tuple[str, dict[str, Any]]] = [
            (name, {}),
            (name, {"n": 4}),
            (name, {"axis": 0}),
        ]
        if name not in ("hfft", "ihfft"):
            asked += [(f"{name}n", {}), (f"{name}n", {"s": (4,), "axes": (-1,)})]
        for function, options in asked:
            transform = getattr(pa.fft, function)
            assert bits(transform(x.to_device("dask"), **options)) == bits(transform(x, **options))


@pytest.mark.parametrize(
    ("kernel", "options"),
    [("sort", {"axis": 0}), ("unique_values", {}), ("det", {}), ("fft", {"axis": 0, "n": None})],
)
def test_what_needs_one_block_says_what_to_write(kernel: str, options: dict[str, Any]) -> None:
    blocks = da.ones((4, 4), chunks=(2, 4))
    with pytest.raises(ValueError, match=r"axis 0 in one block.*rechunk\(\{0: -1"):
        GRAPHS[kernel](kernel, (blocks,), dt.float64, **options)


def test_errors_come_before_anything_is_computed() -> None:
    x = pa.asarray(da.ones((4, 4), chunks=2))
    for wrong, words in (
        (lambda: pa.sum(x, axis=2), "axis 2 is out of bounds"),
        (lambda: pa.max(x[:0], axis=0), "empty"),
        (lambda: x @ x[:3], "do not match"),
    ):
        with pa.no_compute(), pytest.raises(ValueError, match=words):
            wrong()
