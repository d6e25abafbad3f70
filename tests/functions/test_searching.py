"""Searching, differences and taking: values against NumPy's, dtypes against the frameworks'."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind

REAL = [d for d in CONCRETE if d.kind is not Kind.COMPLEX]
RNG = np.random.default_rng(4)


def ordered(dtype: DType) -> list[Any]:
    """All small values of a dtype, in order."""
    values = [0, 1] if dtype is dt.bool else [0, 1, 2, 3] if dtype is dt.uint2 else [-2, -1, 0, 1]
    if dtype.kind is Kind.UINT and dtype is not dt.uint2:
        values = [0, 1, 2, 5]
    if dtype is dt.float8_e8m0fnu:
        values = [1, 2, 4, 8]
    return values


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_searchsorted_is_numpys_on_the_values(dtype: DType, side: Any) -> None:
    values = ordered(dtype)
    x, v = pa.asarray(values, dtype=dtype), pa.asarray([values[::-1], values], dtype=dtype)
    found = pa.searchsorted(x, v, side=side)
    expected = np.searchsorted(np.asarray(values), np.asarray([values[::-1], values]), side)
    assert (found.dtype, found.tolist()) == (pa.int64, expected.tolist())
    order = np.argsort(values[::-1], kind="stable")
    sorter = pa.asarray(order, dtype=pa.int16)
    assert pa.searchsorted(x[::-1], v, side=side, sorter=sorter).tolist() == expected.tolist()
    assert pa.searchsorted(x, v[0, 0]).shape == ()
    assert pa.searchsorted(x[:0], v).tolist() == np.zeros_like(expected).tolist()


def test_searchsorted_promotes_as_the_policy_says() -> None:
    x = pa.asarray([1, 2, 3], dtype=pa.int8)
    assert pa.searchsorted(x, 2.5).item() == 2
    assert pa.searchsorted(x, pa.asarray([2.5])).tolist() == [2]
    assert pa.searchsorted(x, 300).item() == 3  # NumPy makes an array of 300 first
    with pa.policy("array_api"), pytest.raises(OverflowError, match="300 does not fit int8"):
        pa.searchsorted(x, 300)
    with pa.policy("onnx"), pytest.raises(pa.PromotionError, match="searchsorted"):
        pa.searchsorted(x, pa.asarray([2.5]))
    for policy in ("jax", "jax@x32"):  # jnp.searchsorted of 0.10.2 with x64, and without
        with pa.policy(policy):
            assert pa.searchsorted(x, 2).dtype is pa.int32
    with pytest.raises(pa.PromotionError, match="complex"), pa.policy("paddle"):
        pa.searchsorted(pa.asarray([1j]), pa.asarray([1j]))


def test_searchsorted_refuses_what_it_cannot_search() -> None:
    x = pa.asarray([1, 2])
    with pytest.raises(ValueError, match="x1 must be one-dimensional"):
        pa.searchsorted(x[None], x)
    with pytest.raises(ValueError, match="'left' or 'right', not 'middle'"):
        pa.searchsorted(x, x, side="middle")
    with pytest.raises(ValueError, match=r"sorter has shape \(3,\)"):
        pa.searchsorted(x, x, sorter=pa.asarray([0, 1, 2]))
    with pytest.raises(IndexError, match="of integers"):
        pa.searchsorted(x, x, sorter=pa.asarray([0.0, 1.0]))
    with pytest.raises(TypeError, match="takes an array"):
        pa.searchsorted([1, 2], x)


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_counting_and_finding_what_is_not_zero(dtype: DType) -> None:
    values = RNG.integers(0, 2, (3, 4))
    x = pa.astype(pa.asarray(values), dtype)
    if dtype is dt.float8_e8m0fnu:  # has no zero
        values = np.ones_like(values)
    for axis in (None, 0, -1, (0, 1), ()):
        for keepdims in (False, True):
            found = pa.count_nonzero(x, axis=axis, keepdims=keepdims)
            expected = np.count_nonzero(values, axis=axis, keepdims=keepdims)
            assert (found.dtype, found.tolist()) == (pa.int64, np.asarray(expected).tolist())
    assert [i.tolist() for i in pa.nonzero(x)] == [i.tolist() for i in np.nonzero(values)]


def test_nan_is_not_zero_and_negative_zero_is() -> None:
    x = pa.asarray([pa.nan, -0.0, 0.0, 1e-300])
    for dtype in (pa.float64, pa.float32, pa.bfloat16, pa.complex64):
        y = pa.astype(x, dtype)
        tiny = dtype is pa.float64
        assert pa.count_nonzero(y).item() == 1 + tiny
        assert pa.nonzero(y)[0].tolist() == [0, 3][: 1 + tiny]
    assert pa.count_nonzero(pa.asarray([1j, 0j])).item() == 1
    with pa.policy("onnx"):
        assert pa.count_nonzero(x).item() == 2
    with pytest.raises(TypeError, match="strings do not compare with zero"):
        pa.nonzero(pa.asarray(["a"]))


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_diff_subtracts_neighbours_in_the_dtype(dtype: DType) -> None:
    values = ordered(dtype) if dtype in REAL else [0, 1, 2, 5]
    x = pa.asarray([values, values[::-1]], dtype=dtype)
    for axis in (0, 1, -1):
        later, earlier = (x[1:], x[:-1]) if axis == 0 else (x[:, 1:], x[:, :-1])
        expected = later != earlier if dtype is dt.bool else later - earlier
        assert repr(pa.diff(x, axis=axis)) == repr(expected)
        assert pa.diff(x, axis=axis).dtype is dtype
    twice = pa.diff(x, n=2)
    assert repr(twice) == repr(pa.diff(pa.diff(x)))
    assert pa.diff(x, n=0).shape == x.shape
    assert pa.diff(x, n=9).shape == (2, 0)


def test_diff_of_what_is_put_around() -> None:
    x = pa.asarray([1, 4], dtype=pa.int8)
    assert pa.diff(x, prepend=x[:1], append=x[1:]).tolist() == [0, 3, 0]
    assert pa.diff(x, append=pa.asarray([0.5])).dtype is pa.float64
    with pa.policy("onnx"), pytest.raises(pa.PromotionError, match="concat"):
        pa.diff(x, append=pa.asarray([0.5]))
    with pytest.raises(ValueError, match="0 or more, not -1"):
        pa.diff(x, n=-1)
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        pa.diff(x, axis=1)
    with pa.policy("array_api"), pytest.raises(pa.PromotionError, match="diff"):
        pa.diff(pa.asarray([True, False]))


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_taking_keeps_the_bits(dtype: DType) -> None:
    buffer = np.asarray(pa.astype(pa.asarray(RNG.integers(0, 2, (3, 4))), dtype))
    x = pa.asarray(buffer)
    index = RNG.integers(-3, 3, (2, 5))
    for axis in (0, 1, -1):
        ours = pa.take(x, pa.asarray(index, dtype=pa.int8), axis=axis)
        theirs = np.take(buffer, index, axis)
        assert (ours.dtype, ours.shape) == (dtype, theirs.shape)
        assert np.asarray(ours).tobytes() == theirs.tobytes()
    along = RNG.integers(-3, 3, (3, 6))
    ours = pa.take_along_axis(x, pa.asarray(along))
    assert np.asarray(ours).tobytes() == np.take_along_axis(buffer, along, -1).tobytes()
    ours = pa.take_along_axis(x, pa.asarray(along[:1, :4]), axis=0)
    assert np.asarray(ours).tobytes() == np.take_along_axis(buffer, along[:1, :4], 0).tobytes()


def test_taking_says_what_is_wrong() -> None:
    x = pa.asarray([[1, 2], [3, 4]])
    for function in (pa.take, pa.take_along_axis):
        with pytest.raises(IndexError, match="index 9 is out of bounds"):
            function(x, pa.asarray([9] if function is pa.take else [[9]]), axis=0)
        with pytest.raises(IndexError, match=r"of integers.*not float64"):
            function(x, pa.asarray([[1.0, 1.0]]), axis=0)
        with pytest.raises(ValueError, match="axis 5"):
            function(x, pa.asarray([[0]]), axis=5)
    with pytest.raises(ValueError, match="needs axis="):
        pa.take(x, pa.asarray([0]))
    with pytest.raises(ValueError, match="x has 2 axes, indices have 1"):
        pa.take_along_axis(x, pa.asarray([0]))
    torch, jax = pa.namespace("torch"), pa.namespace("jax")
    with pytest.raises(TypeError, match="do not mix"):
        pa.take(torch.asarray([1]), jax.asarray([0]))


def test_sorting_and_taking_along_go_together() -> None:
    x = pa.asarray(RNG.integers(-9, 9, (4, 5)), dtype=pa.float8_e4m3fn)
    assert repr(pa.take_along_axis(x, pa.argsort(x), axis=-1)) == repr(pa.sort(x))
