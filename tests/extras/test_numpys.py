"""NumPy's functions beyond the standard: values are NumPy's, dtypes those of the policy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.dtypes import CONCRETE
from promoarray.other_names import NUMPYS
from promoarray.policies import as_policy


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
        return
    assert (found.dtype.name, found.shape) == (wanted.dtype.name, wanted.shape)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6, atol=1e-12)


def test_they_are_functions_of_the_main_module_and_of_namespaces() -> None:
    xp = pa.namespace("torch")
    for name in NUMPYS:
        assert getattr(pa, name) is getattr(pa.extras, name)
        assert name in pa.__all__
        assert name in dir(xp)
        for bound in (xp, xp.extras):
            assert type(getattr(bound, name)).__name__ == "BoundFunction"
        assert pickle.loads(pickle.dumps(getattr(pa, name))) is getattr(pa, name)
    assert type(xp.median(xp.ones(3))) is xp.PArray
    jax = pa.namespace("jax").asarray([1.5])
    assert type(xp.array(jax)) is type(xp.array([1.5])) is xp.PArray


def test_array_copies() -> None:
    x = np.ones(3)
    assert not np.shares_memory(np.asarray(pa.array(x)), x)
    assert np.shares_memory(np.asarray(pa.array(x, copy=False)), x)
    made = pa.array([1, 2], pa.int8, ndmin=3)
    assert (made.shape, made.dtype) == ((1, 1, 2), pa.int8)
    assert pa.array(x, ndmin=1).shape == (3,)


def test_concatenate_and_transpose() -> None:
    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    ours = pa.asarray(x)
    same(pa.concatenate((ours, ours), 1), np.concatenate((x, x), 1))
    same(pa.concatenate((ours, [[7, 8, 9]])), np.concatenate((x, [[7, 8, 9]])))
    same(pa.concatenate((ours, ours), None), np.concatenate((x, x), None))
    same(pa.concatenate([ours], dtype="float32"), np.concatenate([x], dtype="float32"))
    same(pa.transpose(ours), np.transpose(x))
    same(pa.transpose(ours[None], (1, 0, 2)), np.transpose(x[None], (1, 0, 2)))
    with pytest.raises(pa.PromotionError):
        pa.namespace("array_api").extras.concatenate((ours, ours.astype("float32")))


@pytest.mark.parametrize("k", [-3, -1, 0, 1, 2, 5])
def test_diag(k: int) -> None:
    for shape in ((3,), (0,), (1,), (3, 4), (4, 3)):
        x = np.arange(1, 1 + np.prod(shape), dtype=np.int16).reshape(shape)
        same(pa.diag(pa.asarray(x), k), np.diag(x, k))
    with pytest.raises(ValueError, match="a matrix or a vector, not 3 axes"):
        pa.diag(pa.ones((1, 1, 1)))


def test_diag_keeps_every_dtype() -> None:
    for dtype in CONCRETE:
        x = pa.ones(2, dtype=dtype)
        assert pa.diag(x).dtype is dtype
        assert pa.diag(pa.diag(x)).tolist() == x.tolist()


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [0, 2, (1, 3), ((1, 2), (0, 4)), ((5,), (1,))])
def test_pad(mode: Any, width: Any) -> None:
    x = np.arange(6, dtype=np.int16).reshape(2, 3)
    same(pa.pad(pa.asarray(x), width, mode), np.pad(x, width, mode))
    same(pa.pad(pa.asarray(x[:1].T), width, mode), np.pad(x[:1].T, width, mode))


def test_pad_with_constants_of_each_side() -> None:
    x = np.ones((2, 2), np.float32)
    for values in (7, (1, 2), ((1, 2), (3, 4))):
        wanted = np.pad(x, ((1, 2), (2, 1)), constant_values=values)
        same(pa.pad(pa.asarray(x), ((1, 2), (2, 1)), constant_values=values), wanted)
    assert pa.pad(pa.ones(1, dtype=pa.float8_e4m3fn), 1, constant_values=0.3).tolist() == [
        0.3125,
        1.0,
        0.3125,
    ]
    assert pa.pad(pa.asarray(5), 2).item() == 5


def test_pad_refuses_what_makes_no_border() -> None:
    x = pa.ones((2, 2), dtype=pa.int8)
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: pa.pad(x, -1), ValueError, "0 or more"),
        (lambda: pa.pad(x, 1.5), TypeError, "integers as pad_width"),
        (lambda: pa.pad(x, ((1, 1),) * 3), ValueError, "each of the 2 axes"),
        (lambda: pa.pad(x, 1, "median"), ValueError, "no mode 'median'; write one of"),
        (lambda: pa.pad(x, 1, constant_values=300), OverflowError, "300"),
        (lambda: pa.pad(x[:0], 1, "edge"), ValueError, "empty axis"),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()


def test_logspace() -> None:
    same(pa.logspace(0, 3), np.logspace(0, 3))
    same(pa.logspace(-1, 2, 5, False, 2.0), np.logspace(-1, 2, 5, False, 2.0))
    for dtype in ("int8", "int32", "float16", "float32", "complex64"):
        with np.errstate(all="ignore"):
            same(pa.logspace(0, 2, 5, dtype=dtype), np.logspace(0, 2, 5, dtype=dtype))
    for policy, usual in (("torch", pa.float32), ("paddle", pa.float32), ("jax", pa.float64)):
        xp = pa.namespace(policy)
        out = xp.extras.logspace(0, 2, 3)
        assert (out.dtype, out.tolist()) == (usual, [1, 10, 100])
        exact = xp.extras.logspace(0, 1, 3, dtype=pa.float64)  # not through float32
        assert exact.tolist() == pytest.approx(np.logspace(0, 1, 3).tolist(), rel=1e-15)


SAMPLES = np.array([[1, 4, 9, 16], [2, 3, 5, 8], [0, 1, 0, 1]])


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int64", "complex64"])
def test_gradient(dtype: str, edge_order: int) -> None:
    x = SAMPLES.astype(dtype)
    ours, places = pa.asarray(x), np.array([0.0, 1.0, 2.5, 3.0])
    for args in ((), (2.0,), (2.0, 0.5)):
        same(
            pa.gradient(ours, *args, edge_order=edge_order),
            np.gradient(x, *args, edge_order=edge_order),
        )
    for args in ((0.5,), (places,)):
        wanted = np.gradient(x, *args, axis=1, edge_order=edge_order)
        same(pa.gradient(ours, *args, axis=1, edge_order=edge_order), wanted)
    same(pa.gradient(ours[0], places.tolist()), np.gradient(x[0], places))


# What the frameworks answered: NumPy 2.4, JAX 0.10, PyTorch 2.13; bools have no difference there.
GRADIENTS = {
    "numpy": "float64 float64 float64 float16 float32 complex64 -",
    "jax": "float32 float32 float64 float16 float32 complex64 -",
    "torch": "float32 float32 float32 float16 float32 complex64 -",
}


@pytest.mark.parametrize("policy", GRADIENTS)
def test_gradients_have_the_dtypes_of_the_frameworks(policy: str) -> None:
    found = []
    for dtype in ("int8", "int32", "int64", "float16", "float32", "complex64", "bool"):
        x = pa.namespace(policy).asarray(np.array([1, 2, 4]).astype(dtype))
        try:
            found.append(pa.gradient(x).dtype.name)
        except pa.PromotionError:
            found.append("-")
    assert found == GRADIENTS[policy].split()


def test_gradient_refuses_what_it_cannot_do() -> None:
    x = pa.ones((2, 3))
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: pa.gradient(x, 1, 2, 3), TypeError, "not 3"),
        (lambda: pa.gradient(x, axis=2), IndexError, "axis 2 is out of bounds"),
        (lambda: pa.gradient(x, edge_order=3), ValueError, "1 or 2, not 3"),
        (lambda: pa.gradient(x, edge_order=2), ValueError, "3 elements along axis 0"),
        (lambda: pa.gradient(x, [0.0, 1.0], axis=1), ValueError, "places have shape"),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()


@pytest.mark.parametrize(
    ("policy", "made"),
    [
        ("numpy", ("float64", "float64")),
        ("numpy@1", ("float64", "float64")),
        ("paddle@3.3", ("float32", "float32")),
        ("jax", ("float32", "float64")),
        ("torch", ("float32", "float64")),
    ],
)
def test_densities_have_the_dtype_of_the_framework(policy: str, made: tuple[str, str]) -> None:
    """As NumPy 2.4.6, Paddle 3.3.1, JAX 0.10.2 and torch 2.13.0 answer of these dtypes."""
    with pa.policy(policy):
        for dtype, density in zip(("float32", "float64"), made, strict=True):
            x = pa.asarray([1.0, 2.0, 2.0, 5.0], dtype=dtype)
            found, edges = pa.extras.histogram(x, 3, density=True)
            assert (found.dtype.name, edges.dtype.name) == (density, dtype)
            assert abs(float(pa.sum(found) * (edges[1] - edges[0])) - 1) < 1e-6


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_no_border_meets_an_infinity(name: str, mode: str) -> None:
    for special in (np.inf, -np.inf, np.nan):
        for length in range(1, 7):
            x, kernel = np.arange(1.0, 5.0), np.ones(length)
            kernel[length // 2] = special
            wanted = getattr(np, name)(x, kernel, mode)
            same(getattr(pa, name)(pa.asarray(x), pa.asarray(kernel), mode), wanted)


@pytest.mark.parametrize(
    ("policy", "dtype", "result"),  # as jnp.convolve of JAX 0.10.2 and np.convolve answer
    [
        *(("jax@x32", "int32", "float32"), ("jax@x64", "int64", "float64")),
        *(("jax@x32", "float16", "float16"), ("numpy", "int32", "int32")),
    ],
)
def test_a_convolution_is_of_the_dtype_that_the_framework_has(
    policy: str, dtype: str, result: str
) -> None:
    xp = pa.namespace(policy)
    x = xp.asarray([1, 0, 2], dtype=getattr(xp, dtype))
    for found in (xp.convolve(x, x[:2]), xp.correlate(x, x[:2])):
        assert found.dtype.name == result
    assert xp.convolve(x, x[:2]).tolist() == [1, 0, 2, 0]


def test_vdot_of_integers_is_there_under_pytorch() -> None:
    xp = pa.namespace("torch")
    x = xp.asarray([1, 2, 3], dtype=xp.int32)
    assert (xp.vdot(x, x).dtype, xp.vdot(x, x).item()) == (pa.int32, 14)  # torch 2.13's
    z = xp.asarray([1j, 2.0])
    assert xp.vdot(z, z).item() == 5


@pytest.mark.parametrize("name", ["cov", "corrcoef"])
@pytest.mark.parametrize("policy", ["numpy@2", "torch@2.13", "jax@x64", "jax@x32"])
def test_covariances_have_the_recorded_dtype(policy: str, name: str) -> None:
    answers = as_policy(policy).answers
    assert answers is not None
    with pa.policy(policy):
        for dtype in (pa.uint8, pa.int64, pa.float16, pa.float32, pa.complex64):
            row = answers.rows[name].get(dtype.code)
            if row is not None:
                made = getattr(pa, name)(pa.asarray([[3, 1, 2], [2, 3, 1]]).astype(dtype))
                assert made.dtype is row.results[0], (dtype, made.dtype)
