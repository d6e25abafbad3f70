"""Files that stand for a program and are none: what is read, and what is refused."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from promoarray.cli import main

ARCHIVE = {
    "schema_version": {"major": 8, "minor": 20},
    "torch_version": "2.13.0",
    "graph_module": {
        "graph": {
            "inputs": [],
            "outputs": [],
            "nodes": [
                {
                    "target": "torch.ops.aten.mul.Tensor",
                    "inputs": [
                        {"name": "self", "arg": {"as_tensor": {"name": "n"}}, "kind": 1},
                        {"name": "other", "arg": {"as_float": 0.5}, "kind": 1},
                    ],
                    "outputs": [{"as_tensor": {"name": "y"}}],
                    "metadata": {
                        "stack_trace": 'File "model.py", line 9, in forward\n    y = n * 0.5'
                    },
                },
                {
                    "target": "torch.ops.aten.to.dtype",
                    "inputs": [
                        {"name": "self", "arg": {"as_tensor": {"name": "y"}}, "kind": 1},
                        {"name": "dtype", "arg": {"as_scalar_type": 2}, "kind": 1},
                    ],
                    "outputs": [{"as_tensor": {"name": "z"}}],
                    "metadata": {},
                },
            ],
            "tensor_values": {
                "n": {"dtype": 5, "sizes": [{"as_int": 4}]},
                "y": {"dtype": 7, "sizes": [{"as_int": 4}]},
                "z": {"dtype": 2, "sizes": [{"as_int": 4}]},
            },
        }
    },
}


class Trap:
    def __reduce__(self) -> Any:
        return (print, ("code of a file was run",))


def archive(path: Path, text: str | bytes, name: str = "m/models/model.json") -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, text)
        file.writestr("m/data/sample_inputs/model.pt", pickle.dumps(Trap()))
    return str(path)


def test_an_archive_of_torch_export(tmp_path: Path, capsys: Any) -> None:
    path = archive(tmp_path / "m.pt2", json.dumps(ARCHIVE))
    assert main(["compare", "--json", path, "--policies", "numpy@2,jax@x64,paddle@3.3"]) == 1
    report = json.loads(capsys.readouterr().out)
    found = {each["policy"]: each for each in report["findings"] if each["root"]}
    # int64 times a Python float is float64 in NumPy, as in JAX of 64 bits.
    assert found["numpy@2"]["answer"] == "float64"
    assert (Path(found["numpy@2"]["file"]).name, found["numpy@2"]["line"]) == ("model.py", 9)
    states = {each["policy"]: each["verdict"] for each in report["verdicts"]}
    assert states["numpy@2"] == "differs"
    assert any("has none" in note for note in report["notes"])


@pytest.mark.parametrize(
    ("target", "other", "outputs", "verdict"),
    [
        ("aten.mul.Tensor", {"as_sym_int": {"as_name": "s0"}}, ["z"], "incomplete"),
        ("aten.mul.Tensor", {"as_sym_int": {"as_int": 3}}, ["z"], "agrees"),
        ("mine.fill_.default", {"as_int": 3}, [], "incomplete"),
        ("aten._assert_tensor_metadata.default", {"as_int": 3}, [], "agrees"),
    ],
)
def test_what_is_known_of_an_archive(
    tmp_path: Path, capsys: Any, target: str, other: Any, outputs: list[str], verdict: str
) -> None:
    def node(target: str, other: Any, outputs: list[str]) -> Any:
        given = {"self": {"as_tensor": {"name": "n"}}, "other": other}
        inputs = [{"name": name, "arg": x, "kind": 1} for name, x in given.items()]
        made = [{"as_tensor": {"name": name}} for name in outputs]
        return {"target": f"torch.ops.{target}", "inputs": inputs, "outputs": made}

    kind = {"dtype": 4, "sizes": [{"as_int": 4}]}
    nodes = [node("aten.add.Tensor", {"as_int": 1}, ["y"]), node(target, other, outputs)]
    graph = {"nodes": nodes, "tensor_values": dict.fromkeys("nyz", kind)}
    path = archive(tmp_path / "m.pt2", json.dumps(ARCHIVE | {"graph_module": {"graph": graph}}))
    main(["compare", "--json", path, "--policies", "jax@x64"])
    (found,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert found["verdict"] == verdict


def test_check_of_an_archive_has_no_values_to_look_at(tmp_path: Path, capsys: Any) -> None:
    assert main(["check", archive(tmp_path / "m.pt2", json.dumps(ARCHIVE))]) == 3
    out, err = capsys.readouterr()
    assert "nothing was looked at" in out
    assert not err


def test_functions_that_a_framework_was_not_asked_for(tmp_path: Path, capsys: Any) -> None:
    node: Any = {"target": "torch.ops.aten.batch_norm.default", "metadata": {}}
    node |= {"inputs": [{"name": "input", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}]}
    node |= {"outputs": [{"as_tensor": {"name": "y"}}]}
    kind = {"dtype": 7, "sizes": [{"as_int": 4}]}
    graph = {"nodes": [node], "tensor_values": {"x": kind, "y": kind}}
    text = json.dumps(ARCHIVE | {"graph_module": {"graph": graph}})
    path = archive(tmp_path / "m.pt2", text)
    assert main(["compare", "--json", path, "--policies", "jax@x64"]) == 0
    (verdict,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert verdict["verdict"] == "incomplete"
    assert verdict["not_examined"][0]["what"] == "batch_norm"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("no JSON", "{"),
        ("nested too deep", "[" * 200_000),
        ("schema version", json.dumps(ARCHIVE | {"schema_version": {"major": 99, "minor": 0}})),
        ("not of a known form", json.dumps(ARCHIVE | {"graph_module": {"graph": 3}})),
        ("not of a known form", "3"),
    ],
)
def test_archives_that_are_damaged(tmp_path: Path, capsys: Any, said: str, text: str) -> None:
    assert main(["compare", archive(tmp_path / "m.pt2", text)]) == 2
    assert said in capsys.readouterr().err


def test_an_archive_that_swells(tmp_path: Path, capsys: Any) -> None:
    """What it holds is counted as it is read, and it is read no further than that."""
    path = archive(tmp_path / "m.pt2", b" " * (8 << 20))
    assert main(["compare", path]) == 2
    assert "which no such text is" in capsys.readouterr().err


def test_an_archive_cut_short(tmp_path: Path, capsys: Any) -> None:
    whole = Path(archive(tmp_path / "a.pt2", json.dumps(ARCHIVE))).read_bytes()
    (tmp_path / "m.pt2").write_bytes(whole[: len(whole) // 2])
    assert main(["compare", str(tmp_path / "m.pt2")]) == 2
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("m.bin", bytes(range(256)), "a format that is not known here"),
        ("m.pt", None, "pickles run code"),
        ("m.safetensors", b"\2\0\0\0\0\0\0\0{}", "a file of weights"),
        ("m.gguf", b"GGUF" + bytes(20), "a file of weights"),
        ("m.onnx", b"\x08\x0a\xff\xff\xff\xff", "no ONNX model, or a damaged one"),
        ("m.onnx", b"", "no nodes"),
    ],
)
def test_other_binary_files(
    tmp_path: Path, capsys: Any, name: str, data: bytes | None, said: str
) -> None:
    if name == "m.onnx":
        pytest.importorskip("onnx")
    if data is None:
        kept = io.BytesIO()
        with zipfile.ZipFile(kept, "w") as file:
            file.writestr("m/data.pkl", pickle.dumps(Trap()))
        data = kept.getvalue()
    (tmp_path / name).write_bytes(data)
    assert main(["compare", str(tmp_path / name)]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert "was run" not in out


@pytest.mark.parametrize(
    "command",
    [
        ["align", "m.bin", "m.bin"],
        ["why", "--framework", "torch", "m.bin"],
        ["diff", "--from", "numpy@1", "--to", "numpy@2", "m.bin"],
        ["port", "--to", "numpy@2", "m.bin"],
    ],
    ids=" ".join,
)
def test_a_binary_file_is_not_run(
    tmp_path: Path, capsys: Any, monkeypatch: Any, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.bin").write_bytes(bytes(range(256)))
    assert main(command) == 2
    assert "not known here; compare, check and align read" in capsys.readouterr().err
