"""Damaged .npz files: a ValueError that names the file, or exactly what was saved.

Files of `save` and of NumPy's own `savez`; bytes flipped, cut out, doubled and moved, fields of the
zip's records and of the .npy headers rewritten, the latter with the right sums. What a damaged file
takes is bounded by its size.
"""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator

import promoarray as pa
from fuzz.layouts import STORED, laid_out, numbers, one_of
from promoarray import dtypes

BY_A_BYTE = 60
"""Bytes of memory that a byte of a file may take: text is objects for a while."""

LEAST = 4 << 20
"""Bytes of memory that any file may take: NumPy parses a header in some."""

POLICIES = ("numpy", "jax", "torch", "array_api")
NAMES = ("a", "b/c", "é", "長い", "x.npy", "..", " ", "arr_0", "/", "a\\b")
NUMBERS = (0, 1, 2, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)


def content(array: Any) -> tuple[Any, ...]:
    """Return what is to come back of an array."""
    buffer = np.array(array._buffer, order="C")
    held = repr(buffer.tolist()).encode() if array.dtype is dtypes.string else buffer.tobytes()
    return array.dtype, array.weak_type, array.shape, held


def one_array(random: Generator) -> Any:
    """Return an array of any dtype and layout, strings, weakly typed and bound ones."""
    way = random.random()
    if way < 0.15:
        texts = ["".join(map(chr, random.integers(32, 0x3000, 5))) for _ in range(4)]
        return pa.asarray(one_of(random, [texts, "", [], [texts, texts]]))
    if way < 0.25:
        with pa.policy("jax"):
            return pa.asarray(one_of(random, [1, 1.5, 1j, True]))
    shape = tuple(int(n) for n in random.integers(0, 5, int(random.integers(0, 4))))
    made = pa.asarray(laid_out(random, numbers(random, shape, one_of(random, STORED))))
    return pa.namespace("torch").asarray(made) if way < 0.3 else made


def saved(random: Generator) -> tuple[bytes, dict[str, Any]]:
    """Return a file, and what it holds."""
    names = [one_of(random, NAMES) for _ in range(int(random.integers(0, 4)))]
    file = io.BytesIO()
    compressed = bool(random.random() < 0.3)
    if random.random() < 0.7:
        arrays = {name: one_array(random) for name in names}
        pa.save(file, compressed=compressed, **arrays)
    else:
        native = [row for row in STORED if row in dtypes.NATIVE]
        plain = {name: numbers(random, (3, 2), one_of(random, native)) for name in names}
        (np.savez_compressed if compressed else np.savez)(file, **plain)
        arrays = {name: pa.asarray(array) for name, array in plain.items()}
    return file.getvalue(), {name: content(array) for name, array in arrays.items()}


# -- damage ----------------------------------------------------------------------------------------


def flipped(random: Generator, data: bytes) -> bytes:
    """Change some bytes."""
    out = bytearray(data)
    for place in random.integers(0, len(data), int(random.integers(1, 5))):
        out[place] ^= int(random.integers(1, 256))
    return bytes(out)


def cut(random: Generator, data: bytes) -> bytes:
    """Leave out a stretch, or all from there on."""
    first, last = sorted(int(n) for n in random.integers(0, len(data) + 1, 2))
    return data[:first] if random.random() < 0.5 else data[:first] + data[last:]


def moved(random: Generator, data: bytes) -> bytes:
    """Put a stretch somewhere else, over what is there or between."""
    first, last = sorted(int(n) for n in random.integers(0, len(data) + 1, 2))
    at = int(random.integers(len(data) + 1))
    over = last - first if random.random() < 0.5 else 0
    return data[:at] + data[first:last] + data[at + over :]


def field(random: Generator, data: bytes) -> bytes:
    """Write a number into a field of one of the zip's records."""
    marks = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\7\x08")
    record = one_of(random, [i for i in range(len(data)) if data[i : i + 4] in marks])
    at, width = record + int(random.integers(4, 44)), one_of(random, ["<H", "<L"])
    out = bytearray(data + bytes(8))
    number = one_of(random, NUMBERS) & (0xFFFF if width == "<H" else 0xFFFFFFFF)
    struct.pack_into(width, out, min(at, len(data)), number)
    return bytes(out[: len(data)])


def small(random: Generator, data: bytes) -> bytes:
    """Add a small number to a field of the end record."""
    out = bytearray(data)
    at = len(data) - int(random.integers(1, 19))
    out[at] = (out[at] + int(random.integers(-3, 4))) % 256
    return bytes(out)


DAMAGES: list[Callable[[Generator, bytes], bytes]] = [flipped, cut, moved, field, small]


def rewritten(random: Generator, data: bytes) -> bytes:
    """Change entries and write the zip anew, so that every sum is right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    for _ in range(int(random.integers(1, 3))):
        if not entries:
            break
        at, other = (int(n) for n in random.integers(0, len(entries), 2))
        name, held = entries[at]
        way = int(random.integers(6))
        if way == 0:
            entries[at] = name, entries[other][1]
        elif way == 1:
            del entries[at]
        elif way == 2:
            entries.append((one_of(random, NAMES) + one_of(random, ["", ".npy"]), held))
        elif way == 3 and held:
            entries[at] = name, one_of(random, [flipped, cut, moved])(random, held)
        elif way == 4:
            entries[at] = name, headed(random, held)
        elif way == 5 and name.startswith("__promoarray__/about"):
            entries[at] = name, described(random, held)
    out = io.BytesIO()
    method = one_of(random, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, held in entries:
            archive.writestr(name, held)
    return out.getvalue()


def headed(random: Generator, held: bytes) -> bytes:
    """Give an entry another header."""
    claim = {
        "descr": one_of(
            random, ["<f8", ">i2", "|u1", "|b1", "<U2", "|S0", "<U0", "|O", "T", "|V2"]
        ),
        "fortran_order": one_of(random, [True, False, 1]),
        "shape": one_of(random, [(), (2,), (0,), (-1,), (1 << 40,), (1 << 62, 4), (0, 1 << 62)]),
    }
    text = one_of(random, [repr(claim), repr(claim)[:-1], "(" * 500, "-" * 3000 + "1", "None"])
    line = text.encode() + b"\n"
    size = one_of(random, [len(line), len(line), 0xFFFF, 3])
    return b"\x93NUMPY\1\0" + struct.pack("<H", size) + line + held[int(random.integers(200)) :]


def described(random: Generator, held: bytes) -> bytes:
    """Give the entry of descriptions another word."""
    try:
        about = json.loads(held[128:])
    except ValueError:  # it was changed already
        return held
    if not isinstance(about, dict):
        return held
    rows = about.get("arrays")
    row = rows[one_of(random, list(rows))] if isinstance(rows, dict) and rows else None
    if isinstance(row, dict) and random.random() < 0.8:
        row[one_of(random, ["dtype", "shape", "weak_type"])] = one_of(
            random,
            [*(d.name for d in dtypes.BY_NAME.values()), [2], [1 << 70], [0.5], None, "", {}, -1],
        )
    else:
        about[one_of(random, ["format", "arrays"])] = one_of(random, [2, None, [], {}, "x", 1e400])
    text = json.dumps(about, indent=1).encode()
    file = io.BytesIO()
    np.save(file, np.frombuffer(text, np.uint8))
    return file.getvalue()


# -- what is promised ------------------------------------------------------------------------------


def loaded(data: bytes) -> dict[str, Any] | None:
    """Return what a file holds; None if it is refused in the words that were promised."""
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            back = pa.load(io.BytesIO(data))
    except ValueError as error:
        words = str(error)
        assert words.startswith("cannot load a file object: "), words
        assert len(words) < 1000, words
        assert "4300 digits" not in words, words
        return None
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak <= LEAST + BY_A_BYTE * len(data), (peak, len(data))
    return {name: content(array) for name, array in back.items()}


def once(random: Generator) -> None:
    """One file, as it is and damaged."""
    with pa.policy(one_of(random, POLICIES)):
        data, held = saved(random)
        assert loaded(data) == held
        for _ in range(8):
            back = loaded(one_of(random, DAMAGES)(random, data))
            assert back is None or back == held
        for _ in range(3):
            loaded(rewritten(random, data))  # with the right sums it may be another file
