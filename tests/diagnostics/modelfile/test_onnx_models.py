"""``promoarray compare`` and ``check`` of ONNX models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promoarray.cli import main
from promoarray.promotion.registry import as_policy

onnx = pytest.importorskip("onnx")
helper, T = onnx.helper, onnx.TensorProto


@pytest.fixture(autouse=True)
def _here(request: Any, monkeypatch: Any) -> None:
    """Read models in this process, which takes a tenth of the time."""
    from promoarray.diagnostics.modelfile import onnx_model, reading

    if "own_process" not in request.keywords:
        monkeypatch.setattr(reading, "_in_process", onnx_model.recorded)


def tensor(name: str, kind: int, *shape: int | str) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def written(path: Path, nodes: Any, given: Any, made: Any, fixed: Any = (), opset: int = 21) -> str:
    graph = helper.make_graph([*nodes], "g", [*given], [*made], [*fixed])
    imports = [helper.make_opsetid("", opset)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), path)
    return str(path)


def compared(*args: str, capsys: Any, status: int) -> Any:
    assert main(["compare", "--json", *args]) == status
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    """A conversion to float16 that left one float32 input (onnxconverter-common issue 331)."""
    bias = helper.make_tensor("bias", T.FLOAT, [2], [1.0, 2.0])
    node = helper.make_node("Add", ["x", "bias"], ["y"], name="add")
    x, y = tensor("x", T.FLOAT16, 2), tensor("y", T.FLOAT16, 2)
    return written(tmp_path / "mixed.onnx", [node], [x], [y], [bias], 17)


def test_two_float_dtypes_at_a_node(mixed: str, capsys: Any) -> None:
    report = compared(mixed, "--policies", "onnx@17", capsys=capsys, status=1)
    (finding,) = report["findings"]
    assert (finding["kind"], finding["policy"], finding["operands"]) == (
        *("refuse", "onnx@17"),
        ["float16", "float32"],
    )
    assert "the edge bias -> add (input 1) is float32" in report["notes"][0]
    assert "align PROGRAM mixed.onnx" in report["notes"][-1]


def test_the_mended_model_agrees(mixed: str, tmp_path: Path, capsys: Any) -> None:
    fixed = str(tmp_path / "fixed.onnx")
    compared(mixed, "--policies", "onnx@17", "--fix", fixed, capsys=capsys, status=1)
    report = compared(fixed, "--policies", "onnx@17", capsys=capsys, status=0)
    assert [each["verdict"] for each in report["verdicts"]] == ["agrees"]
    reference = pytest.importorskip("onnx.reference")
    session = reference.ReferenceEvaluator(fixed)
    (y,) = session.run(None, {"x": np.array([0.5, 1.5], np.float16)})
    assert y.dtype == np.float16
    assert y.tolist() == [1.5, 3.5]


def test_a_mended_model_inside_a_body(tmp_path: Path, capsys: Any) -> None:
    bias = helper.make_tensor("bias", T.FLOAT, [2], [1.0, 2.0])
    inner = helper.make_node("Mul", ["x", "bias"], ["z"], name="mul")
    body = helper.make_graph([inner], "b", [], [tensor("z", T.FLOAT16, 2)], [bias])
    other = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["w"])], "o", [], [tensor("w", T.FLOAT16, 2)]
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=other)
    given = tensor("c", T.BOOL), tensor("x", T.FLOAT16, 2)
    path = written(tmp_path / "body.onnx", [node], given, [tensor("y", T.FLOAT16, 2)])
    fixed = str(tmp_path / "fixed.onnx")
    compared(path, "--policies", "onnx@21", "--fix", fixed, capsys=capsys, status=1)
    compared(fixed, "--policies", "onnx@21", capsys=capsys, status=0)


def test_a_declaration_that_a_converter_left(tmp_path: Path, capsys: Any) -> None:
    """onnxconverter-common declares every value as float16, and leaves Cast to float32 and what
    follows from it: ``onnxruntime`` refuses the first as it loads. An epsilon follows its sum."""
    nodes = [
        helper.make_node("Cast", ["x"], ["wide"], to=T.FLOAT, name="widen"),
        helper.make_node("Add", ["wide", "eps"], ["sum"], name="sum"),
        helper.make_node("Mul", ["weight", "sum"], ["y"], name="scale"),
    ]
    fixed = [
        helper.make_tensor("eps", T.FLOAT16, [], np.array(0.5, np.float16).tobytes(), raw=True),
        helper.make_tensor("weight", T.FLOAT16, [2], np.ones(2, np.float16).tobytes(), raw=True),
    ]
    graph = helper.make_graph(
        *(nodes, "g", [tensor("x", T.FLOAT16, 2)], [tensor("y", T.FLOAT16, 2)], fixed),
        value_info=[tensor("wide", T.FLOAT16, 2), tensor("sum", T.FLOAT16, 2)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    fix = str(tmp_path / "fixed.onnx")
    path = str(tmp_path / "m.onnx")
    report = compared(path, "--policies", "onnx@17", "--fix", fix, capsys=capsys, status=1)
    said = {each["line"]: each["reason"] for each in report["findings"]}
    assert "declared as float16, and Cast makes float32" in said[1]
    assert {1, 2, 3} == {*said}
    compared(fix, "--policies", "onnx@17", capsys=capsys, status=0)
    casts = [node for node in onnx.load(fix).graph.node if node.op_type == "Cast"]
    assert [node.input[0] for node in casts] == ["x", "eps", "sum"]


def test_nothing_is_written_where_nothing_is_mended(tmp_path: Path, capsys: Any) -> None:
    x, y = tensor("x", T.FLOAT, 2), tensor("y", T.FLOAT, 2)
    path = written(tmp_path / "m.onnx", [helper.make_node("Exp", ["x"], ["y"])], [x], [y])
    fixed = tmp_path / "fixed.onnx"
    fixed.write_text("as it was")
    assert main(["compare", path, "--fix", str(fixed)]) == 2
    assert fixed.read_text() == "as it was"
    assert "lacks no cast" in capsys.readouterr().err


@pytest.fixture
def casts(tmp_path: Path) -> list[str]:
    nodes = [
        helper.make_node("Cast", ["x"], ["a"], to=T.FLOAT8E4M3FNUZ, name="to_fp8"),
        helper.make_node("Cast", ["x"], ["b"], to=T.INT8, name="to_int8"),
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], name="quantize"),
        helper.make_node("Add", ["b", "b"], ["s"], name="wraps"),
        helper.make_node("Mul", ["n", "big"], ["m"], name="beyond"),
    ]
    fixed = [
        helper.make_tensor("scale", T.FLOAT, [], [1.0]),
        helper.make_tensor("zero", T.UINT8, [], [3]),
        helper.make_tensor("big", T.INT64, [], [3_000_000_000]),
    ]
    kinds = T.FLOAT8E4M3FNUZ, T.INT8, T.UINT8, T.INT8
    made = [tensor(name, kind, 5) for name, kind in zip("abqs", kinds, strict=True)]
    given = tensor("x", T.FLOAT, 5), tensor("n", T.INT64, 2)
    made += [tensor("m", T.INT64, 2)]
    path = written(tmp_path / "casts.onnx", nodes, given, made, fixed)
    inputs = str(tmp_path / "inputs.npz")
    x = np.array([np.inf, np.nan, 300, 100.5, 2.5], np.float32)
    np.savez(inputs, x=x, n=np.array([1, 2]))
    return [path, "--inputs", inputs]


def test_values_of_casts_by_opset_and_runtime(casts: list[str], capsys: Any) -> None:
    others = "onnx@25,jax@x64,torch@2.13,onnx@21+infinity-to-fnuz-saturates"
    report = compared(*casts, "--policies", f"onnx@21,{others}", capsys=capsys, status=1)
    found = {
        (each["policy"], each["operation"], each["line"]): each["reason"]
        for each in report["findings"]
        if each["kind"] == "bits"
    }
    # Inf to the FNUZ types is NaN up to opset 23 and the largest value from 24 on; onnxruntime's is
    # the largest in every opset. PyTorch does not saturate there.
    assert "240.0 and not nan" in found["onnx@25", "astype", 1]
    assert "240.0 and not nan" in found["onnx@21+infinity-to-fnuz-saturates", "astype", 1]
    assert "nan and not 240.0" in found["torch@2.13", "astype", 1]
    assert "127 and not 0" in found["jax@x64", "astype", 2]  # JAX saturates
    assert ("torch@2.13", "QuantizeLinear", 3) in found  # of NaN
    assert ("onnx@25", "astype", 2) not in found
    assert not {name for name, *_ in found} & {"onnx@21"}
    said = " ".join(report["notes"])
    assert "int64 values beyond int32" in said
    assert "big (casts.onnx:5)" in said
    lost = "\n".join(report["losses"])
    assert "integer-wrap" in lost
    assert "200" in lost


def test_check_of_a_model(casts: list[str], capsys: Any) -> None:
    assert main(["check", "--json", *casts]) == 1
    report = json.loads(capsys.readouterr().out)
    found = {(each["kind"], each["line"]) for each in report["losses"]}
    assert found == {
        *(("cast-out-of-range", 1), ("cast-out-of-range", 2)),
        ("cast-out-of-range", 3),  # of NaN: what saturates in QuantizeLinear is meant to
        ("integer-wrap", 4),
    }
    (quantized,) = (each["words"] for each in report["losses"] if each["line"] == 3)
    assert quantized.startswith("1 of 5 values is out of range: nan becomes 0, first at [1]")
    assert report["examined"] == 5


def test_operators_that_an_opset_lacks(tmp_path: Path, capsys: Any) -> None:
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g"], ["n"], name="norm"),
        helper.make_node("Gelu", ["n"], ["y"], name="gelu"),
    ]
    fixed = [helper.make_tensor("g", T.FLOAT, [4], [1.0] * 4)]
    x, y = tensor("x", T.FLOAT, "batch", 4), tensor("y", T.FLOAT, "batch", 4)
    path = written(tmp_path / "ops.onnx", nodes, [x], [y], fixed)
    report = compared(path, "--policies", "onnx@16,onnx@17,onnx@20", capsys=capsys, status=1)
    refused = {(each["policy"], each["operation"]) for each in report["findings"]}
    assert refused == {
        *(("onnx@16", "LayerNormalization"), ("onnx@16", "Gelu")),
        ("onnx@17", "Gelu"),
    }
    assert "where a size is not fixed it is 2" in " ".join(report["notes"])


def test_other_policies_leave_operators_of_onnx_open(tmp_path: Path, capsys: Any) -> None:
    x, y = tensor("x", T.FLOAT, 2, 2), tensor("y", T.FLOAT, 2, 2)
    path = written(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"])], [x], [y])
    report = compared(path, "--policies", "torch,onnx@25", capsys=capsys, status=0)
    found = {each["policy"]: each["verdict"] for each in report["verdicts"]}
    assert found == {"torch@2.13": "incomplete", "onnx@25": "agrees"}


def test_another_domain_is_named_and_not_examined(tmp_path: Path, capsys: Any) -> None:
    nodes = [
        helper.make_node("Fused", ["x"], ["z"], domain="com.example"),
        helper.make_node("Exp", ["z"], ["y"]),
    ]
    info = [tensor("z", T.FLOAT, 2)]
    graph = helper.make_graph(
        nodes, "g", [tensor("x", T.FLOAT, 2)], [tensor("y", T.FLOAT, 2)], value_info=info
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.example", 3)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), tmp_path / "m.onnx")
    report = compared(str(tmp_path / "m.onnx"), "--policies", "onnx@25", capsys=capsys, status=0)
    (verdict,) = report["verdicts"]
    assert verdict["verdict"] == "incomplete"
    assert [each["what"] for each in verdict["not_examined"]] == ["com.example.Fused"]


def test_casts_that_were_not_computed_leave_the_verdict_open(casts: list[str], capsys: Any) -> None:
    report = compared(casts[0], "--dtypes-only", "--policies", "onnx@25", capsys=capsys, status=0)
    (verdict,) = report["verdicts"]
    assert verdict["verdict"] == "incomplete"


def test_bodies_functions_and_the_exporters_lines(tmp_path: Path, capsys: Any) -> None:
    """A loop's body is looked at in every pass; a node has the line that it was exported from."""
    inner = helper.make_node("Mul", ["acc", "acc"], ["next"], name="square")
    inner.metadata_props.add(
        key="pkg.torch.onnx.stack_trace",
        value='File "model.py", line 7, in forward\n    acc = acc * acc',
    )
    keep = helper.make_node("Identity", ["going"], ["more"])
    body = helper.make_graph(
        [inner, keep],
        "body",
        [tensor("i", T.INT64), tensor("going", T.BOOL), tensor("acc", T.INT8, 2)],
        [tensor("more", T.BOOL), tensor("next", T.INT8, 2)],
    )
    fixed = [
        helper.make_tensor("times", T.INT64, [], [3]),
        helper.make_tensor("start", T.INT8, [2], [2, 3]),
        helper.make_tensor("on", T.BOOL, [], [1]),
    ]
    node = helper.make_node("Loop", ["times", "on", "start"], ["y"], body=body, name="loop")
    path = written(tmp_path / "loop.onnx", [node], [], [tensor("y", T.INT8, 2)], fixed)
    assert main(["check", "--json", path]) == 1
    report = json.loads(capsys.readouterr().out)
    (loss,) = report["losses"]
    assert (loss["kind"], loss["line"], Path(loss["file"]).name) == ("integer-wrap", 7, "model.py")
    assert (loss["passes"], loss["of_passes"]) == (1, 3)  # 3 ** 8 is the first beyond int8


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"x": np.zeros(5, np.float32)}, "the model's inputs are x, n"),
        ({"x": np.zeros(5), "n": np.zeros(2, np.int64)}, "x is float64[5], and the model takes"),
        ({"x": np.zeros(4, np.float32), "n": np.zeros(2, np.int64)}, "float32[4]"),
    ],
)
def test_inputs_that_do_not_fit(
    casts: list[str], tmp_path: Path, capsys: Any, arrays: Any, said: str
) -> None:
    np.savez(tmp_path / "other.npz", **arrays)
    assert main(["compare", casts[0], "--inputs", str(tmp_path / "other.npz")]) == 2
    assert said in capsys.readouterr().err


def test_operators_that_the_evaluator_computes_otherwise(tmp_path: Path) -> None:
    """As onnxruntime computes them, and onnx 1.23.2 does not."""
    from promoarray.diagnostics.modelfile import graph
    from promoarray.diagnostics.modelfile.values import Evaluation

    nodes = [
        helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["n"], momentum=0.9),
        helper.make_node("GlobalMaxPool", ["x"], ["p"]),
        helper.make_node("GatherElements", ["x", "i"], ["g"], axis=2),
    ]
    numbers = {"s": 2.0, "b": 1.0, "m": 0.5, "v": 4.0}
    fixed = [helper.make_tensor(name, T.FLOAT, [2], [n] * 2) for name, n in numbers.items()]
    fixed.append(helper.make_tensor("i", T.INT64, [1, 2, 1], [2, -1]))
    made = [
        tensor("n", T.FLOAT, 1, 2, 3),
        tensor("p", T.FLOAT, 1, 2, 1),
        tensor("g", T.FLOAT, 1, 2, 1),
    ]
    path = written(tmp_path / "m.onnx", nodes, [tensor("x", T.FLOAT, 1, 2, 3)], made, fixed, 13)
    seen: dict[str, Any] = {}
    run = Evaluation(graph.read(path), lambda n, _, y: seen.update({n.outputs[0]: y[0]}), 60)
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    run.run({"x": x})
    assert not run.failed
    np.testing.assert_allclose(seen["n"], (x - 0.5) + 1, rtol=1e-5)
    assert seen["p"].tolist() == [[[2.0], [5.0]]]
    assert seen["g"].tolist() == [[[2.0], [5.0]]]


# -- every operator -------------------------------------------------------------------------------


def kind_of(spelled: str) -> int | None:
    name = spelled.removeprefix("tensor(").removesuffix(")").upper()
    return getattr(T, name, None) if spelled.startswith("tensor(") else None


def types_of(schema: Any, first: int) -> list[int] | None:
    """Types of the inputs of which the first is of one."""
    formals = [
        schema.inputs[min(n, len(schema.inputs) - 1)] for n in range(max(schema.min_input, 1))
    ]
    found = []
    for formal in formals:
        if formal.type_str == formals[0].type_str:
            found.append(first)
        else:
            found += [k for each in sorted(formal.types) if (k := kind_of(each)) is not None][:1]
    return found if len(found) == len(formals) else None


@pytest.mark.parametrize("opset", [13, 25])
def test_every_type_that_a_schema_admits_is_admitted(opset: int) -> None:
    """A node of every operator, with every type of its first input, in the own edition."""
    from promoarray.diagnostics.modelfile import graph
    from promoarray.diagnostics.modelfile.recording import Recorder, home_of
    from promoarray.diagnostics.modelfile.report import ModelReport
    from promoarray.diagnostics.record.checks import Asked

    policies = (as_policy(f"onnx@{opset}"),)
    refused, count = [], 0
    for name in sorted({each.name for each in onnx.defs.get_all_schemas() if not each.domain}):
        schema = graph.schema_of(name, "", opset)
        for spelled in sorted(schema.inputs[0].types if schema and schema.inputs else ()):
            first = kind_of(spelled)
            types = None if first is None else types_of(schema, first)
            if types is None:
                continue
            inputs = [f"x{n}" for n in range(len(types))]
            node = helper.make_node(name, inputs, ["y"])
            own = {"Cast": ("to", T.FLOAT), "Mod": ("fmod", 1)}.get(name)
            node.attribute.extend([helper.make_attribute(*own)] if own else [])
            given = [tensor(x, kind, 2, 2) for x, kind in zip(inputs, types, strict=True)]
            made = helper.make_model(
                helper.make_graph([node], "g", given, []),
                opset_imports=[helper.make_opsetid("", opset)],
            )
            model = graph.model_of(made, "model.onnx")
            report = ModelReport(home_of(model), policies, framework="onnx")
            report.flows = [Recorder(model, policies, Asked()).found.flow]
            count += 1
            refused += [f"{name} {spelled}" for each in report.divergences if each.differs]
    assert not refused
    assert count > 900


def test_a_result_without_a_shape(tmp_path: Path, capsys: Any) -> None:
    """Runtimes take it, though ``onnx.checker`` does not."""
    out = helper.make_tensor_value_info("y", T.FLOAT, None)
    path = written(
        tmp_path / "m.onnx",
        [helper.make_node("Exp", ["x"], ["y"])],
        [tensor("x", T.FLOAT, 2)],
        [out],
    )
    assert compared(path, "--policies", "onnx@21", capsys=capsys, status=0)["operations"] == 1
