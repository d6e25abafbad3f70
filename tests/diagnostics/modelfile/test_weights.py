"""``promoarray cast`` of files of weights."""

from __future__ import annotations

import json
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.cli import main


def safetensors(path: Path, tensors: dict[str, Any], **header: Any) -> str:
    rows, data = dict(header), b""
    for name, (kind, array) in tensors.items():
        raw = array.tobytes()
        offsets = [len(data), len(data) + len(raw)]
        rows[name] = {"dtype": kind, "shape": [*array.shape], "data_offsets": offsets}
        data += raw
    head = json.dumps(rows).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + data)
    return str(path)


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(path: Path, tensors: dict[str, tuple[int, tuple[int, ...], bytes]]) -> str:
    """A file with metadata of every kind, an alignment of its own among them."""
    entries = [
        text("general.alignment") + struct.pack("<II", 4, 64),
        text("name") + struct.pack("<I", 8) + text("a model"),
        text("words") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
        text("numbers") + struct.pack("<IIQ3f", 9, 6, 3, 1, 2, 3),
    ]
    infos, data = b"", b""
    for name, (kind, shape, raw) in tensors.items():
        dims = struct.pack(f"<{len(shape)}Q", *reversed(shape))
        infos += text(name) + struct.pack("<I", len(shape)) + dims
        infos += struct.pack("<IQ", kind, len(data))
        data += raw + bytes(-len(raw) % 64)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries) + infos
    path.write_bytes(head + bytes(-len(head) % 64) + data)
    return str(path)


def cast(*args: str, capsys: Any, status: int) -> Any:
    assert main(["cast", "--json", *args]) == status
    return json.loads(capsys.readouterr().out)


WEIGHTS = np.array([[1.0, 448.0, 465.0], [-1e9, 2.0**-11, 0.3]], np.float32)


def test_which_weights_survive(tmp_path: Path, capsys: Any) -> None:
    half = np.array([np.nan, np.inf, 2.0], np.float16)
    tensors = {"w": ("F32", WEIGHTS), "h": ("F16", half), "empty": ("F64", np.zeros((0, 3)))}
    path = safetensors(tmp_path / "m.safetensors", tensors, __metadata__={"format": "pt"})
    to = "--to", "float8_e4m3fn", "--policies", "torch,numpy"
    found = cast(path, *to, capsys=capsys, status=1)["tensors"]
    first = found["torch@2.13"]["w"]
    assert (first["beyond"], first["saturated"], first["flushed_to_zero"]) == (2, 2, 1)
    assert found["numpy@2"]["w"]["overflowed_to_nan"] == 2  # ml_dtypes does not saturate
    # 0.3 becomes 0.3125
    assert first["largest_relative_error"] == pytest.approx(0.0125 / 0.3, rel=1e-6)
    assert (found["torch@2.13"]["h"]["nan_in"], found["torch@2.13"]["empty"]["size"]) == (1, 0)
    assert cast(path, "--to", "float64", capsys=capsys, status=0)["tensors"]["torch@2.13"]["w"]


def test_a_file_is_counted_as_the_array_is(tmp_path: Path, capsys: Any) -> None:
    """By blocks, each report of a tensor is that of ``cast_report`` of the whole."""
    import promoarray as pa
    from promoarray.diagnostics.modelfile import weights

    random = np.random.default_rng(0)
    array = (random.standard_normal(3 * weights.BLOCK // 2) * 200).astype(np.float32)
    array[-1] = 1e9
    path = safetensors(tmp_path / "m.safetensors", {"w": ("F32", array)})
    found = cast(path, "--to", "float8_e5m2", capsys=capsys, status=1)["tensors"]
    with pa.policy("torch"):
        whole = pa.cast_report(pa.asarray(array), "float8_e5m2").to_dict()
    of_file = found["torch@2.13"]["w"]
    assert of_file.pop("mean_error") == pytest.approx(whole.pop("mean_error"))
    assert {name: of_file[name] for name in whole} == whole


def test_what_is_not_read_is_no_success(tmp_path: Path, capsys: Any) -> None:
    path = gguf(tmp_path / "m.gguf", {"q": (8, (1, 32), bytes(34))})
    assert cast(path, "--to", "float16", capsys=capsys, status=4)["not_read"] == {"Q8_0": ["q"]}


@pytest.mark.parametrize(
    ("kind", "x", "to"),
    [("F32", np.nan, "int8"), ("F32", 0.5, "int8"), ("F32", 0.5, "bool"), ("C64", 1j, "float32")],
)
def test_every_loss_counts(tmp_path: Path, capsys: Any, kind: str, x: Any, to: str) -> None:
    values = np.array([x, 1], np.complex64 if kind == "C64" else np.float32)
    path = safetensors(tmp_path / "m.safetensors", {"w": (kind, values)})
    cast(path, "--to", to, capsys=capsys, status=1)


def test_gguf(tmp_path: Path, capsys: Any) -> None:
    tensors = {
        "w": (0, (2, 3), WEIGHTS.tobytes()),
        "q": (8, (1, 32), bytes(34)),
        "b": (30, (2,), np.array([0x3F80, 0x7F7F], np.uint16).tobytes()),
    }
    path = gguf(tmp_path / "m.gguf", tensors)
    data = cast(path, "--to", "float8_e4m3fn", capsys=capsys, status=1)
    found = data["tensors"]["torch@2.13"]
    assert (found["w"]["beyond"], found["b"]["beyond"], found["b"]["exact"]) == (2, 1, 1)
    assert data["not_read"] == {"Q8_0": ["q"]}


def test_memory_is_that_of_a_block(tmp_path: Path) -> None:
    """A sparse file of 32 MiB."""
    count = 1 << 23
    rows = {"w": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}}
    head = json.dumps(rows).encode()
    with open(tmp_path / "m.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        file.truncate(8 + len(head) + 4 * count)
    tracemalloc.start()
    try:
        assert main(["cast", str(tmp_path / "m.safetensors"), "--to", "float16"]) == 0
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


HEADERS = [
    ("no JSON", b"{]"),
    ("nested too deep", b"[" * 100_000),
    ("no JSON object", b"[1]"),
    ("no dtype, shape", b'{"w": 3}'),
    ("whole numbers", b'{"w": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}'),
    ("whole numbers", b'{"w": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}}'),
    ("do not go together", b'{"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}'),
    ("do not go together", b'{"w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}'),
    ("behind the end", b'{"w": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}'),
    ("names a tensor twice", b'{"w": {}, "w": {}}'),
    (
        "overlap",
        b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},'
        b' "b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}',
    ),
]


@pytest.mark.parametrize(("said", "header"), HEADERS)
def test_headers_that_lie(tmp_path: Path, capsys: Any, said: str, header: bytes) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    assert main(["cast", str(path), "--to", "float16"]) == 2
    assert said in capsys.readouterr().err


def test_damaged_files_are_errors(tmp_path: Path, capsys: Any) -> None:
    """Truncations, and every byte of the header changed: an answer or an error."""
    tensors = {"w": (0, (2, 3), WEIGHTS.tobytes()), "b": (1, (2,), bytes(4))}
    files = (
        ("m.gguf", Path(gguf(tmp_path / "a.gguf", tensors))),
        ("m.safetensors", Path(safetensors(tmp_path / "b.safetensors", {"w": ("F32", WEIGHTS)}))),
    )
    for name, source in files:
        whole, damaged = source.read_bytes(), tmp_path / name
        for size in range(0, len(whole), 7):
            damaged.write_bytes(whole[:size])
            status = main(["cast", str(damaged), "--to", "float16"])
            assert status == 2 or (status == 1 and name == "m.gguf")  # of which padding is missing
        for place in range(0, len(whole) - len(WEIGHTS.tobytes()), 3):
            value = bytes([whole[place] ^ (0xFF if place % 2 else 0x80)])
            damaged.write_bytes(whole[:place] + value + whole[place + 1 :])
            assert main(["cast", str(damaged), "--to", "float16"]) in (0, 1, 2, 4)
    capsys.readouterr()


def test_weights_in_several_files_are_read_by_their_index(tmp_path: Path, capsys: Any) -> None:
    for n, kept in enumerate((WEIGHTS, WEIGHTS[:, :1])):
        safetensors(tmp_path / f"part-{n}.safetensors", {f"w{n}": ("F32", kept)})
    index = tmp_path / "model.safetensors.index.json"

    def say(weight_map: Any) -> str:
        index.write_text(json.dumps({"weight_map": weight_map}))
        return str(index)

    path = say({"w0": "part-0.safetensors", "w1": "part-1.safetensors"})
    found = cast(path, "--to", "float8_e4m3fn", capsys=capsys, status=1)["tensors"]["torch@2.13"]
    assert {name: x["size"] for name, x in found.items()} == {"w0": 6, "w1": 2}
    for weight_map in ({"w9": "part-0.safetensors"}, {"w0": "../part-0.safetensors"}, [], {"w": 1}):
        assert main(["cast", say(weight_map), "--to", "float16"]) == 2
        assert capsys.readouterr().err.startswith("promoarray: ")


def test_what_is_written_has_the_floats_cast_and_all_else_as_it_was(
    tmp_path: Path, capsys: Any
) -> None:
    places = np.arange(3, dtype=np.int64)
    given = {"w": ("F32", WEIGHTS), "places": ("I64", places), "none": ("F32", WEIGHTS[:0])}
    path, out = safetensors(tmp_path / "m.safetensors", given), tmp_path / "out.safetensors"
    asked = "--to", "bfloat16", "--policies", "numpy", "--out"
    assert main(["cast", path, *asked, str(out)]) == 0
    (length,) = struct.unpack("<Q", out.read_bytes()[:8])
    header, data = json.loads(out.read_bytes()[8 : 8 + length]), out.read_bytes()[8 + length :]
    assert [header[name]["dtype"] for name in given] == ["BF16", "I64", "BF16"]
    want = pa.asarray(WEIGHTS).astype(pa.bfloat16)
    begin, end = header["w"]["data_offsets"]
    assert data[begin:end] == np.asarray(want._buffer).tobytes()
    begin, end = header["places"]["data_offsets"]
    assert data[begin:end] == places.tobytes()
    capsys.readouterr()
    for wrong in ([path, *asked, path], [path, "--to", "int4", "--out", str(out)]):
        before = out.read_bytes()
        assert main(["cast", *wrong]) == 2
        assert out.read_bytes() == before
