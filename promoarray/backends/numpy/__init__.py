"""NumPy buffers: storage, casts, kernels.

A backend obeys plans. It never sees mixed operands or bare Python scalars, because NumPy and
ml_dtypes would promote them by rules of their own.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy.cast import cast as cast
from promoarray.backends.numpy.cast import caster as caster
from promoarray.backends.numpy.cast import comparable as comparable
from promoarray.backends.numpy.cast import short_caster as short_caster
from promoarray.backends.numpy.compile import CLIPS, Compiled
from promoarray.backends.numpy.kernels import kernel_of
from promoarray.backends.numpy.moves import move as move
from promoarray.backends.numpy.ordering import sort_floats as sort_floats
from promoarray.dtypes import BY_STORAGE, DType
from promoarray.errors import clipped, quoted

if TYPE_CHECKING:
    from promoarray.backends.numpy.cast import Casts
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
name = "numpy"


class _Functions:
    """The array API over NumPy, as ``xp``: NumPy's own functions where they are as the standard has
    them, and array-api-compat's, which takes 60 to 130 ms to import, when first of the others is
    asked for."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np if name in _AS_THE_STANDARD else _compat(), name)
        return vars(self).setdefault(name, found)


_TEXT = """
abs arange argsort asarray bool cumulative_sum diff empty eye flip floor int64 isin linspace nonzero
ones sort sqrt stack take_along_axis
"""
_AS_THE_STANDARD = frozenset(_TEXT.split())


def _compat() -> Any:
    import array_api_compat.numpy

    return array_api_compat.numpy


xp = _Functions()


def dtype_of(buffer: Buffer) -> DType | None:
    """The dtype a buffer holds, or None for those promoarray does not have."""
    if isinstance(buffer.dtype, np.dtypes.StringDType):  # with a missing value or without
        return dt.string
    return BY_STORAGE.get(buffer.dtype) or BY_STORAGE.get(buffer.dtype.newbyteorder("="))


def native(buffer: Buffer) -> Buffer:
    """The same values in the machine's byte order; the same object where it is."""
    return buffer if buffer.dtype.isnative else buffer.astype(buffer.dtype.newbyteorder("="))


def storage(dtype: DType) -> Any:
    """The NumPy or ml_dtypes dtype that holds a dtype."""
    return dtype.storage


def adopt(x: Any) -> tuple[Buffer, DType | None]:
    """A NumPy array or scalar as a buffer, and the dtype it has."""
    buffer = native(np.asarray(x))
    if buffer is x:  # its owner may give it another dtype or shape, but not to this view of it
        buffer = x.view()
    return buffer, dtype_of(buffer)


def from_numpy(array: Buffer, dtype: DType, device: str | None = None) -> Buffer:
    """The same array: NumPy's storage is this backend's."""
    return array


def to_numpy(buffer: Buffer, dtype: DType) -> Buffer:
    """The same buffer: NumPy's storage is this backend's."""
    return buffer


def empty(shape: Any, dtype: DType, device: str | None = None) -> Buffer:
    """New memory, unset."""
    try:
        return np.empty(shape, dtype.storage)
    except (TypeError, ValueError, OverflowError) as error:
        raise no_shape(shape, error) from None


def zeros(shape: Any, dtype: DType, device: str | None = None) -> Buffer:
    """New memory, every bit 0."""
    try:
        return np.zeros(shape, dtype.storage)
    except (TypeError, ValueError, OverflowError) as error:
        raise no_shape(shape, error) from None


def no_shape(shape: Any, error: Exception) -> Exception:
    """Say what is no shape; NumPy quotes all of it, or fails to."""
    lengths = shape if isinstance(shape, (tuple, list)) else (shape,)
    if not all(isinstance(n, int) or hasattr(type(n), "__index__") for n in lengths):
        return TypeError(f"a shape is an int or a tuple of ints, not {quoted(shape)}")
    return ValueError(f"there is no array of shape {quoted(shape)}: {clipped(str(error))}")


def read(buffer: Buffer, key: Any) -> Buffer:
    """``buffer[key]``, an array even where NumPy makes a scalar."""
    return np.asarray(buffer[key], buffer.dtype)


def write(buffer: Buffer, key: Any, value: Buffer) -> None:
    """``buffer[key] = value``, both of one dtype, though they may overlap."""
    # NumPy gives a[0:4:2] = a[0:2] what it has written meanwhile: it copies for other cases alone.
    if value.base is not None and np.may_share_memory(buffer, value):
        value = value.copy()
    if buffer.dtype.isbuiltin == 2 and buffer.size >= _MANY:
        # NumPy calls ml_dtypes for each number: words of as many bytes are as good.
        buffer, value = (x.view(f"u{x.itemsize}") for x in (buffer, value))
    buffer[key] = value


_MANY = 1 << 15
"""Elements from which on it pays to look at them as words."""


def writeable(buffer: Buffer) -> bool:
    """Whether values may be written into the buffer."""
    return buffer.flags.writeable


def copy(buffer: Buffer, order: Literal["C", "K"] = "C") -> Buffer:
    """The same values in memory of their own."""
    return buffer.copy(order)


def devices() -> tuple[str, ...]:
    """The devices a buffer can lie on."""
    return ("cpu",)


def device_of(buffer: Buffer) -> str:
    """Where a buffer lies."""
    return "cpu"


def to_device(buffer: Buffer, device: str, stream: Any) -> Buffer:
    """Return the buffer on a device."""
    if device != "cpu" or stream is not None:
        raise ValueError(
            "a NumPy buffer lies on 'cpu' and has no stream; "
            f"not {quoted(device)}, {quoted(stream)}"
        )
    return buffer


def dlpack(
    buffer: Buffer,
    dtype: DType,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Export a buffer by DLPack."""
    from promoarray.backends import _dlpack  # ctypes, for few programs

    if dl_device is not None and tuple(map(int, dl_device)) != dlpack_device(buffer):
        raise BufferError(f"this array lies on the CPU, which is (1, 0), not {dl_device}")
    if stream is not None:
        raise BufferError(
            f"memory of the CPU has no stream; write stream=None, not {quoted(stream)}"
        )
    if not buffer.flags.writeable and copy is None and (max_version or (0, 0)) < (1, 0):
        copy = True  # an unversioned capsule cannot say that it is only to be read
    if copy is not True and any(stride < 0 for stride in buffer.strides):
        if copy is False:
            raise BufferError("an axis goes backwards, which PyTorch ends the process at; copy it")
        copy = True
    label = None if dtype in dt.NATIVE else _dlpack.label_of(dtype, max_version)
    bits = buffer if label is None else buffer.view(f"u{buffer.itemsize}")
    try:
        capsule = bits.__dlpack__(max_version=max_version, copy=copy)
    except BufferError as error:
        raise BufferError(f"NumPy cannot export this array of {dtype.name}: {error}") from None
    return capsule if label is None else _dlpack.relabel(capsule, label)


def dlpack_device(buffer: Buffer) -> tuple[int, int]:
    """``kDLCPU``, whatever the dtype."""
    return 1, 0


def from_dlpack(x: Any, copy: bool | None) -> tuple[Buffer, DType]:
    """Wrap what lies in the CPU's memory, or copy it there."""
    from promoarray.backends import _dlpack  # ctypes, for few programs

    source = _dlpack.Readable(x)
    buffer = np.from_dlpack(source, device=None if _on_cpu(x) else "cpu", copy=copy)
    if source.dtype is not None:
        return buffer.view(source.dtype.storage), source.dtype
    found = dtype_of(buffer)
    if found is None:
        raise BufferError(f"promoarray has no dtype for {buffer.dtype}")
    return buffer, found


def _on_cpu(x: Any) -> bool:
    return int(x.__dlpack_device__()[0]) == 1


def call(
    kernel: str, buffers: tuple[Buffer, ...], compute: DType, **options: Any
) -> tuple[tuple[Buffer, DType], ...]:
    """Run one kernel on buffers that all hold ``compute``; tell the dtype of each result."""
    try:
        out = kernel_of(kernel, compute)(*buffers, **options)
    except TypeError as error:
        if not _has_no_loop(error):
            raise
        raise TypeError(f"there is no kernel for {kernel} of {compute.name}") from None
    results = map(np.asarray, out if isinstance(out, tuple) else (out,))
    return tuple((result, _known(result)) for result in results)


def _has_no_loop(error: TypeError) -> bool:
    """Whether a ufunc found no loop for its operands: by the class of the error, which NumPy does
    not export."""
    return any(kind.__name__ == "UFuncTypeError" for kind in type(error).__mro__)


def compile(
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    casts: Casts,
    *,
    low: bool = False,
    high: bool = False,
) -> Compiled:
    """Make all of a plan ready for buffers that hold these dtypes."""
    bounds = {"low": low, "high": high} if name in CLIPS else {}
    return Compiled(name, held, plan, casts, sys.modules[__name__], bounds)


def count_nonzero(buffer: Buffer, dtype: DType, axis: Any, keepdims: bool) -> Buffer:
    """Count the elements that are not zero; not of strings."""
    if axis is None and not keepdims:
        return np.asarray(np.count_nonzero(_truth(buffer, dtype)), np.int64)
    add_up: Any = np.add.reduce
    return np.asarray(add_up(cast(buffer, dtype, dt.bool), axis, np.int64, None, keepdims))


def nonzero(buffer: Buffer, dtype: DType) -> tuple[Buffer, ...]:
    """Where the elements are that are not zero; not of strings."""
    return _truth(buffer, dtype).nonzero()


def _truth(buffer: Buffer, dtype: DType) -> Buffer:
    """What NumPy rightly compares with zero."""
    return buffer if dtype in dt.NATIVE else cast(buffer, dtype, dt.bool)


def _known(result: Buffer) -> DType:
    found = dtype_of(result)
    assert found is not None, result.dtype
    return found
