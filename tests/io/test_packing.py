"""Packing: the bytes that ONNX lays down, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import DType
from promoarray.io import packing
from promoarray.io.packing import PACKED


def of_codes(codes: Any, dtype: DType) -> pa.PArray:
    return pa.PArray._wrap(np.asarray(codes, np.uint8).view(dtype.storage), dtype)


def codes(x: pa.PArray) -> Any:
    return np.array(x, order="C").view(np.uint8)


def stream(values: list[int], bits: int) -> bytes:
    """The oracle: one integer of all bits, the first element lowest."""
    whole = sum(value << bits * i for i, value in enumerate(values))
    return whole.to_bytes(-(-len(values) * bits // 8), "little")


@pytest.mark.parametrize(
    ("values", "dtype", "data"),
    [
        ([1, 2], pa.int4, [0x21]),
        ([-1, -8, 7], pa.int4, [0x8F, 0x07]),
        ([15, 1, 2], pa.uint4, [0x1F, 0x02]),
        ([0, 1, 2, 3, 3], pa.uint2, [0b11100100, 0b11]),
        ([-1, -2, 1], pa.int2, [0b011011]),
        ([1.5, -6, 0.5], pa.float4_e2m1fn, [0xF3, 0x01]),
        ([1, -1, 7.5, 0.125], pa.float6_e2m3fn, [0x08, 0xFA, 0x05]),
        ([28.0], pa.float6_e3m2fn, [0x1F]),
    ],
    ids=str,
)
def test_the_first_element_is_in_the_low_bits(values: Any, dtype: DType, data: Any) -> None:
    x = pa.asarray(values, dtype=dtype)
    packed = pa.pack(x)
    assert packed.dtype is pa.uint8
    assert packed.tolist() == data
    assert pa.unpack(packed, dtype, len(values)).tolist() == values


@given(st.data())
def test_packing_is_one_stream_of_bits(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(PACKED))
    values = data.draw(st.lists(st.integers(0, (1 << dtype.bits) - 1), max_size=40))
    packed = pa.pack(of_codes(values, dtype))
    assert np.asarray(packed).tobytes() == stream(values, dtype.bits)
    assert codes(pa.unpack(packed, dtype, len(values))).tolist() == values


@given(st.sampled_from(PACKED), st.lists(st.integers(0, 3), max_size=4).map(tuple), st.data())
def test_any_shape_and_layout_comes_back(
    dtype: DType, shape: tuple[int, ...], data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    x = of_codes(rng.integers(0, 1 << dtype.bits, shape, np.uint8), dtype)
    turned = x._wrap(x._buffer.T[::-1] if x.ndim else x._buffer, dtype)
    for y in (x, turned):
        back = pa.unpack(pa.pack(y), dtype, y.shape)
        assert back.shape == y.shape
        assert back.dtype is dtype
        assert np.array_equal(codes(back), codes(y))


@pytest.mark.parametrize("bits", [2, 4, 6])
def test_every_length_is_one_stream_of_bits(bits: int) -> None:
    for size in (*range(66), 511, 512, 513):
        codes = (np.arange(size) * 7 % (1 << bits)).astype(np.uint8)
        data = packing.packed(codes, bits)
        found = packing.unpacked(data, size, bits)
        assert (data.dtype, data.tobytes()) == (np.uint8, stream(codes.tolist(), bits))
        assert (found.dtype, found.tolist()) == (np.uint8, codes.tolist())


def test_bits_above_a_value_in_memory_are_not_its_own() -> None:
    assert pa.pack(of_codes([0xF1, 0x02], dt.int4)).tolist() == [0x21]


def test_padding_is_zero_when_written_and_ignored_when_read() -> None:
    assert pa.pack(pa.asarray([-1], dtype=pa.int4)).tolist() == [0x0F]
    assert pa.unpack(bytes([0xAF]), pa.int4, 1).tolist() == [-1]


def test_bytes_are_taken_from_anything_that_has_them() -> None:
    for data in (b"\x21", bytearray(b"\x21"), memoryview(b"\x21"), np.array([0x21], np.uint8)):
        assert pa.unpack(data, "uint4", (2,)).tolist() == [1, 2]
    assert pa.unpack(memoryview(b"\x21\0\x43")[::2], "uint4", 4).tolist() == [1, 2, 3, 4]
    assert pa.unpack(np.array([[0x21], [0x43]], np.uint8), pa.uint4, (2, 2)).tolist() == [
        [1, 2],
        [3, 4],
    ]


def test_namespaces_keep_their_arrays() -> None:
    xp = pa.namespace("torch")
    packed = xp.pack(xp.asarray([1, 2], dtype=xp.int4))
    assert type(packed) is type(xp.asarray(1))
    assert type(xp.unpack(packed, xp.int4, 2)) is type(xp.asarray(1))


@pytest.mark.parametrize(
    ("attempt", "error", "words"),
    [
        (lambda: pa.pack(pa.asarray([1], dtype=pa.int8)), TypeError, "int8 fills whole bytes"),
        (lambda: pa.pack([1, 2]), TypeError, "takes an array"),
        (lambda: pa.unpack(b"\0", pa.float32, 1), TypeError, "float32 fills whole bytes"),
        (lambda: pa.unpack(b"\0", "no", 1), TypeError, "is not a dtype"),
        (lambda: pa.unpack(pa.asarray([1]), pa.int4, 1), TypeError, "not of int64"),
        (lambda: pa.unpack("ab", pa.int4, 1), TypeError, "takes an array"),
        (lambda: pa.unpack(b"\0", pa.int4, 3), ValueError, "take 2 bytes, and 1 are given"),
        (lambda: pa.unpack(b"\0\0", pa.int4, 2), ValueError, "take 1 bytes, and 2 are given"),
        (lambda: pa.unpack(b"", pa.int4, (-1,)), ValueError, "negative"),
        (lambda: pa.unpack(b"\0", pa.int4, 10**5000), ValueError, "larger than any array"),
        (lambda: pa.unpack(b"", pa.int4, (0, 2**63)), ValueError, "larger than any array"),
        (lambda: pa.unpack(b"", pa.int4, (0,) * 65), ValueError, "has 65 axes, of 64 at most"),
        (lambda: pa.unpack(b"", pa.int4, (-(10**5000),)), ValueError, "negative length"),
        (lambda: pa.unpack(b"\0", pa.int4, [None] * 9999), TypeError, "a tuple of ints as shape"),
        (lambda: pa.unpack(b"\0", pa.int4, 1.5), TypeError, "an int or a tuple of ints as shape"),
    ],
)
def test_errors_say_what_was_given(attempt: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        attempt()
