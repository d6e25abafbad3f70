"""Numba: what conformance/golden/numba.txt does not say, values above all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import promoarray as pa
from promoarray.errors import PromotionError


@pytest.fixture(autouse=True)
def _numba() -> Iterator[None]:
    with pa.policy("numba"):
        yield


def test_operators_on_scalars_are_of_64_bits_and_wrap() -> None:
    high = pa.asarray(2**63, dtype=pa.uint64) + pa.asarray(2, dtype=pa.int64)
    assert high.dtype == "int64"
    assert high.item() == -(2**63) + 2
    narrow = pa.asarray([100, 100], dtype=pa.int8)
    assert (narrow[0] + narrow[1]).item() == 200
    assert (narrow + narrow).tolist() == [-56, -56]


def test_functions_of_scalars_are_those_of_arrays() -> None:
    x = pa.asarray(100, dtype=pa.int8)
    assert pa.add(x, x).dtype == "int8"
    assert pa.add(x, x).item() == -56
    assert (-x).dtype == "int64"
    assert pa.negative(x).dtype == "int8"


def test_clip_keeps_the_arrays_dtype() -> None:
    clipped = pa.clip(pa.asarray([1, 2, 3], dtype=pa.int8), 1.5, 2.5)
    assert clipped.dtype == "int8"
    assert clipped.tolist() == [1, 2, 2]


def test_complex_numbers_have_no_order_and_are_not_cast_to_real_ones() -> None:
    x = pa.asarray([1 + 2j])
    with pytest.raises(PromotionError, match="no order"):
        _ = x < x
    with pytest.raises(PromotionError, match="complex numbers alone"):
        x.astype(pa.float64)


def test_signed_and_unsigned_scalars_compare_as_numbers() -> None:
    assert (pa.asarray(-1, dtype=pa.int64) < pa.asarray(0, dtype=pa.uint64)).item()


def test_operators_on_arrays_compute_as_those_on_scalars_do() -> None:
    wide, two = pa.asarray([2**63], dtype=pa.uint64), pa.asarray([2], dtype=pa.int64)
    assert (wide + two).dtype == pa.add(wide, two).dtype == "float64"
    assert (wide + two).tolist() == [-float(2**63)]
    assert pa.add(wide, two).tolist() == [float(2**63)]
    single, odd = pa.asarray([2.0**24], dtype=pa.float32), pa.asarray([2**24 + 1])
    assert (single - odd).tolist() == [-1.0]
    assert pa.subtract(single, odd).tolist() == [0.0]


def test_bits_of_a_narrow_scalar_are_inverted_before_it_is_wide() -> None:
    inverted = ~pa.asarray(1, dtype=pa.uint8)
    assert inverted.dtype == "uint64"
    assert inverted.item() == 254


@pytest.mark.parametrize("other", [True, 1, -1, pa.asarray([True]), pa.asarray([1], dtype=pa.int8)])
def test_integers_compare_as_the_numbers_they_are(other) -> None:
    most = pa.asarray([2**64 - 1], dtype=pa.uint64)
    assert not (most <= other).item()
    assert (most != other).item()
