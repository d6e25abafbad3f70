"""ONNX models that are damaged, or made to do harm: an error, and nothing else."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promoarray.cli import main
from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.file_format import ONNX, NotReadable
from promoarray.diagnostics.modelfile.question import Question

onnx = pytest.importorskip("onnx")
helper, T = onnx.helper, onnx.TensorProto


def model(nodes: Any, fixed: Any = (), shape: Any = ("n",)) -> Any:
    out = [helper.make_tensor_value_info("y", T.FLOAT, shape)]
    graph = helper.make_graph([*nodes], "g", [], out, [*fixed])
    imports = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def asked(path: Path, proto: Any, **how: Any) -> Any:
    from promoarray.diagnostics.modelfile.onnx_model import recorded

    path.write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString())
    return recorded(Question(str(path), ONNX, None, **how))


EXP = helper.make_node("Exp", ["w"], ["y"])


def external(location: str, **more: str) -> Any:
    tensor = T(name="w", data_type=T.FLOAT, dims=[1], data_location=T.EXTERNAL)
    for key, value in {"location": location, **more}.items():
        tensor.external_data.add(key=key, value=value)
    return tensor


@pytest.mark.parametrize(
    "tensor",
    [
        external("../secret.bin"),
        external("/etc/hostname"),
        external("link.bin"),
        external("w.bin", offset="-4"),
        external("w.bin", offset="99999999999"),
        external("w.bin", length="9999999999999"),
        T(name="w", data_type=T.FLOAT, dims=[-1], raw_data=bytes(4)),
        T(name="w", data_type=T.FLOAT, dims=[1 << 40, 1 << 40]),
        T(name="w", data_type=T.FLOAT, dims=[1 << 62], raw_data=bytes(4)),
        T(name="w", data_type=99, dims=[1], raw_data=bytes(4)),
    ],
    ids=str,
)
def test_tensors_that_lie(tmp_path: Path, tensor: Any) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(4))
    (folder / "w.bin").write_bytes(bytes(4))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(NotReadable):
        asked(folder / "m.onnx", model([EXP], [tensor]))


def test_data_beside_the_model(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(np.array([200.0], np.float32).tobytes())
    found = asked(tmp_path / "m.onnx", model([EXP], [external("w.bin")])).recorded
    assert [each.kind for each in found.lost] == ["overflow"]


def whole(name: str, *values: int) -> Any:
    return helper.make_tensor(name, T.INT64, [len(values)] if len(values) > 1 else [], values)


def test_a_value_larger_than_memory(tmp_path: Path) -> None:
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["y"])]
    found = asked(tmp_path / "m.onnx", model(nodes, [whole("s", 1 << 30, 1 << 30)], "nm")).recorded
    assert found.checked == 0
    assert found.unread


def test_a_loop_without_end(tmp_path: Path, monkeypatch: Any) -> None:
    from promoarray.diagnostics.modelfile import onnx_model

    monkeypatch.setattr(onnx_model, "SECONDS", 0.5)
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["on"], ["more"]), helper.make_node("Exp", ["a"], ["b"])],
        "body",
        [info("i", T.INT64, []), info("on", T.BOOL, []), info("a", T.FLOAT, [])],
        [info("more", T.BOOL, []), info("b", T.FLOAT, [])],
    )
    loop = helper.make_node("Loop", ["times", "go", "start"], ["y"], body=body)
    fixed = [
        whole("times", (1 << 63) - 1),
        helper.make_tensor("go", T.BOOL, [], [1]),
        helper.make_tensor("start", T.FLOAT, [], [0.0]),
    ]
    found = asked(tmp_path / "m.onnx", model([loop], fixed, ())).recorded
    assert "no further node was computed" in found.notes[0]


def message(number: int, payload: bytes) -> bytes:
    """A field of Protocol Buffers that is a message, or a text."""
    size, head = len(payload), bytes([number << 3 | 2])
    while size > 127:
        head, size = head + bytes([size & 127 | 128]), size >> 7
    return head + bytes([size]) + payload


def test_bodies_in_bodies(tmp_path: Path) -> None:
    graph = message(1, message(4, b"Exp"))
    for _ in range(5000):
        attribute = message(1, b"then_branch") + message(6, graph) + b"\xa0\x01\x05"
        graph = message(1, message(4, b"If") + message(5, attribute))
    data = b"\x08\x0a" + message(7, graph) + message(8, b"\x10\x15")
    with pytest.raises(NotReadable):
        asked(tmp_path / "m.onnx", data)


def test_a_process_that_is_killed(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    """Whatever ends the process that reads a model, the command says so."""
    from promoarray.diagnostics.modelfile import reading

    monkeypatch.setattr(reading, "_START", "import os; os.abort()")
    path = tmp_path / "m.onnx"
    path.write_bytes(
        model([EXP], [helper.make_tensor("w", T.FLOAT, [1], [1.0])]).SerializeToString()
    )
    assert main(["compare", str(path)]) == 2
    assert "cannot be read: the process ended with status" in capsys.readouterr().err


def test_changed_bytes_and_cut_files(tmp_path: Path) -> None:
    """An answer or an error, of whatever a model is made."""
    cast = helper.make_node("Cast", ["w"], ["c"], to=T.FLOAT8E4M3FN, name="to_fp8")
    back = helper.make_node("Cast", ["c"], ["y"], to=T.FLOAT, name="back")
    back.metadata_props.add(
        key="pkg.torch.onnx.stack_trace", value='File "a.py", line 3, in f\n  x'
    )
    tensor = helper.make_tensor("w", T.FLOAT, [2], [1.0, 500.0])
    data = model([cast, back], [tensor]).SerializeToString()
    draw, read = random.Random(0), 0
    for _ in range(300):
        damaged = bytearray(data if draw.random() < 0.8 else data[: draw.randrange(len(data))])
        for _ in range(draw.choice([1, 1, 2, 5])):
            if damaged:
                damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            asked(tmp_path / "m.onnx", bytes(damaged))
            read += 1
        except (NotReadable, UsageError):
            pass
    assert 0 < read < 300
