"""Ask onnx.reference and onnxruntime what Cast makes of strings, and writes: golden/strings.json.

    python conformance/oracles/onnx_strings.py conformance/golden/strings.json

Each case is asked alone, at opset 25: an answer, "error" if it raises, "-" if there is no such
cast. The texts and numbers asked are those of the file that is there.
"""

from __future__ import annotations

import json
import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

# The scripts here are named after frameworks, which their folder must not hide.
HERE = Path(__file__).resolve().parent
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != HERE]
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

OPSET = 25
NAMES = {
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "float8_e8m0fnu": "FLOAT8E8M0",
    "float4_e2m1fn": "FLOAT4E2M1",
}
"""Element types that ONNX spells otherwise."""

NO_SUCH_CAST = ("Issues with types", "NOT_IMPLEMENTED")


def storage(name: str) -> Any:
    return np.dtype(getattr(ml_dtypes, name, name))


def element(name: str) -> int:
    spelled = NAMES.get(name, name.replace("float8_", "float8").upper())
    return getattr(TensorProto, spelled)


def model(*types: str) -> onnx.ModelProto:
    """Casts from each type to the next."""
    names = [f"x{i}" for i in range(len(types))]
    nodes = [
        helper.make_node("Cast", [a], [b], to=element(to), **_keeping(source, to))
        for a, b, source, to in zip(names, names[1:], types, types[1:], strict=False)
    ]
    ends = [
        helper.make_tensor_value_info(n, element(t), ["n"])
        for n, t in ((names[0], types[0]), (names[-1], types[-1]))
    ]
    graph = helper.make_graph(nodes, "cast", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=13)


def _keeping(source: str, target: str) -> dict[str, int]:
    """The option that leaves infinities what they are on the way to a float8 that is asked."""
    return {"saturate": 0} if source == "float32" and target.startswith("float8") else {}


def by_reference(values: Any, source: str, target: str) -> Any:
    return ReferenceEvaluator(model(source, target)).run(None, {"x0": values})[0]


@cache
def session(*types: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    serialized = model(*types).SerializeToString()
    return onnxruntime.InferenceSession(serialized, options, providers=["CPUExecutionProvider"])


def by_onnxruntime(values: Any, source: str, target: str) -> Any:
    """Through float32 where NumPy has no name for the type, which loses nothing of a narrow one."""
    if source == "string":
        narrow = np.dtype(storage(target)).isbuiltin != 1
        types = (source, target, "float32") if narrow else (source, target)
        return session(*types).run(None, {"x0": values.astype(object)})[0]
    if values.dtype.isbuiltin == 1:
        return session(source, target).run(None, {"x0": values})[0]
    types = ("float32", source, target)
    return session(*types).run(None, {"x0": values.astype(np.float32)})[0]


def plain(value: Any, target: str) -> Any:
    if target == "string":
        return str(value)
    if target == "bool":
        return bool(value)
    if "int" in target:
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else str(number)


def ask(values: Any, source: str, target: str) -> list[Any]:
    answers = []
    for by in (by_reference, by_onnxruntime):
        try:
            answers.append(plain(np.asarray(by(values, source, target)).ravel()[0], target))
        except Exception as error:
            answers.append("-" if any(why in str(error) for why in NO_SUCH_CAST) else "error")
    return answers


def number(text: str, name: str) -> Any:
    if name == "bool":
        return np.array([text == "True"])
    wide = int(text) if "int" in name else float(text)
    return np.array([wide]).astype(storage(name))


def main(path: Path) -> None:
    asked = json.loads(path.read_text(encoding="utf-8"))
    types = list(next(iter(asked["read"].values())))
    read = {
        text: {name: ask(np.array([text]), "string", name) for name in types}
        for text in asked["read"]
    }
    written = {
        name: {text: ask(number(text, name), name, "string") for text in rows}
        for name, rows in asked["written"].items()
    }
    versions = {m.__name__: m.__version__ for m in (onnx, onnxruntime, np)} | {"opset": OPSET}
    lines = [f' "about": {json.dumps(asked["about"])}', f' "meta": {json.dumps(versions)}']
    for key, rows in (("read", read), ("written", written)):
        cells = [
            f"  {json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in rows.items()
        ]
        lines.append(f' "{key}": {{\n' + ",\n".join(cells) + "\n }")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
