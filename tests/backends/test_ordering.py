"""Sorts and sets against their definition: sorted stably by values, the bits moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orderings import defined

import promoarray as pa
from promoarray.backends import numpy as backend
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.kernels.portable import linalg

ORDERED = [d for d in CONCRETE if d.kind is not Kind.STRING]
REAL = [d for d in ORDERED if d.kind is not Kind.COMPLEX]


def codes(dtype: DType) -> Any:
    """Few bit patterns of a dtype: zeros, ends and NaN of both signs, and some between."""
    if dtype.kind is Kind.BOOL:
        return np.array([False, True])
    if dtype.kind is Kind.COMPLEX:
        few = codes(dtype.part)
        pairs = np.empty((few.size, few.size, 2), few.dtype)
        pairs[..., 0], pairs[..., 1] = few[:, None], few
        return pairs.view(dtype.storage).reshape(-1)
    low = (1 << dtype.bits) - 1
    sign = 1 << dtype.bits - 1
    found = [0, 1, 3, sign - 1, sign >> 1]
    if dtype.format is not None:
        layout = dtype.format
        found += [layout.largest, layout.inf or 1, layout.nan or 1, (layout.nan or 1) ^ 1]
    both = [code ^ flip & low for code in found for flip in (0, sign)]
    return np.array(both, f"u{dtype.storage.itemsize}").view(dtype.storage)


SORTED = [name for name in linalg.ORDERINGS if name != "isin"]
"""Those of one array; ``numpy/test_membership.py`` has the other."""


def compare(name: str, dtype: DType, x: Any, **options: Any) -> None:
    with np.errstate(all="raise"):
        found = backend.call(name, (x,), dtype, **options)
    with np.errstate(all="ignore"):
        wanted = defined(name, dtype, (x,), **options)
    moves = [name != "argsort", *[False] * 3]  # the others are indices and numbers
    assert [each for _, each in found] == [
        dtype if moved else pa.int64 for moved, _ in zip(moves, wanted, strict=False)
    ]
    for (one, _), other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()


@given(dtype=st.sampled_from(ORDERED), data=st.data())
def test_orders_as_the_portable_kernels_do(dtype: DType, data: st.DataObject) -> None:
    few = codes(dtype)
    shape = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    size = int(np.prod(shape))
    picked = data.draw(st.lists(st.integers(0, few.size - 1), min_size=size, max_size=size))
    x = few[np.array(picked, np.intp)].reshape(shape)
    x = data.draw(st.sampled_from([x, x.T, x[::-1], x[..., ::2]]))
    x.flags.writeable = False
    axis, descending = data.draw(st.integers(0, x.ndim - 1)), data.draw(st.booleans())
    name = data.draw(st.sampled_from(SORTED))
    if name in ("sort", "argsort"):
        compare(name, dtype, x, axis=axis, descending=descending, stable=True)
    else:
        compare(name, dtype, x)


@pytest.mark.parametrize(
    "dtype", [pa.uint16, pa.float32, pa.int64, pa.float64, pa.complex64, pa.complex128], ids=str
)
def test_orders_rows_longer_than_indices_in_few_bits(dtype: DType) -> None:
    random = np.random.default_rng(1)
    x = np.frombuffer(random.bytes(70_000 * dtype.storage.itemsize), dtype.storage).copy()
    x[::7] = x[0]  # keys of 64 bits go by their halves: some are equal in one, some in both
    x.view(dtype.part.storage).view(f"u{dtype.part.storage.itemsize}")[1::7] ^= 1
    compare("argsort", dtype, x, axis=0, descending=True, stable=True)
    compare("unique_all", dtype, x)


@pytest.mark.parametrize("dtype", [pa.complex32, pa.complex64, pa.complex128], ids=str)
@pytest.mark.parametrize("alike", ["none", "numbers", "zeros", "NaN"])
def test_many_complex_numbers_are_ordered_as_the_portable_kernels_do(
    dtype: DType, alike: str
) -> None:
    random = np.random.default_rng(3)
    parts = random.standard_normal((1000, 2))
    if alike == "numbers":
        parts = np.round(parts * 4) + 100
    if alike == "zeros":
        parts = np.round(parts)
    if alike == "NaN":
        parts[random.random(parts.shape) < 0.1] = np.nan
    x = parts.astype(dtype.part.storage).view(dtype.storage)[..., 0]
    for name in SORTED:
        if name in ("sort", "argsort"):
            for descending in (False, True):
                compare(name, dtype, x, axis=0, descending=descending, stable=True)
        else:
            compare(name, dtype, x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16], ids=str)
def test_many_values_are_searched_as_few_are(dtype: Any) -> None:
    random = np.random.default_rng(2)
    ends = np.iinfo(dtype)
    line = random.integers(ends.min, ends.max, 99, dtype, endpoint=True)
    values = random.integers(ends.min, ends.max, (2, 40_000), dtype, endpoint=True)
    order = np.argsort(line)
    for side in ("left", "right"):
        wanted = np.searchsorted(line, values, side=side, sorter=order)
        found = pa.searchsorted(pa.asarray(line), pa.asarray(values), side=side, sorter=order)
        assert np.array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("dtype", ORDERED, ids=lambda d: d.name)
def test_many_of_few_values_are_sorted(dtype: DType) -> None:
    """NumPy 2.4.6 itself misplaces some of float16 with AVX-512 (Ice Lake)."""
    few, random = codes(dtype), np.random.default_rng(0)
    drawn = [few[random.integers(0, few.size, 3)] for _ in range(20)]
    if dtype.kind is Kind.FLOAT and dtype.bits > 8:
        drawn += [np.array([-2.0, -1.0, -0.5]).astype(dtype.storage)] * 20
    for some in drawn:
        compare("sort", dtype, some[random.integers(0, 3, 5000)], axis=0, descending=False)
