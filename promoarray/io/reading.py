"""Types as files tell them, and the arrays in a zip: nothing is believed that is not checked.

What a damaged or made-up file costs is bounded by its size: an entry takes no more memory than the
file has bytes for, or than deflate can make of them.
"""

from __future__ import annotations

import io
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import IO, Any

import numpy as np

from promoarray.core.array_base import type_of
from promoarray.dtypes import BY_NAME, DType
from promoarray.errors import clipped, quoted
from promoarray.parray import PArray

Buffer = np.ndarray[Any, Any]

HEADER = 1 << 14
"""More bytes than a .npy header has that NumPy reads."""

DEFLATED = 1032
"""How many bytes deflate makes of one at most: 258 of two bits."""


MOST_TEXT = 1 << 30
"""As long a text as is read; those that promoarray writes, and graphs of models, have some MiB."""

PACKED = 50, 1 << 20
"""A text is of at most so many times the bytes that it is packed in (of records of operations, it
is 13), and so many more."""


@contextmanager
def explained(what: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn whatever a broken file makes zipfile, zlib, json and NumPy raise into one error.

    An error that is of a kind of its own already stays as it is.
    """
    try:
        yield
    except BROKEN as error:
        if kind is not ValueError and isinstance(error, kind):
            raise
        raise kind(f"{what}: {said(error)}") from error


def said(error: Exception) -> str:
    """Return what is wrong in the words of an error, of which there are at most so many."""
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    text = f"no {quoted(*error.args)}" if type(error) is KeyError else str(error)
    return clipped(text, MOST_SAID) or type(error).__name__


MOST_SAID = 200


BROKEN = (
    ValueError,  # UnicodeDecodeError and JSONDecodeError too
    TypeError,
    AttributeError,
    LookupError,
    SyntaxError,
    tokenize.TokenError,
    EOFError,
    OverflowError,
    RuntimeError,  # NotImplementedError too: an encrypted entry
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    OSError,  # an offset before the file begins
    MemoryError,
)


def row_of(x: PArray) -> dict[str, Any]:
    """The dtype and the weak type of an array as they are written, by name."""
    label = type_of(x._type)
    return {"dtype": x.dtype.name} | ({"weak_type": label.name} if label.weak else {})


def types_in(row: Any) -> tuple[DType, DType]:
    """The dtype, and the weak type or else the dtype again, of what ``row_of`` gave.

    Raises ValueError if there are no such dtypes, or they contradict each other.
    """
    dtype = _dtype(row.get("dtype"))
    label = _dtype(row.get("weak_type", dtype.name))
    if dtype.weak or (label is not dtype and not label.weak):
        wrong = dtype if dtype.weak else label
        raise ValueError(f"{wrong.name} is {'' if wrong.weak else 'not '}weak")
    if label.kind is not dtype.kind:
        raise ValueError(f"it is of dtype {dtype.name}, which {label.name} contradicts")
    return dtype, label


def _dtype(name: Any) -> DType:
    if not isinstance(name, str) or name not in BY_NAME:
        raise ValueError(f"{quoted(name)} is not a dtype promoarray knows")
    return BY_NAME[name]


def require_codes(codes: Buffer, dtype: DType) -> None:
    """Refuse codes of more bits than a dtype has."""
    if dtype.bits < 8 and codes.dtype != np.bool and codes.size and codes.max() >> dtype.bits:
        raise ValueError(f"it has codes of more than the {dtype.bits} bits of {dtype.name}")


def read(file: IO[bytes]) -> dict[str, Buffer]:
    """Return the arrays of a zip by name.

    Raises
    ------
    ValueError
        And the others of ``BROKEN``, which ``explained`` turns into it: if a check fails.
    """
    size = file.seek(0, os.SEEK_END)
    if size < _END.size:  # as of a device, of which zipfile would read all there is
        raise ValueError("it is not a zip file")
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        _require_all(file, size, len(infos))
        if sum(info.compress_size for info in infos) > size:
            raise ValueError("its entries are longer than the file")
        entries: dict[str, Buffer] = {}
        for info in infos:
            name = _name(info)
            if name in entries:
                raise ValueError(f"two entries have one name, {quoted(name)}")
            with explained(f"entry {quoted(name)}"):
                entries[name] = entry(archive, info)
    return entries


def _name(info: zipfile.ZipInfo) -> str:
    """The name as it was written: zipfile ends it at a NUL, and on Windows turns backslashes."""
    name = info.orig_filename
    if not name.endswith(".npy") or "\0" in name:
        raise ValueError(f"entry {quoted(name)} is not a .npy file")
    if not name.isascii() and not info.flag_bits & 0x800:
        raise ValueError(f"entry {quoted(name)} has a name that is not UTF-8")
    return name.removesuffix(".npy")


# The end of central directory, and the one of 64 bits in front of it and its locator: entries on
# this disk, entries, bytes of the directory, its offset (and the length of the comment).
_END = struct.Struct("<4s2H2H2LH")
_END_64 = struct.Struct("<4sQ2H2L2Q2Q")
_LOCATOR = 20


def _require_all(file: IO[bytes], size: int, count: int) -> None:
    """Compare the number of entries with the end record, at which zipfile does not look."""
    at = max(0, size - 0xFFFF - _END.size)
    file.seek(at)
    tail = file.read()
    place = tail.rfind(b"PK\5\6")
    *_, here, entries, _, _, comment = _END.unpack_from(tail, place)
    if place + _END.size + comment != len(tail):
        raise ValueError("bytes follow the end of the zip, or its comment is cut off")
    if entries == 0xFFFF != count:  # more than the field holds
        file.seek(at + place - _LOCATOR - _END_64.size)
        *_, here, entries, _, _ = _END_64.unpack(file.read(_END_64.size))
    if here != count or entries != count:
        raise ValueError(f"its end counts {entries} entries, and there are {count}")


def entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Buffer:
    """Read one .npy entry to its end, which checks its sum.

    The size its header claims is checked against the size of the entry before memory is asked for.
    """
    _require_possible(info)
    with archive.open(info) as entry:
        head = io.BytesIO(entry.read(HEADER))
        shape, fortran, storage = _header(head)
        count, held = prod(shape), info.file_size - head.tell()
        if min(shape, default=0) < 0 or count * storage.itemsize != held:
            said = f"shape {quoted(shape)} of {clipped(str(storage), 60)}"
            raise ValueError(f"it is {held} bytes long; its header says {said}")
        out = np.empty(count, storage)
        memory = out.view(np.uint8) if held else np.empty(0, np.uint8)
        _fill(memory, head, entry)
    if storage == np.bool and memory.max(initial=0) > 1:
        raise ValueError("it holds bools that are neither 0 nor 1")
    return out.reshape(shape, order="F" if fortran else "C")


def text(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read one entry that is text to its end, whatever it claims to be."""
    infos = [info for info in archive.infolist() if info.filename == name]
    if len(infos) != 1:
        raise ValueError(f"it has {len(infos)} entries {name}, not one")
    _require_possible(infos[0])
    times, more = PACKED
    most = min(MOST_TEXT, times * infos[0].compress_size + more)
    with archive.open(infos[0]) as entry:
        found = entry.read(most + 1)
    if len(found) > most:
        raise ValueError(f"{name} is longer than {most} bytes, which no such text is")
    return found


def _require_possible(info: zipfile.ZipInfo) -> None:
    held, claimed = info.compress_size, info.file_size
    if info.compress_type == zipfile.ZIP_STORED:
        possible = claimed == held
    elif info.compress_type == zipfile.ZIP_DEFLATED:
        possible = claimed <= DEFLATED * held
    else:
        raise ValueError(f"it is compressed by method {info.compress_type}, and not deflated")
    if not possible:
        raise ValueError(f"the file has {held} bytes of it, which are not the {claimed} it claims")


def _header(head: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(head)
    if version == (1, 0):
        shape, fortran, storage = np.lib.format.read_array_header_1_0(head)
    elif version == (2, 0):
        shape, fortran, storage = np.lib.format.read_array_header_2_0(head)
    else:
        raise ValueError(f"it is of .npy version {version}")
    if storage.hasobject:
        raise ValueError("it holds Python objects, and nothing is unpickled")
    if not storage.itemsize or storage.subdtype:
        raise ValueError(f"{clipped(str(storage), 60)} is not a dtype of single values")
    return shape, fortran, storage


def _fill(memory: Buffer, head: IO[bytes], entry: IO[bytes]) -> None:
    step, start = 1 << 20, 0
    while part := head.read(step) or entry.read(step):
        if start + len(part) > len(memory):
            raise ValueError("it has bytes after its array")
        memory[start : start + len(part)] = np.frombuffer(part, np.uint8)
        start += len(part)
    if start < len(memory):
        raise ValueError(f"it ends after {start} of {len(memory)} bytes")
