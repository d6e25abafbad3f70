"""Dask buffers: graphs whose tasks are run by the back end of the blocks, NumPy's or CuPy's.

A buffer (``buffer``) holds a Dask array of codes (``storage``). A plan becomes one task a block
(``compile``), which carries what the policy has decided and not the policy (``block_executable``);
what is not elementwise is a graph of its own (``call``). Building a graph computes nothing.
"""

from __future__ import annotations

from typing import Any, Literal

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask import compile as compiling
from promoarray.backends.dask.buffer import Buffer, lifted
from promoarray.backends.dask.call import graph_of
from promoarray.backends.dask.compile import compile as compile
from promoarray.backends.dask.storage import storage as storage
from promoarray.dtypes import BY_STORAGE, DType
from promoarray.errors import quoted
from promoarray.kernels.cast_mode import DEFAULT, CastMode

name = "dask"
comparable = numpy_backend.comparable


# --- Buffers and dtypes --------------------------------------------------------------------------


def dtype_of(buffer: Any) -> DType | None:
    """The dtype of a buffer that holds one of NumPy's own, or None for those promoarray lacks."""
    return BY_STORAGE.get(buffer.dtype)


def adopt(x: Any) -> tuple[Buffer, DType | None]:
    """A Dask array as a buffer, and the dtype it has."""
    if isinstance(x, Buffer):
        return x, dtype_of(x)
    found = BY_STORAGE.get(x.dtype)
    if found is None or x.dtype == storage(found):
        return Buffer(x), found
    return Buffer(x.view(storage(found))), found


def from_numpy(array: Any, dtype: DType, device: str | None = None) -> Buffer:
    """NumPy's storage of a dtype in chunks of Dask's usual size."""
    return array if isinstance(array, Buffer) else Buffer(lifted(array, dtype))


def to_numpy(buffer: Buffer, dtype: DType) -> Any:
    """Compute to NumPy's storage of a dtype."""
    codes = np.array(buffer.array.compute())
    return codes if dtype in dt.NATIVE else codes.view(dtype.storage)


def empty(shape: Any, dtype: DType, device: str | None = None) -> Buffer:
    """Every bit 0: memory that is not there cannot be left unset."""
    return zeros(shape, dtype, device)


def zeros(shape: Any, dtype: DType, device: str | None = None) -> Buffer:
    """Every bit 0."""
    return Buffer(da.zeros(shape, storage(dtype)))


# --- What a plan asks for ------------------------------------------------------------------------


def cast(
    buffer: Any,
    source: DType,
    target: DType,
    mode: CastMode = DEFAULT,
    transforms: tuple[Any, ...] = (),
) -> Any:
    """Cast a buffer; the same object if there is nothing to do."""
    return buffer if source is target else caster(source, target, mode, transforms)(buffer)


def caster(source: DType, target: DType, mode: CastMode, transforms: tuple[Any, ...]) -> Any:
    """Make a cast between two different dtypes ready."""
    run = compiling.caster(source, target, mode, transforms)
    return lambda buffer: Buffer(run(buffer.array))


def devices() -> tuple[str, ...]:
    """The one device: wherever the scheduler's workers are."""
    return ("dask",)


def device_of(buffer: Buffer) -> str:
    """Where a buffer lies."""
    return "dask"


def to_device(buffer: Buffer, device: str, stream: Any) -> Buffer:
    """Return the buffer on a device."""
    if device != "dask" or stream is not None:
        raise ValueError(
            f"a Dask buffer lies on 'dask' and has no stream; not {quoted(device)}, "
            f"{quoted(stream)}"
        )
    return buffer


def writeable(buffer: Buffer) -> bool:
    """Whether values may be written."""
    return True


def copy(buffer: Buffer, order: Literal["C", "K"] = "C") -> Buffer:
    """The same values in a place of their own."""
    return Buffer(buffer.array)
