"""Sorting: by value in every dtype, NaN last, -0.0 as 0.0, stable."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import promoarray as pa
from promoarray.dtypes import BY_CODE, DType, Kind

NUMERIC = [d for d in BY_CODE.values() if not d.weak and d.kind is not Kind.STRING]
SMALL = [d for d in NUMERIC if d.storage.itemsize == 1 or d in (pa.float16, pa.bfloat16)]


def every_value(dtype: DType) -> pa.PArray:
    """Every code of a small dtype, in no order."""
    count = 2 if dtype is pa.bool else 1 << min(dtype.bits, 16)
    codes = np.random.default_rng(dtype.bits).permutation(count)
    bits = codes.astype(f"u{dtype.storage.itemsize}")
    if dtype.kind is Kind.INT and dtype.bits < 8:
        return pa.asarray((codes - count // 2).astype(np.int8), dtype=dtype)
    if dtype.kind is Kind.UINT and dtype.bits < 8:
        return pa.asarray(codes.astype(np.uint8), dtype=dtype)
    return pa.PArray._wrap(bits.view(dtype.storage), dtype)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_every_value_of_a_small_dtype_sorts_by_value(dtype: DType, descending: bool) -> None:
    x = every_value(dtype)
    order = pa.argsort(x, descending=descending)
    with np.errstate(invalid="ignore"):  # signalling NaN
        wide = x._decoded().astype(np.float64)
    key = np.where(np.isnan(wide), np.inf, wide)
    ties = np.isnan(wide)  # NaN is beyond infinity
    places = range(x.size)
    sign = -1 if descending else 1
    expected = sorted(places, key=lambda i: (ties[i] != descending, sign * key[i]))
    assert order.tolist() == expected
    out = pa.sort(x, descending=descending)
    assert out.dtype is dtype
    picked = np.asarray(x)[expected]
    assert np.asarray(out).tobytes() == picked.tobytes()  # the same bits, those of NaN too


@pytest.mark.parametrize("dtype", [pa.int64, pa.float32], ids=str)
@given(data=st.data())
def test_sorting_is_stable_along_every_axis(dtype: DType, data: st.DataObject) -> None:
    shape = data.draw(hnp.array_shapes(max_dims=3, max_side=4, min_side=0))
    values = data.draw(hnp.arrays(dtype.storage, shape, elements=st.integers(0, 2)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    descending = data.draw(st.booleans())
    x = pa.asarray(values)
    order = np.asarray(pa.argsort(x, axis=axis, descending=descending))
    key = -values.astype(np.int64) if descending else values
    assert (order == np.argsort(key, axis=axis, kind="stable")).all()
    out = np.asarray(pa.sort(x, axis=axis, descending=descending))
    assert (out == np.take_along_axis(values, order, axis)).all()
    assert (np.asarray(pa.sort(x, axis=axis, stable=False)) == np.sort(values, axis)).all()


def test_zeros_of_both_signs_stay_in_order() -> None:
    x = pa.asarray([0.0, -0.0, 1.0, -0.0, 0.0])
    for descending, signs in ((False, [False, True, True, False, False]),
                              (True, [False, False, True, True, False])):  # fmt: skip
        assert pa.signbit(pa.sort(x, descending=descending)).tolist() == signs


def test_complex_numbers_sort_by_real_then_imaginary_part_in_numpy() -> None:
    x = pa.asarray([1 + 2j, 1 + 1j, 0 + 5j], dtype=pa.complex64)
    assert pa.sort(x).tolist() == [5j, 1 + 1j, 1 + 2j]
    narrow = pa.astype(x, pa.complex32)
    assert pa.sort(narrow).dtype is pa.complex32
    assert pa.argsort(narrow).tolist() == [2, 1, 0]
    with pa.policy("torch"), pytest.raises(pa.PromotionError, match="no order"):
        pa.sort(x)


def test_what_is_not_contiguous_sorts() -> None:
    x = pa.asarray(np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::-1, ::2].T)
    assert pa.sort(x, axis=1).tolist() == np.sort(np.asarray(x), 1).tolist()


@pytest.mark.parametrize(
    ("policy", "index"),
    [("numpy", "int64"), ("jax", "int64"), ("jax@x32", "int32"), ("torch", "int64"),
     ("tensorflow", "int32"), ("paddle", "int64"), ("mindspore", "int32"), ("onnx", "int64"),
     ("aclnn", "int64"), ("array_api", "int64")],
)  # fmt: skip
def test_indices_are_of_the_policys_dtype(policy: str, index: str) -> None:
    with pa.policy(policy):
        assert pa.argsort(pa.asarray([2.0, 1.0], dtype=pa.float32)).dtype.name == index


def test_wrong_axes_are_told() -> None:
    with pytest.raises(ValueError, match="axis 1 is out of bounds for array of dimension 1"):
        pa.sort(pa.asarray([1, 2]), axis=1)
    with pytest.raises(ValueError, match="axis -1 is out of bounds for array of dimension 0"):
        pa.argsort(pa.asarray(1))
    with pytest.raises(TypeError, match="takes an array"):
        pa.sort([2, 1])


def test_results_lie_in_c_order_for_libraries_that_take_them_without_a_copy() -> None:
    m = pa.asarray(np.arange(12.0).reshape(3, 4)).T
    for x in (m, m.astype(pa.int8), m.astype(pa.bfloat16)):
        for axis, descending in product((0, 1), (False, True)):
            made = pa.argsort(x, axis=axis, descending=descending)
            made = np.from_dlpack(made, copy=False)  # type: ignore[arg-type]
            assert made.flags.c_contiguous
            values = pa.sort(x, axis=axis, descending=descending)
            assert pa.reshape(values, (-1,), copy=False).shape == (12,)
        assert pa.reshape(pa.tile(x, (1, 1)), (-1,), copy=False).shape == (12,)
