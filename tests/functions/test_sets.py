"""Sets: equal by value, NaN each its own, zeros one; indices as the policy has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promoarray as pa
from promoarray.dtypes import BY_CODE, DType, Kind

NUMERIC = [d for d in BY_CODE.values() if not d.weak and d.kind is not Kind.STRING]
FLOATS = [d for d in NUMERIC if d.kind is Kind.FLOAT and d.format is not None]
NAN = [d for d in FLOATS if "fn" not in d.name or d is pa.float8_e4m3fn]


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_every_dtype_has_unique_values(dtype: DType) -> None:
    values = [1, 0, 1, 1] if dtype is not pa.float8_e8m0fnu else [1, 2, 1, 1]
    x = pa.asarray([values[:2], values[2:]], dtype=dtype)
    found = pa.unique_all(x)
    assert [r.dtype for r in found] == [dtype, pa.int64, pa.int64, pa.int64]
    assert found.values.tolist() == sorted(set(pa.reshape(x, (-1,)).tolist()), key=abs)
    assert pa.take(pa.reshape(x, (-1,)), found.indices).tolist() == found.values.tolist()
    assert found.inverse_indices.shape == x.shape
    back = pa.take(found.values, pa.reshape(found.inverse_indices, (-1,)))
    assert back.tolist() == pa.reshape(x, (-1,)).tolist()
    assert sum(found.counts.tolist()) == x.size
    assert pa.unique_values(x).tolist() == found.values.tolist()


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, math.nan, math.inf, -math.inf]), max_size=9))
def test_unique_of_floats_is_by_value(values: list[float]) -> None:
    x = pa.asarray(values, dtype=pa.float64)
    found = pa.unique_all(x)
    numbers = {v for v in values if v == v}
    nans = sum(v != v for v in values)
    assert found.values.tolist()[: len(numbers)] == sorted(numbers)
    assert found.values.size == len(numbers) + nans
    for value, first, count in zip(*(r.tolist() for r in (*found[:2], found.counts)), strict=True):
        same = [i for i, v in enumerate(values) if v == value]
        assert count == (len(same) or 1)
        assert first == same[0] if same else math.isnan(values[first])
    assert pa.unique_counts(x).counts.tolist() == found.counts.tolist()
    assert pa.unique_inverse(x).inverse_indices.tolist() == found.inverse_indices.tolist()


@pytest.mark.parametrize("dtype", NAN, ids=str)
def test_nan_and_zeros_of_every_float(dtype: DType) -> None:
    if dtype is pa.float8_e8m0fnu:
        pytest.skip("it has no zero")
    x = pa.asarray([0.0, -0.0, math.nan, math.nan], dtype=dtype)
    nans = 2 if dtype.format.nan is not None else 0
    counts = pa.unique_counts(x).counts.tolist()
    assert counts[0] >= 1
    assert counts[len(counts) - nans :] == [1] * nans


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
def test_results_are_named_tuples_bound_to_their_namespace(name: str) -> None:
    xp = pa.namespace("torch")
    found = getattr(xp, name)(np.asarray([1, 1, 2]))
    assert all(found[i] is getattr(found, field) for i, field in enumerate(found._fields))
    assert {type(r) for r in found} == {type(xp.asarray([1]))}


@pytest.mark.parametrize(
    ("policy", "index"), [("numpy", "int64"), ("jax@x32", "int32"), ("tensorflow", "int32")]
)
def test_indices_are_of_the_policys_dtype(policy: str, index: str) -> None:
    with pa.policy(policy):
        found = pa.unique_all(pa.asarray([2.0, 1.0], dtype=pa.float32))
    assert [r.dtype.name for r in found] == ["float32", index, index, index]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (0, 3)])
def test_unique_of_no_and_of_one_element(shape: tuple[int, ...]) -> None:
    x = pa.zeros(shape, dtype=pa.bfloat16)
    found = pa.unique_all(x)
    assert found.values.shape == found.counts.shape == found.indices.shape == (min(x.size, 1),)
    assert found.inverse_indices.shape == shape


def test_isin_promotes_as_the_policy_compares() -> None:
    x, y = pa.asarray([1, 2, 3], dtype=pa.int8), pa.asarray([3.0, 1.0, math.nan])
    assert pa.isin(x, y).tolist() == [True, False, True]
    assert pa.isin(x, y, invert=True).tolist() == [False, True, False]
    assert pa.isin(2, x).shape == ()
    assert pa.isin(x, 2).tolist() == [False, True, False]
    assert pa.isin(x, 1000).tolist() == [False] * 3
    assert pa.isin(y, y).tolist() == [True, True, False]
    with pa.policy("array_api"), pytest.raises(pa.PromotionError):
        pa.isin(x, y)
    with pa.policy("torch"), pytest.raises(pa.PromotionError, match="neither bool"):
        pa.isin(pa.asarray([True]), pa.asarray([1]))
    with pytest.raises(TypeError, match="takes an array"):
        pa.isin(1, 2)


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_isin_of_every_dtype(dtype: DType) -> None:
    x = pa.asarray([1, 2, 1] if dtype is pa.float8_e8m0fnu else [1, 0, 1], dtype=dtype)
    assert pa.isin(x, x[:1]).tolist() == [True, False, True]
    assert pa.isin(x, x[:0]).tolist() == [False] * 3


def test_what_is_not_contiguous_has_unique_values() -> None:
    values = np.arange(12, dtype=np.int16).reshape(3, 4)[::-1, ::2].T % 3
    found = pa.unique_inverse(pa.asarray(values))
    assert np.asarray(found.values)[np.asarray(found.inverse_indices)].tolist() == values.tolist()
