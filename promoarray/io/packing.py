"""Packing: 2-, 4- and 6-bit values side by side, as ONNX and accelerators store them.

In memory promoarray keeps such values one a byte. Packed they are one stream of bits, the first
element in the low bits of the first byte: two 4-bit values a byte, four 2-bit ones, and four 6-bit
ones in three bytes. The bits left over in the last byte are zero.

Source: onnx.proto, TensorProto.raw_data, onnx 1.23.2.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.operands import as_array
from promoarray.core.shapes import integers
from promoarray.dtypes import CONCRETE, DType, as_dtype
from promoarray.errors import quoted
from promoarray.parray import PArray

__all__ = ["pack", "unpack"]

PACKED = tuple(row for row in CONCRETE if row.bits < 8)
"""The dtypes whose values share bytes."""

Codes = np.ndarray[Any, np.dtype[np.uint8]]


def pack(x: Any, /) -> PArray:
    """Return the bytes of an array whose values are narrower than a byte.

    Parameters
    ----------
    x : array of int2, uint2, int4, uint4, float4_e2m1fn, float6_e2m3fn or float6_e3m2fn
        Of any shape; its values are taken in C order.

    Returns
    -------
    PArray, shape (N,)
        uint8; N is ``ceil(size * bits / 8)``.

    Raises
    ------
    TypeError
        If the values are not narrower than a byte.

    Examples
    --------
    >>> import promoarray as pa
    >>> pa.pack(pa.asarray([1, 2, -1], dtype=pa.int4))
    PArray([33, 15], dtype=uint8)
    """
    array = as_array(x, "pack")
    dtype = _packed(array.dtype, "pack")
    backend = backend_of(array._buffer)
    codes = codes_of(backend.to_numpy(array._buffer, dtype), dtype)
    data = backend.from_numpy(packed(codes, dtype.bits), dt.uint8, array.device)
    return array._wrap(data, dt.uint8)


def unpack(packed: Any, dtype: object, shape: int | tuple[int, ...], /) -> PArray:
    """Return the values that ``pack`` has packed.

    Parameters
    ----------
    packed : uint8 array, bytes, bytearray or memoryview
        Exactly the bytes that the shape takes; of an array, in C order. What the bits left over in
        the last byte hold is ignored, because not every writer clears them.
    dtype : dtype_like
    shape : int or tuple of int

    Returns
    -------
    PArray
        Of the shape and dtype, a byte an element.

    Raises
    ------
    TypeError
        If ``dtype`` is not narrower than a byte, the array is not one of uint8, or the shape is not
        of ints.
    ValueError
        If the shape is negative somewhere, too large, or takes another number of bytes.

    Examples
    --------
    >>> import promoarray as pa
    >>> pa.unpack(bytes([33, 15]), pa.int4, (3,))
    PArray([ 1,  2, -1], dtype=int4)
    """
    row = _packed(as_dtype(dtype), "unpack")
    lengths = _shape(shape, row)
    if isinstance(packed, (bytes, bytearray, memoryview)):
        packed = np.frombuffer(bytes(packed), np.uint8)  # a memoryview may have steps
    array = as_array(packed, "unpack")
    if array.dtype is not dt.uint8:
        raise TypeError(
            f"unpack takes bytes or an array of uint8, not of {array.dtype.name}; "
            "write np.asarray(x).view(np.uint8) around its memory"
        )
    size = prod(lengths)
    if array.size != length(size, row.bits):
        raise ValueError(
            f"unpack: {size} values of {row.name}, shape {quoted(lengths)}, take "
            f"{length(size, row.bits)} bytes, and {array.size} are given"
        )
    backend = backend_of(array._buffer)
    codes = unpacked(np.ravel(backend.to_numpy(array._buffer, dt.uint8)), size, row.bits)
    values = codes.view(row.storage).reshape(lengths)
    return array._wrap(backend.from_numpy(values, row, array.device), row)


def _packed(dtype: DType, name: str) -> DType:
    if dtype not in PACKED:
        names = ", ".join(row.name for row in PACKED)
        raise TypeError(f"{name} takes {names}; {dtype.name} fills whole bytes already")
    return dtype


def _shape(shape: int | tuple[int, ...], dtype: DType) -> tuple[int, ...]:
    given = integers("unpack", "shape", shape)
    lengths = given if isinstance(given, tuple) else (given,)
    if wrong := impossible(lengths, dtype):
        raise ValueError(f"unpack: the shape {quoted(lengths)} {wrong}")
    return lengths


AXES, BITS = 64, 63
"""What NumPy holds: so many axes, and fewer bytes than two to the power of these bits."""


def impossible(shape: tuple[int, ...], dtype: DType) -> str:
    """Say why no array of a dtype has a shape; "" if one could."""
    if len(shape) > AXES:
        return f"has {len(shape)} axes, of {AXES} at most"
    if any(n < 0 for n in shape):
        return "has a negative length"
    # NumPy counts so, whether there are elements or not.
    longest = dtype.storage.itemsize * prod(n or 1 for n in shape)
    return "is larger than any array" if longest >> BITS else ""


def length(size: int, bits: int) -> int:
    """How many bytes so many packed values take."""
    return -(-size * bits // 8)


def held(dtype: DType) -> np.dtype[Any]:
    """The dtype of NumPy's own that files store a dtype as: itself, or integers of its width."""
    storage: np.dtype[Any] = dtype.storage
    return storage if dtype in dt.NATIVE else np.dtype(f"u{storage.itemsize}")


def codes_of(buffer: Any, dtype: DType) -> Codes:
    """The codes of values narrower than a byte, one a byte; what lies above them is cleared."""
    codes: Codes = np.ascontiguousarray(buffer).view(np.uint8) & np.uint8((1 << dtype.bits) - 1)
    return codes.reshape(np.shape(buffer))  # () too


def packed(codes: Codes, bits: int) -> Codes:
    """Pack codes of so many bits."""
    places = np.unpackbits(codes.reshape(-1, 1), axis=1, count=bits, bitorder="little")
    return np.packbits(places, bitorder="little")


def unpacked(data: Codes, size: int, bits: int) -> Codes:
    """Unpack ``size`` codes of so many bits."""
    places = np.unpackbits(data, count=size * bits, bitorder="little").reshape(size, bits)
    codes: Codes = places @ (1 << np.arange(bits, dtype=np.uint8))
    return codes
