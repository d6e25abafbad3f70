"""ONNX tensors: TensorProto to array and back, every type, packed ones included.

Needs the extra ``onnx``, which decodes what is there. Before, the message is held against
onnx.proto, field by field, so a malformed one is an error and never a wrong number.

Source: onnx.proto, TensorProto, onnx 1.23.2.
"""

from __future__ import annotations

import os
import re
from functools import partial
from math import prod
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.operands import as_array
from promoarray.dtypes import BY_CODE, DType, Kind
from promoarray.errors import clipped, imported, kind_of, quoted
from promoarray.io.packing import impossible, length
from promoarray.kernels.float_state import in_default_float_state
from promoarray.parray import PArray

__all__ = ["from_onnx", "to_onnx"]

Buffer = np.ndarray[Any, Any]

# TensorProto.DataType and the field that holds its values where raw_data does not.
TYPES = {
    line.split()[0]: (BY_CODE[line.split()[1]], line.split()[2])
    for line in """
FLOAT           f32          float_data
UINT8           u8           int32_data
INT8            i8           int32_data
UINT16          u16          int32_data
INT16           i16          int32_data
INT32           i32          int32_data
INT64           i64          int64_data
STRING          str          string_data
BOOL            b1           int32_data
FLOAT16         f16          int32_data
DOUBLE          f64          double_data
UINT32          u32          uint64_data
UINT64          u64          uint64_data
COMPLEX64       c64          float_data
COMPLEX128      c128         double_data
BFLOAT16        bf16         int32_data
FLOAT8E4M3FN    f8_e4m3fn    int32_data
FLOAT8E4M3FNUZ  f8_e4m3fnuz  int32_data
FLOAT8E5M2      f8_e5m2      int32_data
FLOAT8E5M2FNUZ  f8_e5m2fnuz  int32_data
UINT4           u4           int32_data
INT4            i4           int32_data
FLOAT4E2M1      f4_e2m1fn    int32_data
FLOAT8E8M0      f8_e8m0fnu   int32_data
UINT2           u2           int32_data
INT2            i2           int32_data
FLOAT6E2M3      f6_e2m3fn    int32_data
FLOAT6E3M2      f6_e3m2fn    int32_data
""".strip().splitlines()
}
NAMES = {dtype: name for name, (dtype, _) in TYPES.items()}

FIELDS = ("raw_data", *sorted({field for _, field in TYPES.values()}))


def from_onnx(tensor: Any, /, *, base_dir: str | os.PathLike[str] | None = None) -> PArray:
    """Return the array that an ONNX TensorProto holds.

    Parameters
    ----------
    tensor : onnx.TensorProto
    base_dir : path, optional
        The folder of the model, for a tensor whose data lie in a file beside it.

    Returns
    -------
    PArray
        Of the tensor's dtype and shape, whatever the policy in force would give new arrays.

    Raises
    ------
    ImportError
        If onnx is not installed.
    TypeError
        If ``tensor`` is no TensorProto.
    ValueError
        If it is malformed, of a type promoarray does not know, one segment of several, or has its
        data in a file that cannot be read, or for which no ``base_dir`` is given.

    Examples
    --------
    >>> tensor = to_onnx(asarray([0.5, 1.0], dtype=float8_e4m3fn), "scale")
    >>> from_onnx(tensor)
    PArray([0.5, 1. ], dtype=float8_e4m3fn)
    """
    onnx = _onnx()
    if not isinstance(tensor, onnx.TensorProto):
        kind = kind_of(tensor)
        hint = "; write onnx.load_tensor_from_string(...) around it" * (kind == "bytes")
        raise TypeError(f"from_onnx takes an onnx.TensorProto, not a {kind}{hint}")
    number, what = tensor.data_type, _what(tensor)
    name = {known: name for name, known in _numbers(onnx).items()}.get(number, "unknown")
    if name not in TYPES:
        said = f"data_type {number} ({name}) is not an element type promoarray knows"
        raise ValueError(f"{what}: {said}")
    dtype, field = TYPES[name]
    shape = tuple(tensor.dims)
    if wrong := impossible(shape, dtype):
        raise ValueError(f"{what}: the shape {quoted(shape)} {wrong}")
    if tensor.HasField("segment"):
        raise ValueError(f"{what} is one segment of several; join them first")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        tensor = _with_data(onnx, tensor, what, base_dir)
    given = _given(tensor)
    if not given and prod(shape) == 0:
        return PArray._wrap(np.empty(shape, dtype.storage), dtype)
    if len(given) != 1 or given[0] not in (field, "raw_data"):
        found = " and ".join(given) or "no field"
        raise ValueError(f"{what} of {name} has its values in {found}, not in {field} or raw_data")
    return PArray._wrap(_values(onnx, tensor, given[0], dtype, shape, what), dtype)


def to_onnx(x: Any, /, name: str = "") -> Any:
    """Return an array as an ONNX TensorProto.

    Parameters
    ----------
    x : array, any shape
    name : str
        Of the tensor.

    Returns
    -------
    onnx.TensorProto
        With ``raw_data``, packed for types narrower than a byte; with ``string_data`` for strings.

    Raises
    ------
    ImportError
        If onnx is not installed.
    TypeError
        If ONNX, or the onnx that is installed, has no such type, or ``name`` is no string.
    ValueError
        If a string array has missing texts, or the name is no Unicode text.

    Examples
    --------
    >>> to_onnx(asarray([0.5, 1.0], dtype=float8_e4m3fn), "scale").dims
    [2]
    """
    onnx = _onnx()
    if not isinstance(name, str):
        raise TypeError(f"to_onnx takes a str as name, not {quoted(name)}")
    if re.search("[\ud800-\udfff]", name):
        raise ValueError(f"to_onnx: the name {quoted(name)} has a surrogate that stands alone")
    array = as_array(x, "to_onnx")
    dtype = array.dtype
    buffer = backend_of(array._buffer).to_numpy(array._buffer, dtype)
    known = _numbers(onnx)
    if dtype not in NAMES:
        names = ", ".join(row.name for row in NAMES)
        raise TypeError(f"ONNX has no {dtype.name}. Write pa.astype(x, ...) with one of: {names}")
    if NAMES[dtype] not in known:
        raise TypeError(f"onnx {onnx.__version__} has no {NAMES[dtype]} yet; install a newer onnx")
    if dtype is not dt.string:
        return onnx.numpy_helper.from_array(buffer, name)
    texts = buffer.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("to_onnx: the array has missing texts; fill them first")
    tensor = onnx.TensorProto(name=name, dims=array.shape, data_type=known[NAMES[dtype]])
    tensor.string_data.extend(text.encode() for text in texts)
    return tensor


_onnx = partial(imported, "onnx", "ONNX tensors", "onnx")


def _numbers(onnx: Any) -> dict[str, int]:
    """The types that the installed onnx has, and their numbers."""
    return dict(onnx.TensorProto.DataType.items())


def _what(tensor: Any) -> str:
    try:
        return f"tensor {quoted(tensor.name)}"
    except UnicodeDecodeError:  # proto2 lets any bytes pass
        return "a tensor whose name is not UTF-8"


def _given(tensor: Any) -> list[str]:
    """The fields that hold values."""
    return [f for f in FIELDS if (tensor.HasField(f) if f == "raw_data" else getattr(tensor, f))]


def _with_data(onnx: Any, tensor: Any, what: str, base_dir: str | os.PathLike[str] | None) -> Any:
    """A copy of a tensor with the data that lie in a file."""
    if given := _given(tensor):
        raise ValueError(f"{what} has its data in a file, and values in {' and '.join(given)} too")
    try:
        place = {entry.key: entry.value for entry in tensor.external_data}
    except UnicodeDecodeError as error:
        raise ValueError(f"{what} has its data in a file whose name is not UTF-8") from error
    if base_dir is None:
        file = quoted(place.get("location", ""))
        raise ValueError(f"{what} has its data in the file {file}; give base_dir=, its folder")
    for key in ("offset", "length"):
        number = place.get(key, "0")
        if not (str(number).isascii() and str(number).isdecimal() and len(number) <= 20):
            raise ValueError(f"{what}: the {key} of its data, {quoted(number)}, counts no bytes")
    copy = onnx.TensorProto()
    copy.CopyFrom(tensor)
    copy.data_location = onnx.TensorProto.DEFAULT
    folder = os.fsdecode(base_dir)
    try:  # which refuses paths that lead out of base_dir
        onnx.external_data_helper.load_external_data_for_tensor(copy, folder)
    except (onnx.checker.ValidationError, *_UNREAD) as error:
        raise ValueError(f"{what}: {clipped(str(error)) or type(error).__name__}") from error
    return copy


_UNREAD = (OSError, ValueError, RuntimeError, TypeError, OverflowError, MemoryError)
"""What onnx and Python raise where a file is not there, or its place in it is no number."""


@in_default_float_state
def _values(
    onnx: Any, tensor: Any, field: str, dtype: DType, shape: tuple[int, ...], what: str
) -> Buffer:
    """The values as onnx reads them, once as many are there as the shape takes, and each fits."""
    given, size = getattr(tensor, field), prod(shape)
    if field == "raw_data":
        if dtype is dt.string:
            raise ValueError(f"{what}: strings are not stored in raw_data")
        if len(given) != (wanted := length(size, dtype.bits)):
            said = f"of {dtype.name} takes {wanted} bytes of raw_data, not {len(given)}"
            raise ValueError(f"{what}: shape {quoted(shape)} {said}")
        if dtype is dt.bool:
            _require_within(np.frombuffer(given, np.uint8), 0, 1, what)
    else:
        if len(given) != (wanted := _entries_of(size, dtype)):
            had = f"{wanted} entries of {field}, not {len(given)}"
            raise ValueError(f"{what}: shape {quoted(shape)} takes {had}")
        if limits := _limits(field, dtype):
            _require_within(np.array(given), *limits, what)
    if dtype is dt.string:  # of which onnx would drop a NUL at the end
        return _texts(given, what).reshape(shape)
    return np.array(onnx.numpy_helper.to_array(tensor), dtype.storage)  # of its own memory


def _texts(given: Any, what: str) -> Buffer:
    try:
        texts = [text.decode() for text in given]
    except UnicodeDecodeError as error:
        raise ValueError(f"{what}: its strings are not UTF-8: {error}") from error
    return np.array(texts, dt.string.storage)


def _entries_of(size: int, dtype: DType) -> int:
    """How many entries a field has: two a complex number, one a byte where values share bytes."""
    if dtype.kind is Kind.COMPLEX:
        return 2 * size
    return length(size, dtype.bits) if dtype.bits in (2, 4) else size


def _limits(field: str, dtype: DType) -> tuple[int, int] | None:
    """Of entries that are wider than what they hold: integers, and codes of floats."""
    if (field, dtype) == ("uint64_data", dt.uint32):
        return 0, 0xFFFFFFFF
    if field != "int32_data" or dtype is dt.int32:
        return None
    if dtype.kind is Kind.INT and dtype.bits >= 8:
        return -(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1
    width = {dt.bool: 1, dt.float6_e2m3fn: 6, dt.float6_e3m2fn: 6}.get(dtype, max(dtype.bits, 8))
    return 0, (1 << width) - 1


def _require_within(values: Buffer, low: int, high: int, what: str) -> None:
    if values.size and not low <= values.min() <= values.max() <= high:
        wrong = next(v for v in values.tolist() if not low <= v <= high)
        raise ValueError(f"{what}: the entry {wrong} is not within {low} to {high}")
