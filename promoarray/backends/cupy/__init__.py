"""CuPy buffers: storage, casts, kernels on a GPU.

A backend obeys plans. Nothing here reaches CuPy's promotion or its casts; casts and everything
elementwise are kernels of ``promoarray.kernels`` (``launch``), the rest is CuPy's own
(``kernels``). CuPy knows bfloat16; every other dtype that NumPy lacks is held as unsigned
integers of its width.

Everything runs on the device of its buffers and in CuPy's current stream (``device``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from promoarray import dtypes as dt
from promoarray.backends import numpy as numpy_backend
from promoarray.backends import step_by_step
from promoarray.backends.cupy import device as device_room
from promoarray.backends.cupy import launch
from promoarray.backends.cupy.array_api import functions
from promoarray.backends.cupy.device import cupy, guarded, home, place
from promoarray.backends.cupy.formulas import kernel
from promoarray.backends.cupy.kernels import comparable
from promoarray.backends.cupy.launch import Buffer, storage
from promoarray.backends.cupy.moving import move, read, write
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.kernels import DEFAULT
from promoarray.kernels.cuda.fused import Casts
from promoarray.kernels.portable import linalg
from promoarray.promotion.plan import Plan

__all__ = ["comparable", "move", "read", "storage", "write"]

name = "cupy"
why_none = device_room.why_none


# --- Buffers and dtypes --------------------------------------------------------------------------


def dtype_of(buffer: Buffer) -> DType | None:
    """The dtype of a buffer that holds one of CuPy's own, or None for those promoarray lacks."""
    return BY_STORAGE.get(buffer.dtype)


def adopt(x: Any) -> tuple[Buffer, DType | None]:
    """A CuPy array as a buffer, and the dtype it has."""
    found = BY_STORAGE.get(x.dtype)
    if found is None or x.dtype == storage(found):
        return x, found
    return x.view(storage(found)), found  # of a dtype of ml_dtypes, which kernels refuse


@guarded
def from_numpy(array: Any, dtype: DType, device: str | None = None) -> Buffer:
    """Copy NumPy's storage of a dtype to a device, by default the current one."""
    held, shape = storage(dtype), array.shape
    if not shape:
        array = array.reshape(1)  # CuPy fills what has no axes with a number, and makes 0 of -0
    with place(device):
        if held == array.dtype and dtype is not dt.bfloat16:
            return cupy.asarray(array).reshape(shape)
        return cupy.asarray(array.view(f"u{array.itemsize}")).view(held).reshape(shape)


@guarded
def to_numpy(buffer: Buffer, dtype: DType) -> Any:
    """Copy to NumPy's storage of a dtype, when all that is queued before is done."""
    with home(buffer):
        if dtype in dt.NATIVE:
            return buffer.get()
        return buffer.view(f"u{buffer.itemsize}").get().view(dtype.storage)


@guarded
def empty(shape: Any, dtype: DType, device: str | None = None) -> Buffer:
    """New memory, unset."""
    with place(device):
        return cupy.empty(shape, storage(dtype))


@guarded
def zeros(shape: Any, dtype: DType, device: str | None = None) -> Buffer:
    """New memory, every bit 0."""
    with place(device):
        return cupy.zeros(shape, storage(dtype))


def writeable(buffer: Buffer) -> bool:
    """Whether values may be written: not where elements share memory, as those broadcast do."""
    pairs = zip(buffer.strides, buffer.shape, strict=True)
    return not buffer.size or not any(stride == 0 and length > 1 for stride, length in pairs)


@guarded
def copy(buffer: Buffer, order: Literal["C", "K"] = "C") -> Buffer:
    """The same values in memory of their own."""
    with home(buffer):
        return buffer.copy(order)


# --- What a plan asks for ------------------------------------------------------------------------


cast, caster = launch.cast, launch.caster


@guarded
def call(
    name: str, buffers: tuple[Buffer, ...], compute: DType, **options: Any
) -> tuple[tuple[Buffer, DType], ...]:
    """Run one kernel on buffers that all hold ``compute``; tell the dtype of each result."""
    with home(*buffers, *options.values()):
        if name in linalg.NAMES:
            return linalg.call(sys.modules[__name__], name, buffers, compute, **options)
        if not options:
            _refuse_negative_powers(name, buffers, compute, compute)
            done = launch.operate(name, buffers, compute)
            if done is not None:
                return (done,)
        try:
            out = kernel(name, compute)(*buffers, compute, **options)
        except (TypeError, AttributeError) as error:
            message = f"there is no CuPy kernel for {name} of {compute.name}: {error}"
            raise TypeError(message) from None
    results = out if isinstance(out, tuple) else (out,)
    return tuple((result, _held(result, compute)) for result in results)


def _held(result: Buffer, compute: DType) -> DType:
    """The dtype of a result: of what moves values the same, else one of CuPy's own."""
    if compute not in dt.NATIVE and result.dtype == storage(compute):
        return compute
    found = dtype_of(result)
    assert found is not None, result.dtype
    return found


def compile(
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    casts: Casts,
    *,
    low: bool = False,
    high: bool = False,
) -> Callable[..., Any]:
    """Make all of a plan ready for buffers that hold these dtypes: one kernel where there is one,
    else the casts and the operation one by one."""
    whole = None
    if not plan.extra_results and dt.string not in held:
        whole = launch.prepared(name, held, plan, casts, low=low, high=high)
    if whole is None:
        return partial(_one_by_one, name, held, plan, casts)
    if name == "pow":
        single = launch.prepared("single_pow", held, plan, casts)
        return partial(_pow, whole, single, held[-1], plan.compute or plan.inputs[0])
    return partial(_OF_OPTIONS[name], whole) if name in _OF_OPTIONS else whole


def _pow(
    whole: launch.Launch,
    single: launch.Launch | None,
    held: DType,
    compute: DType,
    x: Buffer,
    y: Buffer,
) -> Buffer:
    if single is not None:  # of floats: one exponent has shortcuts, as on the CPU
        return (single if y.size == 1 and y.ndim <= x.ndim else whole)(x, y)
    with home(x, y):
        _refuse_negative_powers("pow", (x, y), held, compute)
    return whole(x, y)


def _where(whole: launch.Launch, x: Buffer, y: Buffer, *, condition: Buffer) -> Buffer:
    return whole(condition, x, y)


def _clip(whole: launch.Launch, *operands: Buffer, low: bool, high: bool) -> Buffer:
    return whole(*operands)  # its text has the bounds that there are


_OF_OPTIONS: dict[str, Callable[..., Buffer]] = {"where": _where, "clip": _clip}
"""The kernels of whole plans whose operations have options."""


def _one_by_one(
    name: str, held: tuple[DType, ...], plan: Plan, casts: Casts, *operands: Any, **options: Any
) -> Any:
    """Carry out a plan cast by cast, its scalars on the device of the others."""
    device = next((device_of(x) for x in operands if isinstance(x, cupy.ndarray)), None)
    buffers = [
        x if isinstance(x, cupy.ndarray) else from_numpy(x, own, device)
        for x, own in zip(operands, held, strict=True)
    ]
    backend = sys.modules[__name__]
    return step_by_step.run(backend, name, held, plan, casts, buffers, **options)


def _refuse_negative_powers(
    name: str, operands: tuple[Any, ...], held: DType, compute: DType
) -> None:
    """As NumPy does: an integer has no integer reciprocal."""
    if name != "pow" or compute.kind is not Kind.INT or held.kind is not Kind.INT:
        return
    powers = operands[1]
    if isinstance(powers, cupy.ndarray) and held.bits < 8:
        powers = launch.cast(powers, held, dt.int8, DEFAULT)
    if powers.size and bool((powers < 0).any()):
        raise ValueError("Integers to negative integer powers are not allowed.")


# --- Devices -------------------------------------------------------------------------------------


def devices() -> tuple[str, ...]:
    """The devices a buffer can lie on."""
    return tuple(f"cuda:{i}" for i in range(device_room.count()))


def device_of(buffer: Buffer) -> str:
    """Where a buffer lies."""
    return f"cuda:{buffer.device.id}"


@guarded
def to_device(buffer: Buffer, device: str, stream: Any) -> Buffer:
    """Return the buffer on a device; a copy is made in the stream, if one is given."""
    here = device_of(buffer)
    if device in (here, "cuda"):
        return buffer
    with home(buffer):
        whole = cupy.ascontiguousarray(buffer)
        cupy.cuda.get_current_stream().synchronize()  # the other device does not wait for this one
    with place(device):
        if stream is None:
            return whole.copy()
        with cupy.cuda.ExternalStream(stream) if isinstance(stream, int) else stream:
            return whole.copy()


# --- DLPack --------------------------------------------------------------------------------------


@guarded
def dlpack(
    buffer: Buffer,
    dtype: DType,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Export a buffer by DLPack, in whose memory it stays unless the CPU's is asked for."""
    wanted = None if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted == (1, 0) and dlpack_device(buffer)[0] != 1:
        if copy is False:
            raise BufferError("the array lies on a GPU: the CPU's memory takes a copy")
        host = to_numpy(buffer, dtype)
        return numpy_backend.dlpack(host, dtype, max_version=max_version)
    if wanted not in (None, dlpack_device(buffer)):
        raise BufferError(f"this array lies on {dlpack_device(buffer)}, not {dl_device}")
    label = None
    if dtype not in dt.NATIVE and dtype is not dt.bfloat16:
        from promoarray.backends import _dlpack  # ctypes, for few programs

        label = _dlpack.label_of(dtype, max_version)
    with home(buffer):
        shown = buffer.copy() if copy else buffer
        shown = shown if label is None else shown.view(f"u{shown.itemsize}")
        capsule = shown.__dlpack__(stream=stream, max_version=max_version)
    return capsule if label is None else _dlpack.relabel(capsule, label)


def dlpack_device(buffer: Buffer) -> tuple[int, int]:
    """``kDLCUDA`` and the number of the device."""
    kind, number = buffer.__dlpack_device__()
    return int(kind), int(number)


@guarded
def from_dlpack(x: Any, copy: bool | None) -> tuple[Buffer, DType]:
    """Wrap what lies in a GPU's memory, or copy there what lies in the CPU's."""
    from promoarray.backends import _dlpack  # ctypes, for few programs

    if int(x.__dlpack_device__()[0]) == 1:
        if copy is False:
            raise BufferError("the data lie in the CPU's memory: a GPU takes a copy")
        host, dtype = numpy_backend.from_dlpack(x, None)
        return from_numpy(host, dtype), dtype
    source = _dlpack.Readable(x)
    buffer = cupy.from_dlpack(source, copy=copy)
    if source.dtype is not None:
        return buffer.view(storage(source.dtype)), source.dtype
    found = dtype_of(buffer)
    if found is None:
        raise BufferError(f"promoarray has no dtype for {buffer.dtype}")
    return buffer, found


def __getattr__(name: str) -> Any:
    if name == "xp":
        return functions()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
