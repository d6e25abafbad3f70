"""Triton: what conformance/golden/triton.txt does not say, values above all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import promoarray as pa
from promoarray.errors import PromotionError

FLOATS = [300.0, 40000.0, -1.0, float("nan"), float("inf"), 3e9]

# By the instruction that triton.compile 3.8.0 makes for cuda:90, and the low byte of 8 bits.
CAST = {
    "int8": [44, -1, -1, 0, -1, -1],  # cvt.rzi.s16.f32
    "uint8": [44, 64, 0, 0, 255, 255],  # cvt.rzi.u16.f32
    "int16": [300, 32767, -1, 0, 32767, 32767],
    "uint16": [300, 40000, 0, 0, 65535, 65535],
    "int32": [300, 40000, -1, 0, 2**31 - 1, 2**31 - 1],
    "uint32": [300, 40000, 0, 0, 2**32 - 1, 3 * 10**9],
}


@pytest.fixture(autouse=True)
def _triton() -> Iterator[None]:
    with pa.policy("triton"):
        yield


@pytest.mark.parametrize("target", CAST)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_floats_saturate_at_the_width_of_the_instruction(source: str, target: str) -> None:
    expected = list(CAST[target])
    if source == "float64" and target.endswith("int32"):  # NaN in a register of 64 bits
        expected[3] = -(2**31) if target == "int32" else 2**31
    assert pa.asarray(FLOATS, dtype=source).astype(target).tolist() == expected


@pytest.mark.parametrize("target", ["float8_e4m3fn", "float8_e5m2"])
def test_float8_saturates_and_is_cast_from_floats_of_32_bits_and_fewer(target: str) -> None:
    largest = pa.finfo(target).max
    assert pa.asarray([1e6, -1e6, float("inf")], dtype="float32").astype(target).tolist() == [
        largest,
        -largest,
        largest,
    ]
    for source in ("int8", "float64"):
        with pytest.raises(PromotionError, match="go through float32"):
            pa.asarray([1], dtype=source).astype(target)


def test_bools_compute_in_one_bit() -> None:
    true = pa.asarray([True, True, False])
    false = pa.asarray([True, False, False])
    assert (true + false).tolist() == (true - false).tolist() == [False, True, False]
    assert (true * false).tolist() == [True, False, False]


def test_division_is_towards_zero() -> None:
    x = pa.asarray([7, -7, 7, -7], dtype="int32")
    y = pa.asarray([2, 2, -2, -2], dtype="int32")
    assert (x // y).tolist() == [3, -3, -3, 3]
    assert (x % y).tolist() == [1, -1, 1, -1]
    assert (x.astype("float32") % y.astype("float32")).tolist() == [1.0, -1.0, 1.0, -1.0]


def test_a_compared_number_is_a_tensor_of_float32() -> None:
    x = pa.asarray([1.0], dtype="float16")
    assert (x < 1.0001).tolist() == [True]  # 1.0001 is 1.0 in float16


def test_an_int_beyond_the_tensor_is_refused() -> None:
    with pytest.raises(OverflowError, match="300 does not fit int8"):
        pa.asarray([1], dtype="int8") + 300
