"""Files of weights, read by their headers: safetensors and GGUF. Values are read block by block.

Sources: the safetensors format (github.com/huggingface/safetensors, README.md, 0.8), and the GGUF
specification (github.com/ggml-org/ggml, docs/gguf.md), versions 2 and 3.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from promoarray.diagnostics.file_format import GGUF, INDEX, SAFETENSORS, NotReadable
from promoarray.diagnostics.whole_file import written_whole
from promoarray.dtypes import BY_CODE, DType
from promoarray.errors import clipped, quoted

BLOCK = 1 << 18
"""So many elements are read at a time."""

MOST_HEADER = 100_000_000
"""The longest header that safetensors allow."""

_SAFETENSORS = """
    F16 f16 F32 f32 F64 f64 BF16 bf16 C64 c64 BOOL b1 I8 i8 I16 i16 I32 i32 I64 i64 U8 u8 U16 u16
    U32 u32 U64 u64 F8_E4M3 f8_e4m3fn F8_E5M2 f8_e5m2 F8_E8M0 f8_e8m0fnu F8_E4M3FNUZ f8_e4m3fnuz
    F8_E5M2FNUZ f8_e5m2fnuz
"""
_GGUF = "0 f32 1 f16 24 i8 25 i16 26 i32 27 i64 28 f64 30 bf16"
_GGUF_BLOCKS = """
    2 Q4_0 3 Q4_1 6 Q5_0 7 Q5_1 8 Q8_0 9 Q8_1 10 Q2_K 11 Q3_K 12 Q4_K 13 Q5_K 14 Q6_K 15 Q8_K
    16 IQ2_XXS 17 IQ2_XS 18 IQ3_XXS 19 IQ1_S 20 IQ4_NL 21 IQ3_S 22 IQ2_S 23 IQ4_XS 29 IQ1_M
    34 TQ1_0 35 TQ2_0 39 MXFP4 40 NVFP4
"""


def _table(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


_CODES = {**_table(_SAFETENSORS), **_table(_GGUF)}
_BLOCKS = _table(_GGUF_BLOCKS)
"""Types of blocks with scales of their own, which are no dtypes."""


class Weight(NamedTuple):
    """A tensor of a file."""

    name: str
    kind: str  # as the file calls its type
    dtype: DType | None  # None of one that is not read
    shape: tuple[int, ...]
    start: int  # of its data, in the file
    path: str = ""  # of the file

    @property
    def size(self) -> int:
        """Bytes of its data."""
        assert self.dtype is not None
        return prod(self.shape) * int(self.dtype.storage.itemsize)

    def blocks(self) -> Iterator[Any]:
        """Yield the values, as many at a time as a block has."""
        assert self.dtype is not None
        left, storage = prod(self.shape), self.dtype.storage
        with open(self.path, "rb") as file:
            file.seek(self.start)
            while left:
                count = min(left, BLOCK)
                data = file.read(count * storage.itemsize)
                if len(data) != count * storage.itemsize:
                    raise NotReadable(f"the data of {quoted(self.name)} end before they are whole")
                yield np.frombuffer(data, storage)
                left -= count


def weights(path: str, kind: str) -> list[Weight]:
    """Read the header of a file of some format, of an index those of its files; ``NotReadable`` if
    it is damaged: what it says must lie in the file, no two tensors in one place."""
    if kind == INDEX:
        return [*_sharded(Path(path))]
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            found = _Gguf(file, size).weights() if kind == GGUF else _safetensors(file, size)
            _require_apart(found, size)
        except (NotReadable, struct.error, UnicodeDecodeError, OverflowError) as error:
            raise NotReadable(f"{path}: {clipped(str(error))}") from error
    return [each._replace(path=path) for each in found]


def _sharded(index: Path) -> Iterator[Weight]:
    """The tensors that an index names, of files that lie beside it."""
    try:
        names = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        files = dict.fromkeys(names.values())
        plain = all(type(name) is str and name == os.path.basename(name) for name in files)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotReadable(f"{index} has no weight_map from tensors to files") from error
    if not plain:
        raise NotReadable(f"{index} names files that do not lie beside it")
    for name in files:
        found = {x.name: x for x in weights(str(index.with_name(name)), SAFETENSORS)}
        own = [tensor for tensor, file in names.items() if file == name]
        if lacking := [tensor for tensor in own if tensor not in found]:
            raise NotReadable(f"{name} lacks {quoted(lacking[0])}, which {index.name} names")
        yield from (found[tensor] for tensor in own)


def _require_apart(found: list[Weight], size: int) -> None:
    end, before = 0, ""
    for each in sorted(found, key=lambda each: each.start):
        if each.start > size:
            raise NotReadable(f"the data of {quoted(each.name)} lie behind the end of the file")
        if each.dtype is None:
            continue
        if each.start < end and each.size:
            raise NotReadable(f"{quoted(before)} and {quoted(each.name)} overlap")
        end = max(end, each.start + each.size)
        before = each.name
        if end > size:
            raise NotReadable(f"the data of {quoted(each.name)} end behind the end of the file")


# -- safetensors ----------------------------------------------------------------------------------


def _safetensors(file: BinaryIO, size: int) -> list[Weight]:
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, MOST_HEADER):
        raise NotReadable(f"it has {size} bytes, and its header says that it has {length}")
    try:
        header = json.loads(file.read(length), object_pairs_hook=_once)
    except RecursionError as error:
        raise NotReadable("its header is nested too deep") from error
    except ValueError as error:
        raise NotReadable(f"its header is no JSON: {error}") from error
    if type(header) is not dict:
        raise NotReadable("its header is no JSON object")
    header.pop("__metadata__", None)
    return [_tensor(name, row, 8 + length) for name, row in header.items()]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotReadable("its header names a tensor twice")
    return found


def _tensor(name: str, row: Any, data: int) -> Weight:
    try:
        kind, shape, (begin, end) = row["dtype"], row["shape"], row["data_offsets"]
        numbers = [*shape, begin, end]
    except (TypeError, KeyError, ValueError) as error:
        raise NotReadable(f"{quoted(name)} has no dtype, shape and data_offsets") from error
    if any(type(n) is not int or not 0 <= n < 1 << 63 for n in numbers) or type(kind) is not str:
        raise NotReadable(f"{quoted(name)}: shape and offsets are whole numbers from 0 on")
    code = _CODES.get(kind)
    dtype = BY_CODE[code] if code else None
    if end < begin or (dtype and end - begin != prod(shape) * dtype.storage.itemsize):
        given = f"{kind}{shape} and {end - begin} bytes"
        raise NotReadable(f"{quoted(name)} has {given}, which do not go together")
    return Weight(name, kind, dtype, tuple(shape), data + begin)


# -- GGUF -----------------------------------------------------------------------------------------


_SIZES = (1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8)
"""Bytes of the types of metadata; 0 of a string and of an array."""
_STRING, _ARRAY, _UINT32 = 8, 9, 4
_MOST_AXES = 8


class _Gguf:
    """The header of a GGUF file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size

    def weights(self) -> list[Weight]:
        """Read it."""
        if self._file.read(4) != b"GGUF":
            raise NotReadable("it does not begin with GGUF")
        version, tensors, entries = struct.unpack("<IQQ", self._bytes(20))
        if version not in (2, 3):
            order = ", of another order of bytes" * (
                int.from_bytes(version.to_bytes(4), "little") < 9
            )
            raise NotReadable(f"it is of version {version}{order}; 2 and 3 are read")
        alignment = 32
        for _ in range(self._count(entries, 12)):
            key, (kind,) = self._string(), struct.unpack("<I", self._bytes(4))
            if key == "general.alignment" and kind == _UINT32:
                (alignment,) = struct.unpack("<I", self._bytes(4))
            else:
                self._skip(kind, 0)
        if alignment < 1 or alignment & (alignment - 1):
            raise NotReadable(f"its alignment, {alignment}, is no power of two")
        found = [self._info() for _ in range(self._count(tensors, 24))]
        names = {each.name for each in found}
        if len(names) != len(found):
            raise NotReadable("it names a tensor twice")
        data = -(-self._file.tell() // alignment) * alignment
        return [each._replace(start=data + each.start) for each in found]

    def _info(self) -> Weight:
        name = self._string()
        (axes,) = struct.unpack("<I", self._bytes(4))
        if axes > _MOST_AXES:
            raise NotReadable(f"{quoted(name)} has {axes} axes")
        *shape, kind, start = struct.unpack(f"<{axes}QIQ", self._bytes(8 * axes + 12))
        if start > self._size or prod(shape) > 64 * self._size:
            raise NotReadable(f"{quoted(name)} is larger than the file, or lies behind its end")
        code = _CODES.get(str(kind))
        dtype = BY_CODE[code] if code else None
        said = dtype.name if dtype else _BLOCKS.get(str(kind), f"type {kind}")
        return Weight(name, said, dtype, tuple(reversed(shape)), start)

    def _bytes(self, count: int) -> bytes:
        if count > self._size - self._file.tell():
            raise NotReadable("its header ends before it is whole")
        return self._file.read(count)

    def _count(self, count: int, least: int) -> int:
        """A number of things of which each has so many bytes at least."""
        if count > (self._size - self._file.tell()) // least:
            raise NotReadable(f"its header says that {count} entries follow, and ends before")
        return count

    def _string(self) -> str:
        (length,) = struct.unpack("<Q", self._bytes(8))
        return self._bytes(length).decode()

    def _skip(self, kind: int, depth: int) -> None:
        if kind == _STRING:
            (length,) = struct.unpack("<Q", self._bytes(8))
            self._pass(length)
        elif kind == _ARRAY and depth < 4:
            inner, count = struct.unpack("<IQ", self._bytes(12))
            if inner < len(_SIZES) and _SIZES[inner]:
                self._pass(count * _SIZES[inner])
                return
            for _ in range(self._count(count, 8)):
                self._skip(inner, depth + 1)
        elif kind < len(_SIZES) and _SIZES[kind]:
            self._pass(_SIZES[kind])
        else:
            raise NotReadable(f"its metadata have a value of type {kind}, or arrays too deep")

    def _pass(self, count: int) -> None:
        if count > self._size - self._file.tell():
            raise NotReadable("its header ends before it is whole")
        self._file.seek(count, os.SEEK_CUR)


# -- writing --------------------------------------------------------------------------------------


def write_safetensors(path: Path, made: list[tuple[Weight, DType, Iterator[Any]]]) -> None:
    """Write tensors as safetensors, in full or not at all, block by block: each by its name and
    shape, the dtype of its blocks, and those. ``NotReadable`` if safetensors have no name for a
    dtype."""
    names = {code: name for name, code in _table(_SAFETENSORS).items()}
    header, end = dict[str, Any](), 0
    for weight, dtype, _ in made:
        if dtype.code not in names:
            raise NotReadable(f"safetensors have no {dtype.name}: write another --to")
        begin, end = end, end + prod(weight.shape) * dtype.storage.itemsize
        row = {"dtype": names[dtype.code], "shape": [*weight.shape], "data_offsets": [begin, end]}
        header[weight.name] = row
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with written_whole(path) as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for _, dtype, blocks in made:
            for block in blocks:
                file.write(np.ascontiguousarray(block, dtype.storage).tobytes())
