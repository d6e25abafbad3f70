"""Dask buffers: graphs whose tasks are run by the back end of the blocks, NumPy's or CuPy's.

A buffer (``buffer``) holds a Dask array of codes. A plan becomes one task a block (``compile``),
which carries what the policy has decided and not the policy (``block_executable``). What is not
elementwise is a graph of ``dask.array``'s own functions, over kernels of the blocks. Building a
graph computes nothing.
"""

from __future__ import annotations

from typing import Any, Literal

import dask.array as da
import numpy as np
from dask.array.core import finalize

from promoarray import dtypes as dt
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.computing import about_to_compute
from promoarray.backends.dask.array_api import Line
from promoarray.backends.dask.array_api import xp as xp
from promoarray.backends.dask.block_executable import executable
from promoarray.backends.dask.blocks import (
    cast_each,
    codes_on_blocks,
    each,
    memoryless,
    stored_on_blocks,
    view_on_blocks,
)
from promoarray.backends.dask.buffer import Buffer, array_of, known, lifted, usual_chunks
from promoarray.backends.dask.buffer import storage as storage
from promoarray.backends.dask.compile import call as call
from promoarray.backends.dask.compile import compile as compile
from promoarray.backends.dask.indexing import read as read
from promoarray.backends.dask.indexing import write as write
from promoarray.backends.dask.moving import move as move
from promoarray.dtypes import BY_STORAGE, DType
from promoarray.errors import quoted
from promoarray.kernels.cast_mode import DEFAULT, CastMode

name = "dask"
lazy = True
Array = da.Array
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
    return Buffer(each(executable(codes_on_blocks, found), (x,), found, "codes")), found


def from_numpy(array: Any, dtype: DType, device: str | None = None) -> Buffer:
    """NumPy's storage of a dtype in chunks of Dask's usual size; ranges in chunks of their own."""
    if isinstance(array, Buffer):
        return array
    if isinstance(array, Line):
        return Buffer(array.blocks(dtype))
    return Buffer(array if isinstance(array, da.Array) else lifted(array, dtype))


def to_numpy(buffer: Buffer, dtype: DType, **options: Any) -> Any:
    """Compute to NumPy's storage of a dtype; options are those of Dask's ``compute``."""
    about_to_compute(_named(buffer, dtype))
    return stored(buffer.array.compute(**options), dtype)


def persisted(buffer: Buffer, **options: Any) -> Buffer:
    """The same values, whose blocks are computed and stay where they are."""
    about_to_compute(_named(buffer, None))
    return Buffer(buffer.array.persist(**options))


def measure(buffer: Buffer) -> None:
    """Compute the lengths that are not known."""
    if None in buffer.shape:
        about_to_compute(_named(buffer, None))
        buffer.array = buffer.array.copy().compute_chunk_sizes()


def _named(buffer: Buffer, dtype: DType | None) -> str:
    return f"a lazy array of {dtype.name + ' and ' if dtype else ''}shape {buffer.shape}"


def stored(codes: Any, dtype: DType) -> Any:
    """Codes that were computed in NumPy's storage of a dtype, and in memory of their own: that of
    a block may be the graph's."""
    codes = np.array(codes.get() if hasattr(codes, "get") else codes)
    return codes if dtype in dt.NATIVE else codes.view(dtype.storage)


def joined(nested: Any, dtype: DType) -> Any:
    """Nested lists of blocks as NumPy's storage of a dtype."""
    return stored(finalize(nested), dtype)


def exported(buffer: Buffer, dtype: DType) -> Any:
    """A Dask array of NumPy's or ml_dtypes' dtype."""
    if dtype in dt.NATIVE:
        return buffer.array.copy()
    axes = tuple(range(buffer.ndim))
    return da.blockwise(
        executable(stored_on_blocks, dtype), axes, buffer.array, axes,
        token=dtype.name, dtype=dtype.storage, meta=np.empty((0,) * buffer.ndim, dtype.storage),
    )  # fmt: skip


def described(buffer: Buffer) -> str:
    """Shape and chunks, in place of values."""
    shape = f"shape {buffer.shape}"
    chunks = f"chunks of {known(buffer.array.chunksize)}"
    return f"<lazy, {shape}, {chunks if buffer.ndim else 'one chunk'}>"


def recoded(buffer: Buffer, source: DType, target: DType) -> Buffer:
    """The same bits under another dtype of the same width; a code that does not fit it is an error
    when it is computed."""
    run = executable(view_on_blocks, source, target)
    return Buffer(each(run, (buffer.array,), target, f"view-{target.name}"), buffer)


def empty(shape: Any, dtype: DType, device: str | None = None) -> Buffer:
    """Every bit 0: memory that is not there cannot be left unset."""
    return zeros(shape, dtype, device)


def zeros(shape: Any, dtype: DType, device: str | None = None) -> Buffer:
    """Every bit 0."""
    lengths = _of_shape(shape).shape
    return Buffer(da.zeros(lengths, dtype=storage(dtype), chunks=usual_chunks(lengths)))


def _of_shape(shape: Any) -> Any:
    """An array that takes no memory; what is no shape is told as NumPy's back end tells it."""
    try:
        lengths = (shape,) if isinstance(shape, int) else tuple(shape)
        np.empty([n if n < 0 else 0 for n in lengths], np.int8)  # which has words for it
        return memoryless(shape)
    except (TypeError, ValueError, OverflowError) as error:
        raise numpy_backend.no_shape(shape, error) from None


# --- Casts and devices ---------------------------------------------------------------------------


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
    return lambda x: Buffer(cast_each(array_of(x, source), source, target, mode, transforms))


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
    """Whether values may be written.

    Raises ValueError if another array would see the write under NumPy, and cannot here; or if the
    buffer is one in memory, and what meets it is not.
    """
    if not isinstance(buffer, Buffer):
        raise ValueError(
            "x lies in memory, and what is written to it is computed later: write y.compute(), or "
            "x = x.to_device('dask') before"
        )
    if not buffer.alone and not buffer.frozen:
        raise ValueError(
            "x and another array are views of the same values, and of lazy arrays the other would "
            "not see what is written to x. Write x = pa.asarray(x, copy=True) before, or give up "
            "the other (del y)"
        )
    return not buffer.frozen


def copy(buffer: Buffer, order: Literal["C", "K"] = "C") -> Buffer:
    """The same values in a place of their own."""
    return Buffer(buffer.array)


# --- DLPack --------------------------------------------------------------------------------------


def dlpack(buffer: Buffer, dtype: DType, **options: Any) -> Any:
    """Nothing to export: there is no memory yet."""
    raise _no_memory()


def dlpack_device(buffer: Buffer) -> tuple[int, int]:
    """No device of DLPack's."""
    raise _no_memory()


def _no_memory() -> BufferError:
    return BufferError(
        "a lazy array has no memory for DLPack before it is computed; write x.compute()"
    )


def from_dlpack(x: Any, copy: bool | None) -> tuple[Buffer, DType]:
    """Put what lies in the CPU's memory into chunks."""
    if copy is False:
        raise BufferError("copy=False: a lazy array has a copy of what it is made of")
    values, dtype = numpy_backend.from_dlpack(x, None)
    return from_numpy(values, dtype), dtype
