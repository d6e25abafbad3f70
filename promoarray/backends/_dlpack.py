"""DLPack for dtypes that NumPy and CuPy cannot name: their bits travel under the right label.

The library exports the bits as unsigned integers and keeps the memory; here the dtype in the
capsule's header is overwritten. Importing is the same in reverse.

Source: dlpack.h of DLPack 1.1, ``DLDataTypeCode``, ``DLTensor``, ``DLManagedTensor`` and
``DLManagedTensorVersioned``. Version 1.1 named float8, float6 and float4, and the flag that says
that elements narrower than a byte take one each, as they do here.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import DType


class Label(NamedTuple):
    """A ``DLDataType`` without its lanes."""

    code: int
    bits: int


_CODES = """
0 int2 int4
1 uint2 uint4
4 bfloat16
5 complex32
7 float8_e3m4
8 float8_e4m3
9 float8_e4m3b11fnuz
10 float8_e4m3fn
11 float8_e4m3fnuz
12 float8_e5m2
13 float8_e5m2fnuz
14 float8_e8m0fnu
15 float6_e2m3fn
16 float6_e3m2fn
17 float4_e2m1fn
"""
LABELS = {
    dt.BY_NAME[name]: Label(int(code), dt.BY_NAME[name].bits)
    for code, *names in map(str.split, _CODES.strip().splitlines())
    for name in names
}
_DTYPES = {label: dtype for dtype, label in LABELS.items()}

_UNSIGNED = 1
_PADDED = 1 << 2  # DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED


class _Version(ctypes.Structure):
    _fields_ = (("major", ctypes.c_uint32), ("minor", ctypes.c_uint32))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _ManagedVersioned(ctypes.Structure):
    _fields_ = (
        ("version", _Version),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_KINDS: dict[bytes, Any] = {b"dltensor": _Managed, b"dltensor_versioned": _ManagedVersioned}

_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def _header(capsule: Any) -> Any:
    name = _name(capsule)
    if name not in _KINDS:
        raise BufferError(f"a capsule named {name!r} is not an unused DLPack capsule")
    return _KINDS[name].from_address(_pointer(capsule, name))


def label_of(dtype: DType, max_version: tuple[int, int] | None) -> Label:
    """Return how DLPack labels a dtype.

    A consumer that does not know a label refuses it, whatever version it asks for: PyTorch asks for
    1.0 and knows the float8 dtypes of 1.1.

    Raises BufferError if there is no label, or the consumer would take the elements for packed.
    """
    if dtype not in LABELS:
        raise BufferError(f"DLPack has no dtype for {dtype.name}")
    if dtype.bits < 8 and (max_version is None or tuple(max_version) < (1, 1)):
        asked = "none" if max_version is None else ".".join(map(str, max_version))
        raise BufferError(
            f"that {dtype.name} takes a byte an element can be said since DLPack 1.1, and the "
            f"consumer asks for {asked}; write x.view(pa.uint8) to hand over its bits"
        )
    return LABELS[dtype]


def relabel(capsule: Any, label: Label) -> Any:
    """Overwrite the dtype of a capsule of unsigned integers."""
    header = _header(capsule)
    header.tensor.code, header.tensor.bits = label
    if label.bits < 8:
        header.flags |= _PADDED
        header.version.minor = max(header.version.minor, 1)
    return capsule


class Readable:
    """An array of another library, its bits unsigned integers where the reader knows no better.

    ``dtype`` is the one it really has, or None where the reader sees it, after it was read.
    """

    def __init__(self, x: Any) -> None:
        self._x = x
        self.dtype: DType | None = None

    def __dlpack_device__(self) -> Any:
        return self._x.__dlpack_device__()

    def __dlpack__(self, *, max_version: tuple[int, int] | None = None, **options: Any) -> Any:
        if max_version is not None:
            options["max_version"] = max(tuple(max_version), (1, 1))
        capsule = self._x.__dlpack__(**options)
        header = _header(capsule)
        self.dtype = _DTYPES.get(Label(header.tensor.code, header.tensor.bits))
        if self.dtype is None:
            return capsule
        if self.dtype.bits < 8 and not getattr(header, "flags", 0) & _PADDED:
            raise BufferError(
                f"{self.dtype.name} packed several a byte: unpack it, or hand over the bytes and "
                "write pa.unpack"
            )
        header.tensor.code, header.tensor.bits = _UNSIGNED, self.dtype.storage.itemsize * 8
        return capsule
