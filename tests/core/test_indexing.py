"""Indexing: what may be read and written, and that everything stays an array of its dtype."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind

VALUES = np.arange(12).reshape(3, 4) % 2

KEYS: list[Any] = [
    *(0, -1, (1, 2), (), ..., None, slice(None), slice(None, None, -1), slice(5, 1)),
    *((slice(None), 1), (..., -1), (None, 0, ...), (slice(0, 3, 2), slice(None, None, -2))),
    *((0, slice(None, 0)), np.int64(1), (np.array(2), 1)),
    range(2),
    *(np.array([2, 0]), np.array([[0, 1], [2, -1]]), np.array([], np.int64)),
    *((np.array([0, 2]), np.array([1, 1])), (slice(None), np.array([3, 0]))),
    *(VALUES == 1, np.array([True, False, True]), np.array(True), np.array(False)),
]


def ours(key: Any) -> Any:
    """The key with PArrays for NumPy arrays."""
    if isinstance(key, tuple):
        return tuple(ours(k) for k in key)
    return pa.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_reading_is_numpys_reading_of_the_same_key(key: Any) -> None:
    wrong = []
    for dtype in CONCRETE:
        buffer = VALUES.astype(dtype.storage)
        for k in (key, ours(key)):
            out = pa.asarray(buffer)[k]
            expected = np.asarray(buffer[key], dtype.storage)
            same = np.asarray(out).tobytes() == expected.tobytes()
            if not (out.dtype is dtype and out.shape == expected.shape and same):
                wrong.append((dtype.code, out))
    assert wrong == []


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_writing_is_numpys_writing_to_the_same_key(key: Any) -> None:
    wrong = []
    for dtype in CONCRETE:
        expected = VALUES.astype(dtype.storage)
        expected[key] = np.asarray(1).astype(dtype.storage)
        for value in (1, np.int8(1), pa.asarray(1.0, dtype=pa.float16), True):
            for k in (key, ours(key)):
                x = pa.asarray(VALUES.astype(dtype.storage))
                x[k] = value
                if np.asarray(x).tobytes() != expected.tobytes():
                    wrong.append((dtype.code, value, x))
    assert wrong == []


def test_slices_are_views_and_masks_copies() -> None:
    x = pa.asarray(VALUES, copy=True)
    assert np.shares_memory(np.asarray(x[1:, ::2]), np.asarray(x))
    assert np.shares_memory(np.asarray(x[...]), np.asarray(x))
    assert not np.shares_memory(np.asarray(x[x == 1]), np.asarray(x))
    x[1:][0] += 5
    assert x[1].tolist() == (VALUES[1] + 5).tolist()


@pytest.mark.parametrize("dtype", [d for d in CONCRETE if d.kind in (Kind.INT, Kind.UINT)], ids=str)
def test_arrays_of_any_integer_dtype_are_indices(dtype: DType) -> None:
    x = pa.asarray([10, 20, 30])
    assert x[pa.asarray([1, 0], dtype=dtype)].tolist() == [20, 10]
    assert x[pa.asarray(1, dtype=dtype)].item() == 20
    assert x[: pa.asarray(1, dtype=dtype)].tolist() == [10]
    assert pa.take(x, pa.asarray([1, 0], dtype=dtype)).tolist() == [20, 10]


@pytest.mark.parametrize("dtype", [d for d in CONCRETE if d.kind in (Kind.FLOAT, Kind.COMPLEX)])
def test_arrays_of_other_dtypes_are_no_indices(dtype: DType) -> None:
    x, key = pa.asarray([10, 20]), pa.asarray([1, 1], dtype=dtype)
    with pytest.raises(IndexError, match=f"of integers or bools, not {dtype.name}"):
        x[key]
    with pytest.raises(IndexError, match=f"of integers or bools, not {dtype.name}"):
        x[key] = 1
    with pytest.raises(IndexError, match="of integers or bools"):
        x[key, ...]


@pytest.mark.parametrize(
    "key", [5, -4, (0, 0), 1.5, "a", object(), {"a": 1}, np.array([7]), np.array([True]), 10**400]
)
def test_keys_that_lead_nowhere_are_index_errors(key: Any) -> None:
    x = pa.asarray([10, 20, 30])
    with pytest.raises(IndexError):
        x[key]
    with pytest.raises(IndexError):
        x[key] = 1
    assert x.tolist() == [10, 20, 30]


def test_a_mask_may_be_bound_or_not_and_0d() -> None:
    x = pa.asarray(5)
    assert x[pa.asarray(True)].tolist() == [5]
    assert x[pa.asarray(False)].shape == (0,)
    x[pa.asarray(True)] = 7
    assert x.item() == 7


def test_what_is_written_is_cast_to_the_targets_dtype() -> None:
    x = pa.asarray([0, 0, 0], dtype=pa.int8)
    x[0] = 2.75
    x[1] = pa.asarray(3.5, dtype=pa.bfloat16)
    x[2] = np.int64(300)  # an array's low bits, as astype keeps them
    assert x.tolist() == [2, 3, 44]
    y = pa.zeros(3, dtype=pa.float8_e4m3fn)
    y[:] = pa.asarray([0.3, 17.0, 100.0])
    assert y.tolist() == [0.3125, 16.0, 96.0]
    z = pa.zeros(1, dtype=pa.complex64)
    z[0] = 1.5
    assert z.tolist() == [1.5 + 0j]
    assert {x.dtype, y.dtype, z.dtype} == {pa.int8, pa.float8_e4m3fn, pa.complex64}


def test_writing_follows_the_scalar_rule_of_the_policy() -> None:
    x = pa.asarray([0], dtype=pa.int8)
    with pytest.raises(OverflowError, match="300 does not fit int8"):
        x[0] = 300
    y = pa.asarray([0], dtype=pa.uint8)
    with pa.policy("torch"):
        with pytest.raises(OverflowError, match="300 does not fit int8"):
            x[0] = 300
        y[0] = -1
    assert (x.tolist(), y.tolist()) == ([0], [255])


@pytest.mark.parametrize(("policy", "shared"), [("numpy", [1, 2]), ("torch", [7, 2])])
def test_one_element_and_flip_share_memory_where_the_framework_does(
    policy: str, shared: list[int]
) -> None:
    with pa.policy(policy):
        x = pa.asarray([1, 2])
        for key in (0, (0,), -2, (0, ...)):
            x[key][...] = 7
            assert x.tolist() == ([7, 2] if key == (0, ...) else shared)
            x[0] = 1
        pa.flip(x)[...] = 5
        assert x.tolist() == ([5, 5] if policy == "numpy" else [1, 2])


def test_strings_stay_strings() -> None:
    x = pa.asarray(["a", "b", "c"], dtype=dt.string)
    assert (x[0].dtype, x[0].item(), x[::-1].tolist()) == (dt.string, "a", ["c", "b", "a"])
    assert x[pa.asarray([2, 0])].tolist() == ["c", "a"]
    x[0] = x[2]
    assert x.tolist() == ["c", "b", "c"]
    assert np.asarray(x[0]).dtype == np.dtypes.StringDType()


def test_weak_types_survive_indexing() -> None:
    with pa.policy("jax"):
        x = pa.broadcast_to(pa.asarray(1.5), (3,))
        assert x[0].weak_type
        assert x[1:].weak_type


@pytest.mark.parametrize(
    ("target", "value", "refused"),
    [
        (pa.int32, 1.5, "a Python float"),
        (pa.int32, pa.asarray(1.5), "float64"),
        (pa.int32, pa.asarray(1, dtype=pa.int64), "int64"),
        (pa.uint8, pa.asarray(1, dtype=pa.int8), "int8"),
        (pa.bool, 1, "a Python int"),
        (pa.float32, True, "a Python bool"),
        (pa.int32, 1, None),
        (pa.int32, pa.asarray(1, dtype=pa.int8), None),
        (pa.float32, 1, None),
        (pa.complex64, pa.asarray(1.5, dtype=pa.float32), None),
        (pa.bool, pa.asarray(True), None),
    ],
    ids=str,
)
def test_the_standard_writes_only_what_promotes_to_the_target(
    target: DType, value: Any, refused: str | None
) -> None:
    xp = pa.namespace("array_api")
    x = xp.zeros(2, dtype=target)
    if refused is None:
        x[0] = value
        assert x.tolist() == [value.item() if isinstance(value, pa.PArray) else value, 0]
    else:
        with pytest.raises(pa.PromotionError, match=f"does not write {refused} into {target}"):
            x[0] = value
        assert x.tolist() == [0, 0]
    with pa.policy("numpy"):
        y = pa.zeros(2, dtype=target)
        y[0] = value  # frameworks cast
        assert y.dtype is target


def test_lists_are_keys_too() -> None:
    x = pa.asarray([10, 20, 30])
    assert x[[2, 0]].tolist() == [30, 10]
    assert x[[True, False, True]].tolist() == [10, 30]
    assert x[[]].shape == (0,)
    x[[0, 1]] = 5
    assert x.tolist() == [5, 5, 30]
    for key in ([0.5], ["a"], [[1], [1, 2]], [None], [object()]):
        with pytest.raises(IndexError):
            x[key]


def test_masks_of_fewer_axes_choose_rows() -> None:
    x = pa.asarray(VALUES)
    rows = pa.asarray([True, False, True])
    assert x[rows].tolist() == VALUES[[0, 2]].tolist()
    x[rows] = 7
    assert x[:, 0].tolist() == [7, VALUES[1, 0], 7]
    for mask in (pa.asarray([True, False]), pa.ones((3, 3), dtype=pa.bool)):
        with pytest.raises(IndexError, match="boolean index did not match"):
            x[mask]
        with pytest.raises(IndexError, match="boolean index did not match"):
            x[mask] = 0


@pytest.mark.parametrize("dtype", [pa.int8, pa.float64, pa.bfloat16], ids=str)
def test_values_are_those_from_before_the_assignment(dtype: DType) -> None:
    """NumPy's own ``a[0:20:2] = a[:10]`` reads what it has written meanwhile."""
    parts = [slice(0, 10), slice(10, 20), slice(0, 20, 2), slice(1, 20, 2), slice(9, None, -1)]
    for key, source in product(parts, parts):
        x = pa.asarray(np.arange(20), dtype=dtype)
        wanted = np.arange(20)
        wanted[key] = np.arange(20)[source]
        x[key] = x[source]
        assert x.tolist() == wanted.tolist(), (key, source)
