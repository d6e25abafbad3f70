"""Hold what promoarray says of ONNX models against what onnxruntime does with them.

Run: python conformance/model_files.py MODEL.onnx ...

Each model, and what onnxconverter-common makes of it in float16, is loaded and run by onnxruntime
on the inputs that ``promoarray compare`` makes; the results of its casts and its outputs are
compared with the values that promoarray looked at. A model that onnxruntime refuses for its types
has to lack a cast by ``compare``, and no other; the mended one has to load. Needs onnxruntime and
onnxconverter-common. The table in docs/evidence.md is its output.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnxconverter_common import float16

from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.file_format import ONNX, NotReadable
from promoarray.diagnostics.modelfile import graph
from promoarray.diagnostics.modelfile.mend import missing, write_mended
from promoarray.diagnostics.modelfile.onnx_model import SIZES
from promoarray.diagnostics.modelfile.question import Question
from promoarray.diagnostics.modelfile.reading import report_of
from promoarray.diagnostics.modelfile.values import Evaluation, made_inputs

onnxruntime.set_default_logger_severity(4)
LOOKED_AT = ("Cast", "QuantizeLinear", "DequantizeLinear")


def session(proto: Any) -> Any:
    """Load a model as it is, with no rewriting; return the error where it does not load."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    data = proto.SerializeToString()
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return error


def values(path: str) -> tuple[str, str]:
    """Say how the values of casts and outputs differ that both computed."""
    model = graph.read(path)
    seen: dict[str, Any] = {}

    def tell(node: Any, _: Any, outputs: Any) -> None:
        if node.depth == 0:
            seen.update(zip(node.outputs, outputs, strict=False))

    for size in SIZES:
        feeds, run = made_inputs(model, size), Evaluation(model, tell, 120)
        if feeds is None:
            return "", "no inputs"
        run.run(feeds)
        if not (run.failed or run.empty):
            break
    proto = onnx.ModelProto()
    proto.CopyFrom(model.proto)
    looked_at = (n for n in model.nodes if n.op in LOOKED_AT and not n.depth)
    changed = (n for n in looked_at if n.dtypes(n.inputs[:1]) != n.dtypes(n.outputs[:1]))
    names = [x for n in changed for x in n.outputs]
    known = {each.name for each in proto.graph.output}
    wanted = [*known, *(x for x in dict.fromkeys(names) if x not in known and x in seen)]
    proto.graph.output.extend(onnx.ValueInfoProto(name=x) for x in wanted if x not in known)
    loaded = session(proto)
    if isinstance(loaded, Exception):
        return "", "not loaded"
    wanted = [x for x in wanted if isinstance(seen.get(x), np.ndarray)]
    if not wanted:
        return "0 of 0", "0"
    try:
        got = dict(zip(wanted, loaded.run(wanted, feeds), strict=True))
    except Exception:  # of inputs that do not fit together, which the evaluator stops at, too
        return "", "not run"
    equal = sum(np.array_equal(seen[x], got[x], equal_nan=True) for x in names if x in got)
    far = [_apart(seen[x], got[x]) for x in wanted if x in known]
    return f"{equal} of {sum(x in got for x in names)}", f"{max(far, default=0):.1e}"


def _apart(a: Any, b: Any) -> float:
    if a.shape != b.shape or a.dtype != b.dtype:
        return float("inf")
    if a.dtype.kind not in "fc" or not a.size:
        return float(not np.array_equal(a, b))
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(np.nanmax(np.abs(a - b), initial=0) / (np.nanmax(np.abs(a), initial=0) or 1))


def row(path: str, name: str) -> None:
    """Print what is said of a model, and what onnxruntime does."""
    try:
        report = report_of(Question(path, ONNX, None))
    except (NotReadable, UsageError) as error:
        print(f"| {name} | {str(error)[:90]} |", flush=True)
        return
    model = graph.read(path)
    edges: list[Any] = [*missing(model), *(n for n in model.nodes if n.contradicted)]
    loaded = session(model.proto)
    said = type(loaded).__name__ if isinstance(loaded, Exception) else "loads"
    after = ""
    if edges:
        target = Path(path).parent / ".mended.onnx"
        try:
            write_mended(model, str(target))
            mended = session(onnx.load(target))
            after = f"; mended: {'loads' if not isinstance(mended, Exception) else mended}"
            target.unlink()
        except NotReadable as error:
            after = f"; not mended: {str(error)[:60]}"
    casts, far = values(path)
    nodes, left = len(model.nodes), len(report.unread)
    kinds = sorted({each.kind for each in report.lost})
    print(
        f"| {name} | {model.opset} | {nodes} | {nodes - left} | {', '.join(kinds) or '-'} "
        f"| {len(edges)} | {said}{after} | {casts} | {far} |",
        flush=True,
    )


def attempt(path: str, name: str) -> None:
    """Print a row, or what stopped it."""
    try:
        row(path, name)
    except Exception as error:
        print(f"| {name} | {type(error).__name__}: {str(error)[:120]} |", flush=True)


def main(paths: list[str]) -> None:
    """Print a row for every model, and for its conversion."""
    print("| model | opset | nodes | computed | lost | casts lacking | onnxruntime | casts equal |")
    for path in paths:
        attempt(path, Path(path).stem)
        try:
            made = float16.convert_float_to_float16(onnx.load(path))
        except Exception as error:
            print(f"| {Path(path).stem}, float16 | not converted: {type(error).__name__} |")
            continue
        target = Path(path).with_suffix(".fp16.tmp")
        onnx.save(made, target)
        attempt(str(target), f"{Path(path).stem}, float16")
        target.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
