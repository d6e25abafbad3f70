"""Damaged TensorProtos: a ValueError in a few words, or exactly the values that lie there.

Tensors of `to_onnx` and of onnx's own helper with fields set at random, and serialized ones with
bytes changed. Where both onnx and promoarray read one, they read the same.
"""

from __future__ import annotations

import tempfile
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.random import Generator
from onnx import TensorProto, numpy_helper

import promoarray as pa
from fuzz.archives import content, flipped, one_array
from fuzz.layouts import one_of
from promoarray.io.onnx import FIELDS, NAMES, TYPES

LEAST, BY_A_BYTE = 1 << 20, 60
"""Bytes of memory that any tensor may take, and a byte of one."""

TYPES_AND_OTHERS = [*range(30), -1, 99, 1 << 30]
DIMS = (0, 1, 2, 3, 4, 7, -1, -(1 << 63), 1 << 20, 1 << 32, (1 << 63) - 1)
WORDS = (0, 1, -1, 255, 256, 65536, (1 << 31) - 1, -(1 << 31))
FOLDER = tempfile.TemporaryDirectory()
(Path(FOLDER.name) / "weights").write_bytes(bytes(range(64)))
PLACES: dict[str, tuple[str, ...]] = {
    "location": ("weights", "none", "", "../weights", "/etc/passwd", ".", "a\0b", "x" * 5000),
    "offset": ("0", "4", "-1", "64", "65", "x", "", "1e3", str(1 << 70), "9" * 5000),
    "length": ("0", "8", "-1", "65", "x", str(1 << 62), "9" * 5000),
    "checksum": ("x",),
    "other": ("",),
}


def tensor(random: Generator) -> Any:
    """Return a sound tensor, and an array that is equal to it."""
    while True:
        x = one_array(random)
        if x.dtype in NAMES:
            return pa.to_onnx(x, one_of(random, ["", "t", "é", "n" * 100_000])), x


def values(random: Generator, name: str) -> Any:
    """Return some values for a typed field."""
    count = int(random.integers(0, 9))
    if name == "string_data":
        return [one_of(random, [b"", b"a", "é".encode(), b"\xff", b"\0"]) for _ in range(count)]
    if name in ("float_data", "double_data"):
        return [one_of(random, [0.0, -0.0, 1.5, np.nan, np.inf]) for _ in range(count)]
    words = [one_of(random, WORDS) for _ in range(count)]
    return [abs(word) for word in words] if name == "uint64_data" else words


def change(random: Generator, made: Any) -> None:
    """Set one field at random."""
    name = one_of(random, ["data_type", "dims", "place", "segment", "raw_data", *FIELDS])
    if name == "data_type":
        made.data_type = one_of(random, TYPES_AND_OTHERS)
    elif name == "dims":
        del made.dims[:]
        made.dims.extend(one_of(random, DIMS) for _ in range(int(random.integers(0, 4))))
        made.dims.extend([1] * one_of(random, [0, 0, 0, 64, 70]))
    elif name == "place":
        made.data_location = one_of(random, [TensorProto.DEFAULT, TensorProto.EXTERNAL])
        for key in PLACES if random.random() < 0.5 else ["location"]:
            made.external_data.add(key=key, value=one_of(random, PLACES[key]))
        if random.random() < 0.7:
            made.ClearField("raw_data")
    elif name == "segment":
        made.segment.begin = 0
    elif name == "raw_data":
        held = made.raw_data or bytes(8)
        made.raw_data = one_of(random, [flipped(random, held), held[:-1], held + b"\0", b""])
    else:
        made.ClearField(name)
        getattr(made, name).extend(values(random, name))
        if random.random() < 0.5:
            made.ClearField("raw_data")


def read(made: Any, base_dir: str | None) -> Any:
    """Return the array that a tensor holds; None if it is refused in the words promised."""
    size = made.ByteSize()
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of keys that onnx does not know
            return pa.from_onnx(made, base_dir=base_dir)
    except ValueError as error:
        words = str(error)
        assert "tensor" in words, words
        assert len(words) < 1000, words
        assert "4300 digits" not in words, words
        return None
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak <= LEAST + BY_A_BYTE * size, (peak, size)


def require_same(made: Any, found: Any) -> None:
    """Compare with what onnx reads, where it does."""
    name = TensorProto.DataType.Name(made.data_type)
    if made.data_location == TensorProto.EXTERNAL or name == "STRING":
        return
    try:
        theirs = numpy_helper.to_array(made)
    except Exception:
        return  # it does not pack, or not yet, what onnx.proto says
    assert TYPES[name][0] is found.dtype
    assert found.shape == theirs.shape
    mine, theirs = np.asarray(found).ravel(), theirs.ravel()
    with np.errstate(all="ignore"):
        assert np.all((mine == theirs) | ((mine != mine) & (theirs != theirs)))


def once(random: Generator) -> None:
    """One tensor, as it is and damaged."""
    made, x = tensor(random)
    assert content(read(made, None))[2:] == content(x)[2:]
    whole = made.SerializeToString()
    for _ in range(10):
        broken = onnx.TensorProto()
        try:
            broken.ParseFromString(flipped(random, whole) if random.random() < 0.4 else whole)
        except DecodeError:
            continue
        for _ in range(int(random.integers(0, 3))):
            change(random, broken)
        found = read(broken, one_of(random, [None, FOLDER.name]))
        if found is not None:
            require_same(broken, found)
