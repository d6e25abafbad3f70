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
import zipfile
from itertools import pairwise
from math import prod
from typing import IO, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.asarray import asarray
from promoarray.dtypes import DType, Kind
from promoarray.errors import clipped, quoted
from promoarray.io.packing import PACKED, codes_of, held
from promoarray.io.reading import Buffer, explained, read, require_codes, row_of, types_in
from promoarray.io.writing import write
from promoarray.parray import PArray

__all__ = ["load", "save"]

FORMAT = 1
"""Version of the format, in ``about``. Readers refuse another one."""

SIDE = "__promoarray__/"
ABOUT = f"{SIDE}about"
ENDS = f"{SIDE}ends/"

LONGEST_NAME = 0xFFFF
"""Bytes of an entry's name that a zip has room for."""

File = str | os.PathLike[str] | IO[bytes]


def save(file: File, /, *arrays: Any, compressed: bool = False, **named: Any) -> None:
    """Write arrays to one file.

    Parameters
    ----------
    file : path or binary file object
        A path is taken as it is: no ending is added. The file appears complete: it is written
        beside the path under another name and renamed, so whatever goes wrong, a file that was
        there stays. Its owner, mode and attributes stay in any case, and links stay links; a file
        with several names (hard links), or in a folder that cannot be written to, is overwritten
        once all of it is written elsewhere and there is room for it. A pipe, a device or a file
        object is written to directly.
    *arrays : array_like, any shape
        Named ``arr_0``, ``arr_1`` and so on.
    compressed : bool
        Whether to deflate the entries.
    **named : array_like, any shape
        Any name that a zip gives back, ``..`` and ``/x`` too: nothing is unpacked to folders.

    Raises
    ------
    ValueError
        If a name is given twice or kept for promoarray, or is one that no zip gives back: empty,
        with a NUL or a lone surrogate, or of more than 65,511 bytes; or if a string array has
        missing texts.
    TypeError
        If something is no array of a dtype promoarray has, or ``file`` is no file. In either case
        nothing is written.
    OSError
        If the path is a folder, read-only, in no folder that is there, or the disk is full.

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

    def fill(out: IO[bytes]) -> None:
        _write(out, entries, compressed)

    if isinstance(file, (str, os.PathLike)):
        write(os.fsdecode(file), fill)
    elif isinstance(file, io.TextIOBase) or not hasattr(file, "write"):
        raise TypeError(f"save takes a path or a file opened with 'wb', not {quoted(file)}")
    else:
        fill(file)


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

    Examples
    --------
    >>> save("arrays.npz", x=asarray([0.5, 1.0], dtype=bfloat16))
    >>> load("arrays.npz")
    {'x': PArray([0.5, 1. ], dtype=bfloat16)}
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return _load(opened, os.fsdecode(file))
    if isinstance(file, io.TextIOBase) or not hasattr(file, "read"):
        raise TypeError(f"load takes a path or a file opened with 'rb', not {quoted(file)}")
    name = getattr(file, "name", None)
    return _load(file, str(name) if isinstance(name, (str, int)) else "a file object")


# -- writing --------------------------------------------------------------------------------------


def _named(arrays: tuple[Any, ...], named: dict[str, Any]) -> dict[str, PArray]:
    every = {f"arr_{i}": x for i, x in enumerate(arrays)}
    for name in named:
        if name in every:
            raise ValueError(f"save: {quoted(name)} names the positional array too; {_RENAME}")
        if why := _unfit(name):
            message = f"save: an array cannot be named {quoted(name)}, {why}; {_RENAME}"
            raise ValueError(message)
    return {
        name: x if isinstance(x, PArray) else asarray(x) for name, x in {**every, **named}.items()
    }


_RENAME = "give it another name"


def _unfit(name: str) -> str:
    """Why a name cannot be an entry's; "" if it can. ``/``, ``..`` and all else come back."""
    if not name:
        return "which says nothing"
    if name.startswith(SIDE):
        return "which is promoarray's own"
    if "\0" in name:
        return "where a zip ends it at the NUL"
    try:
        length = len(f"{ENDS}{name}.npy".encode())  # the longest of its entries
    except UnicodeEncodeError:
        return "which is no Unicode text: a surrogate stands alone"
    if length > LONGEST_NAME:
        most = LONGEST_NAME - len(f"{ENDS}.npy")
        return f"of more than the {most:,} bytes that a zip has room for"
    return ""


def _entries(arrays: dict[str, PArray]) -> dict[str, Buffer]:
    """Every entry; first the words about them, so that a reader who has lost the rest knows it."""
    entries, about = {ABOUT: np.empty(0, np.uint8)}, {}
    for name, x in arrays.items():
        row = row_of(x)
        about[name] = {"dtype": row.pop("dtype"), "shape": list(x.shape), **row}
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
        return codes_of(buffer, dtype)
    if dtype.kind is Kind.COMPLEX:
        return np.array(buffer, order="C", copy=None)[..., None].view(storage)
    return buffer.view(storage)


def _storage(dtype: DType) -> np.dtype[Any]:
    return np.dtype(np.float16) if dtype is dt.complex32 else held(dtype)


def _encoded(name: str, buffer: Buffer) -> tuple[Buffer, Buffer]:
    """The bytes of all texts, and where each ends."""
    texts = buffer.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"save: array {quoted(name)} has missing strings; fill them first")
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def _write(file: IO[bytes], entries: dict[str, Buffer], compressed: bool) -> None:
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, buffer in entries.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # of 1980: the same arrays give the same bytes
            entry.filename = entry.orig_filename  # on Windows too, where \\ would become /
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=True) as out:
                np.lib.format.write_array(out, buffer, allow_pickle=False)


# -- reading --------------------------------------------------------------------------------------


def _load(file: IO[bytes], name: str) -> dict[str, PArray]:
    with explained(f"cannot load {clipped(name)}"):
        file = _seekable(file)
        start = file.tell()
        magic = file.read(6)
        file.seek(start)
        if magic == b"\x93NUMPY":
            raise ValueError("it is a .npy file of one array; write pa.asarray(np.load(...))")
        entries = read(file)
        about = entries.pop(ABOUT, None)
        return _foreign(entries) if about is None else _restored(entries, about)


def _seekable(file: IO[bytes]) -> IO[bytes]:
    """The file itself, or all that a pipe gives, which may be without end if it is no zip."""
    if hasattr(file, "seekable") and file.seekable():
        return file
    begin = file.read(4)
    if begin[:2] != b"PK":
        raise ValueError("it is not a zip file")
    return io.BytesIO(begin + file.read())


def _restored(entries: dict[str, Buffer], about: Buffer) -> dict[str, PArray]:
    said = json.loads(about.tobytes(), parse_int=_int)
    version = said.get("format") if isinstance(said, dict) else None
    if version != FORMAT:
        raise ValueError(f"it is of version {quoted(version)}, and this promoarray reads {FORMAT}")
    rows = said.get("arrays")
    if not isinstance(rows, dict):
        raise ValueError(f"entry {ABOUT!r} describes no arrays")
    arrays = {}
    for name, row in rows.items():
        with explained(f"array {quoted(name)}"):
            arrays[name] = _restored_one(entries, name, row)
    if entries:
        raise ValueError(f"it does not describe its entries {', '.join(map(quoted, entries))}")
    return arrays


def _int(digits: str) -> int:
    """A number of the description: a length of an axis, or the version."""
    if len(digits) > 20:
        raise ValueError(f"entry {ABOUT!r} has a number of {len(digits)} digits")
    return int(digits)


def _restored_one(entries: dict[str, Buffer], name: str, row: Any) -> PArray:
    if not isinstance(row, dict) or not isinstance(row.get("shape"), list):
        raise ValueError(f"it is described by {quoted(row)}")
    (dtype, label), shape = types_in(row), tuple(row["shape"])
    buffer = _taken(entries, name)
    if dtype is dt.string:
        buffer = _decoded(buffer, _taken(entries, ENDS + name), shape)
    else:
        buffer = _labelled(buffer, dtype)
    if buffer.shape != shape:
        raise ValueError(f"it has shape {buffer.shape}, and should have {quoted(shape)}")
    return PArray._wrap(buffer, label)


def _taken(entries: dict[str, Buffer], name: str) -> Buffer:
    if name not in entries:
        raise ValueError(f"entry {quoted(name)} is missing")
    return entries.pop(name)


def _labelled(buffer: Buffer, dtype: DType) -> Buffer:
    if buffer.dtype.newbyteorder("=") != _storage(dtype):
        raise ValueError(f"{dtype.name} is stored as {clipped(str(buffer.dtype))}")
    buffer = buffer.astype(buffer.dtype.newbyteorder("="), copy=False)
    if dtype is dt.complex32:
        if buffer.shape[-1:] != (2,):
            raise ValueError("complex32 is not stored as pairs")
        joined: Buffer = np.ascontiguousarray(buffer).view(dtype.storage)[..., 0]
        return joined
    require_codes(buffer, dtype)
    return buffer.view(dtype.storage)


def _decoded(data: Buffer, ends: Buffer, shape: tuple[int, ...]) -> Buffer:
    if data.dtype != np.uint8 or ends.dtype != np.int64 or ends.shape != (prod(shape),):
        raise ValueError(f"its strings are not stored as bytes and {quoted(prod(shape))} ends")
    places = [0, *ends.tolist()]
    if places != sorted(places) or places[-1] != data.size:
        raise ValueError("its strings do not end where they should")
    whole = data.tobytes()
    texts = [whole[a:b].decode() for a, b in pairwise(places)]
    return np.array(texts, dt.string.storage).reshape(shape)


def _foreign(entries: dict[str, Buffer]) -> dict[str, PArray]:
    """The arrays of a file of NumPy's own."""
    arrays = {}
    for name, buffer in entries.items():
        with explained(f"entry {quoted(name)}"):
            try:
                arrays[name] = PArray._wrap((x := asarray(buffer))._buffer, x._type)
            except TypeError as error:
                void = buffer.dtype.kind == "V" and not buffer.dtype.names
                lost = "; so NumPy stores what it has no name for" if void else ""
                raise ValueError(f"{error}{lost}") from None
    return arrays
