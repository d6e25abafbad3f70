"""The same values in memory and in blocks, and how answers are compared."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.backends.dask.buffer import Buffer, closed
from promoarray.dtypes import CONCRETE, DType

DTYPES = tuple(dtype for dtype in CONCRETE if dtype is not dt.string)
EXTENDED = tuple(dtype for dtype in DTYPES if dtype not in dt.NATIVE)


def random_values(rng: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> Any:
    """Values in NumPy's storage: half of them random bits, half small whole numbers."""
    size, width = int(np.prod(shape)), dtype.storage.itemsize
    codes = rng.integers(0, 256, size * width, np.uint8)
    if dtype is dt.bool:
        return (codes & 1).view(np.bool).reshape(shape)
    if dtype.bits < 8:
        codes &= np.uint8((1 << dtype.bits) - 1)
    wild = codes.view(dtype.storage)
    tame = rng.integers(0, 4, size).astype(np.float32).astype(dtype.storage)
    return np.where(rng.random(size) < 0.5, wild, tame).reshape(shape)


def eager(values: Any, dtype: DType) -> Any:
    """An array in memory."""
    return pa.PArray._wrap(values, dtype)


def lazy(values: Any, dtype: DType, chunks: Any) -> Any:
    """An array in blocks."""
    return pa.PArray._wrap(Buffer(da.from_array(closed(values, dtype), chunks=chunks)), dtype)


def blocks_of(x: Any) -> Any:
    """The Dask array that a lazy array computes; what is not lazy is in memory already."""
    found = x._buffer
    return found.array if isinstance(found, Buffer) else closed(np.asarray(found), x.dtype)


def difference(want: Any, x: Any, computed: Any) -> str:
    """How the computed codes of a lazy array differ from an array in memory; "" if they do not."""
    if want._type is not x._type:
        return f"dtype {x._type.name}, not {want._type.name}"
    codes, expected = np.asarray(computed), closed(np.asarray(want._buffer), want.dtype)
    if codes.shape != expected.shape:
        return f"shape {codes.shape}, not {expected.shape}"
    if codes.tobytes() != np.ascontiguousarray(expected).tobytes():
        return f"bits: {codes.ravel()[:6]}, not {expected.ravel()[:6]}"
    return ""
