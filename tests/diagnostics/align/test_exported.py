"""``promoarray align`` of a program beside the ONNX file that it was exported to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from command import Command

onnx = pytest.importorskip("onnx")
pytest.importorskip("torch")
helper, T = onnx.helper, onnx.TensorProto

PROGRAM = """\
import torch
tokens = torch.arange(6).reshape(2, 3)
table = torch.rand(8, 4)
scale = torch.tensor(0.1, dtype=torch.float64)
keep = tokens > 2
h = table[tokens]
h = h * scale
h = h * keep[:, :, None]
best = h.sum(1).argmax(-1)
"""


def node(op: str, given: str, made: str, line: int, **options: Any) -> Any:
    """A node, with the line that the exporter leaves; of line 0 without."""
    found = helper.make_node(op, given.split(), [made], **options)
    if line:
        place = found.metadata_props.add()
        place.key, text = "pkg.torch.onnx.stack_trace", PROGRAM.splitlines()[line - 1]
        place.value = f'File "{os.path.abspath("net.py")}", line {line}, in forward\n    {text}'
    return found


def exported(change: str, *, lines: bool) -> None:
    """Write the file, with a change of a dtype, and other weights than a run draws."""
    at = int(lines)
    wide = T.FLOAT if change == "constant" else T.DOUBLE
    nodes = [
        node("Greater", "tokens two", "keep", 5 * at),
        *([node("Cast", "tokens", "index", 6 * at, to=T.INT32)] * (change == "index")),
        node("Gather", f"table {'index' if change == 'index' else 'tokens'}", "rows", 6 * at),
        *([node("Cast", "scale", "scale32", 7 * at, to=T.FLOAT)] * (change != "constant")),
        node("Mul", f"rows {'scale' if change == 'constant' else 'scale32'}", "scaled", 7 * at),
        node("Unsqueeze", "keep two", "column", 8 * at),
        node("Cast", "column", "factor", 8 * at, to=T.FLOAT),
        node("Mul", "scaled factor", "kept", 8 * at),
        node("ReduceSum", "kept one", "summed", 9 * at, keepdims=0),
        node("ArgMax", "summed", "best", 9 * at, axis=-1, keepdims=0),
        *([node("Cast", "keep", "mask", 5 * at, to=T.FLOAT)] * (change == "mask")),
    ]
    made = [helper.make_tensor_value_info("best", T.INT64, (2,))]
    if change == "mask":
        made.append(helper.make_tensor_value_info("mask", T.FLOAT, (2, 3)))
    fixed = [
        helper.make_tensor("two", T.INT64, [1], [2]),
        helper.make_tensor("one", T.INT64, [1], [1]),
        helper.make_tensor("scale", wide, [], [0.1]),
        helper.make_tensor("table", T.FLOAT, [8, 4], [n / 7 for n in range(32)]),
    ]
    given = [helper.make_tensor_value_info("tokens", T.INT64, ("batch", 3))]
    graph = helper.make_graph(nodes, "g", given, made, fixed)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, "net.onnx")


CONSTANT = "float64 in the program, float32 in the file: a constant that Mul reads"


@pytest.mark.parametrize(
    ("change", "lines", "line", "cause"),
    [
        ("", True, 0, ""),
        ("index", True, 6, "int64 in the program, int32 in the file: what Cast makes"),
        ("constant", True, 7, CONSTANT),
        ("constant", False, 7, CONSTANT),
        ("mask", True, 5, "bool in the program, float32 in the file: what Cast makes"),
    ],
)
def test_a_dtype_that_changed_on_export_is_told_with_the_program_s_line(
    change: str, lines: bool, line: int, cause: str, command: Command
) -> None:
    command.write(PROGRAM, "net.py")
    exported(change, lines=lines)
    data = command("align net.py net.onnx --json", status=int(bool(cause))).data
    assert [each["cause"] for each in data["differences"]] == [cause] * bool(cause)
    for each in data["differences"]:
        assert not lines or each["second"]["line"] == line
    assert data["not_paired"] == []


def test_a_file_stands_first_and_a_damaged_one_is_an_error(command: Command) -> None:
    command.write(PROGRAM, "net.py")
    exported("", lines=True)
    command("align net.onnx net.py", status=0)
    assert command("align net.onnx net.onnx --json", status=0).data["differences"] == []
    Path("cut.onnx").write_bytes(Path("net.onnx").read_bytes()[:200])
    said = command("align net.py cut.onnx", status=2).err
    assert "cut.onnx is no ONNX model, or a damaged one" in said
