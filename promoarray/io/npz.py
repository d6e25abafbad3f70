"""Files: arrays of every dtype in one .npz, which plain ``numpy.load`` opens too.

The file is a zip of .npy entries, one an array under the array's name. What NumPy has of itself is
stored as it is. The others are stored as what NumPy has and keeps their bits:

===================================  ====================================================
bfloat16, float8, float6, float4     unsigned integers, the codes of the values
int2, uint2, int4, uint4             uint8, the low bits of the values
complex32                            float16, real and imaginary part along a last axis
string                               uint8, the texts in UTF-8 one after another
===================================  ====================================================

Two more kinds of entry lie under ``__promoarray__/``: ``about``, JSON as uint8 with the version of
this format and the dtype, weak type and shape of every array; and ``ends/NAME``, int64, where each
text of the strings NAME ends. Nothing is pickled, nothing is unpickled.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import shutil
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import prod
from typing import IO, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.array_base import type_of
from promoarray.core.asarray import asarray
from promoarray.dtypes import BY_NAME, DType, Kind, as_dtype
from promoarray.io.packing import PACKED, codes_of
from promoarray.parray import PArray

__all__ = ["load", "save"]

FORMAT = 1
"""Version of the format, in ``about``. Readers refuse another one."""

SIDE = "__promoarray__/"
ABOUT = f"{SIDE}about"
ENDS = f"{SIDE}ends/"

Buffer = np.ndarray[Any, Any]
File = str | os.PathLike[str] | IO[bytes]


def save(file: File, /, *arrays: Any, compressed: bool = False, **named: Any) -> None:
    """Write arrays to one file.

    Parameters
    ----------
    file : path or binary file object
        A path is taken as it is: no ending is added. The file is written beside it under another
        name and renamed when it is complete, so whatever goes wrong, a file that was there stays.
        A file object is written to directly.
    *arrays : array_like
        Named ``arr_0``, ``arr_1`` and so on.
    compressed : bool
        Whether to deflate the entries.
    **named : array_like

    Raises
    ------
    ValueError
        If a name is given twice or kept for promoarray, or a string array has missing texts.
    TypeError
        If something is no array of a dtype promoarray has, or ``file`` is no file. In either case
        nothing is written.

    Examples
    --------
    >>> import promoarray as pa
    >>> pa.save("x.npz", a=pa.asarray([1.5, 2.5], dtype=pa.bfloat16))
    >>> pa.load("x.npz")["a"]
    PArray([1.5, 2.5], dtype=bfloat16)
    """
    if not isinstance(compressed, bool):
        raise TypeError("save: compressed is an option, True or False; give the array another name")
    entries = _entries(_named(arrays, named))
    if not isinstance(file, (str, os.PathLike)):
        if isinstance(file, io.TextIOBase) or not hasattr(file, "write"):
            raise TypeError(f"save takes a path or a file opened with 'wb', not {file!r}")
        _write(file, entries, compressed)
        return
    path = os.path.realpath(os.fspath(file))  # a link stays a link
    temporary = f"{path}.{secrets.token_hex(4)}.tmp"
    try:
        with _opened(temporary, os.fspath(file)) as out:
            _write(out, entries, compressed)
            out.flush()
            os.fsync(out.fileno())
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _opened(temporary: str, name: Any) -> IO[bytes]:
    """Create a file, or say that the one it is for cannot be."""
    try:
        return open(temporary, "xb")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, name) from None


def load(file: File, /) -> dict[str, PArray]:
    """Read the arrays of a file that ``save``, or NumPy's ``savez``, has written.

    Parameters
    ----------
    file : path or binary file object

    Returns
    -------
    dict
        The arrays by name, with the dtypes and weak types they had, whatever the policy in force
        would give new ones; they follow the policy in force from then on. An entry of NumPy's own
        is what ``asarray`` makes of it.

    Raises
    ------
    ValueError
        If the file is no such file, is truncated, corrupted or of another version of the format,
        or holds Python objects; the message says which.
    OSError
        If it cannot be opened.
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return _load(opened, os.fspath(file))
    if isinstance(file, io.TextIOBase) or not hasattr(file, "read"):
        raise TypeError(f"load takes a path or a file opened with 'rb', not {file!r}")
    seekable = hasattr(file, "seekable") and file.seekable()
    return _load(
        file if seekable else io.BytesIO(file.read()), str(getattr(file, "name", "a file object"))
    )


# -- writing --------------------------------------------------------------------------------------


def _named(arrays: tuple[Any, ...], named: dict[str, Any]) -> dict[str, PArray]:
    every = {f"arr_{i}": x for i, x in enumerate(arrays)}
    for name in named:
        if name in every:
            raise ValueError(f"save: {name!r} names the positional array too; give it another name")
        if name.startswith(SIDE) or not name:
            raise ValueError(f"save: an array cannot be named {name!r}; give it another name")
    return {
        name: x if isinstance(x, PArray) else asarray(x) for name, x in {**every, **named}.items()
    }


def _entries(arrays: dict[str, PArray]) -> dict[str, Buffer]:
    """Every entry; first the words about them, so that a reader who has lost the rest knows it."""
    entries, about = {ABOUT: np.empty(0, np.uint8)}, {}
    for name, x in arrays.items():
        label = type_of(x._type)
        about[name] = {"dtype": x.dtype.name, "shape": list(x.shape)}
        if label.weak:
            about[name]["weak_type"] = label.name
        buffer = backend_of(x._buffer).to_numpy(x._buffer, x.dtype)
        if x.dtype is dt.string:
            entries[name], entries[ENDS + name] = _encoded(name, buffer)
        else:
            entries[name] = _stored(buffer, x.dtype)
    text = json.dumps({"format": FORMAT, "arrays": about}, indent=1)
    entries[ABOUT] = np.frombuffer(text.encode(), np.uint8)
    return entries


def _stored(buffer: Buffer, dtype: DType) -> Buffer:
    """The buffer as a dtype of NumPy's own; a view where it can be."""
    storage = _storage(dtype)
    if buffer.dtype == storage:
        return buffer
    if dtype in PACKED:
        return codes_of(buffer, dtype).reshape(buffer.shape)
    if dtype.kind is Kind.COMPLEX:
        return np.array(buffer, order="C", copy=None)[..., None].view(storage)
    return buffer.view(storage)


def _storage(dtype: DType) -> np.dtype[Any]:
    if dtype is dt.complex32:
        return np.dtype(np.float16)
    storage: np.dtype[Any] = dtype.storage
    return storage if storage.isbuiltin == 1 else np.dtype(f"u{storage.itemsize}")


def _encoded(name: str, buffer: Buffer) -> tuple[Buffer, Buffer]:
    """The bytes of all texts, and where each ends."""
    texts = buffer.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"save: array {name!r} has missing strings; fill them first")
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def _write(file: IO[bytes], entries: dict[str, Buffer], compressed: bool) -> None:
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, buffer in entries.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # of 1980: the same arrays give the same bytes
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=True) as out:
                np.lib.format.write_array(out, buffer, allow_pickle=False)


# -- reading --------------------------------------------------------------------------------------


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turn whatever a broken file makes zipfile, zlib, json and NumPy raise into one error."""
    try:
        yield
    except _BROKEN as error:
        raise ValueError(f"cannot load {name}: {error or type(error).__name__}") from error


_BROKEN = (
    ValueError,  # UnicodeDecodeError and JSONDecodeError too
    TypeError,
    AttributeError,
    LookupError,
    SyntaxError,
    tokenize.TokenError,
    EOFError,
    OverflowError,
    RuntimeError,  # NotImplementedError too: an encrypted entry, an unknown compression
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    OSError,  # an offset before the file begins
    MemoryError,
)


def _load(file: IO[bytes], name: str) -> dict[str, PArray]:
    with _explained(name):
        start = file.tell()
        magic = file.read(6)
        file.seek(start)
        if magic == b"\x93NUMPY":
            raise ValueError("it is a .npy file of one array; write pa.asarray(np.load(...))")
        with zipfile.ZipFile(file) as archive:
            entries = _read(archive)
        about = entries.pop(ABOUT, None)
        return _foreign(entries) if about is None else _restored(entries, about)


def _read(archive: zipfile.ZipFile) -> dict[str, Buffer]:
    infos = archive.infolist()
    names = [info.filename.removesuffix(".npy") for info in infos]
    if len(set(names)) != len(names):
        raise ValueError("two entries have one name")
    return {name: _read_entry(archive, info, name) for name, info in zip(names, infos, strict=True)}


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Buffer:
    """Read one .npy entry to its end, which checks its sum.

    The size its header claims is checked against the size of the entry before memory is asked for.
    """
    if not info.filename.endswith(".npy"):
        raise ValueError(f"entry {info.filename!r} is not a .npy file")
    with archive.open(info) as entry:
        version = np.lib.format.read_magic(entry)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"entry {name!r} is of .npy version {version}")
        header = np.lib.format.read_array_header_1_0
        if version == (2, 0):
            header = np.lib.format.read_array_header_2_0
        shape, fortran, storage = header(entry)
        if storage.hasobject:
            raise ValueError(f"entry {name!r} holds Python objects, and nothing is unpickled")
        count, held = prod(shape), info.file_size - entry.tell()
        if min(shape, default=0) < 0 or count * storage.itemsize != held:
            raise ValueError(
                f"entry {name!r} is {held} bytes long; its header says shape {shape} of {storage}"
            )
        out = np.empty(count, storage)
        _fill(out.view(np.uint8) if held else np.empty(0, np.uint8), entry, name)
    return out.reshape(shape, order="F" if fortran else "C")


def _fill(memory: Buffer, entry: IO[bytes], name: str) -> None:
    step = 1 << 20
    for start in range(0, len(memory), step):
        part = entry.read(min(step, len(memory) - start))
        if not part:
            break
        memory[start : start + len(part)] = np.frombuffer(part, np.uint8)
    if entry.read(1):  # at the end zipfile compares the sum
        raise ValueError(f"entry {name!r} has bytes after its array")


def _restored(entries: dict[str, Buffer], about: Buffer) -> dict[str, PArray]:
    said = json.loads(about.tobytes())
    version = said["format"]
    if version != FORMAT:
        raise ValueError(f"it is of version {version!r}, and this promoarray reads {FORMAT}")
    arrays = {}
    for name, row in said["arrays"].items():
        dtype, shape = as_dtype(row["dtype"]), tuple(row["shape"])
        label = BY_NAME[row.get("weak_type", dtype.name)]
        if label is not dtype and not label.weak:
            raise ValueError(f"array {name!r} has the weak type {label.name}, which is not weak")
        buffer = _taken(entries, name)
        if dtype is dt.string:
            buffer = _decoded(name, buffer, _taken(entries, ENDS + name), shape)
        else:
            buffer = _labelled(name, buffer, dtype)
        if buffer.shape != shape:
            raise ValueError(f"array {name!r} has shape {buffer.shape}, and should have {shape}")
        arrays[name] = PArray._wrap(buffer, label)
    if entries:
        raise ValueError(f"it does not describe its entries {', '.join(map(repr, entries))}")
    return arrays


def _taken(entries: dict[str, Buffer], name: str) -> Buffer:
    if name not in entries:
        raise ValueError(f"entry {name!r} is missing")
    return entries.pop(name)


def _labelled(name: str, buffer: Buffer, dtype: DType) -> Buffer:
    if buffer.dtype.newbyteorder("=") != _storage(dtype):
        raise ValueError(f"array {name!r} of {dtype.name} is stored as {buffer.dtype}")
    buffer = buffer.astype(buffer.dtype.newbyteorder("="), copy=False)
    if dtype is dt.complex32:
        if buffer.shape[-1:] != (2,):
            raise ValueError(f"array {name!r} of complex32 is not stored as pairs")
        joined: Buffer = np.ascontiguousarray(buffer).view(dtype.storage)[..., 0]
        return joined
    if dtype in PACKED and buffer.size and buffer.max() >= 1 << dtype.bits:
        raise ValueError(f"array {name!r} has codes of more than the {dtype.bits} bits it has")
    return buffer.view(dtype.storage)


def _decoded(name: str, data: Buffer, ends: Buffer, shape: tuple[int, ...]) -> Buffer:
    places = [0, *ends.ravel().tolist()]
    if data.dtype != np.uint8 or ends.dtype != np.int64 or ends.shape != (prod(shape),):
        raise ValueError(f"the strings of {name!r} are not stored as bytes and {prod(shape)} ends")
    if places != sorted(places) or places[-1] != data.size:
        raise ValueError(f"the strings of {name!r} do not end where they should")
    whole = data.tobytes()
    texts = [whole[a:b].decode() for a, b in pairwise(places)]
    return np.array(texts, dt.string.storage).reshape(shape)


def _foreign(entries: dict[str, Buffer]) -> dict[str, PArray]:
    """The arrays of a file of NumPy's own."""
    arrays = {}
    for name, buffer in entries.items():
        try:
            arrays[name] = PArray._wrap((x := asarray(buffer))._buffer, x._type)
        except TypeError as error:
            lost = "; so NumPy stores what it has no name for" if buffer.dtype.kind == "V" else ""
            raise ValueError(f"entry {name!r}: {error}{lost}") from None
    return arrays
