"""The same casts by NumPy with ml_dtypes, by PyTorch and by onnxruntime, where they have them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.dtypes import DType

Cast = Callable[[], object]


def by_torch(source: DType, target: DType, x: np.ndarray[Any, Any]) -> Cast | None:
    """Cast by PyTorch, from its own tensor."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return None
    torch.set_num_threads(1)
    before, after = getattr(torch, source.name, None), getattr(torch, target.name, None)
    if before is None or after is None or min(source.bits, target.bits) < 8:
        return None
    part = source.part.storage.itemsize
    tensor = torch.from_numpy(x.view(f"u{part}"))
    tensor = tensor.view(getattr(torch, source.part.name)).view(before)
    try:
        tensor[:1].to(after)
    except (RuntimeError, NotImplementedError):
        return None
    return lambda: tensor.to(after)


def by_onnxruntime(source: DType, target: DType, x: np.ndarray[Any, Any]) -> Cast | None:
    """Cast by onnxruntime, a model of one node."""
    try:
        onnx, ort = importlib.import_module("onnx"), importlib.import_module("onnxruntime")
    except ImportError:
        return None
    names = {"FLOAT32": "FLOAT", "FLOAT64": "DOUBLE", "FLOAT8_E4M3FN": "FLOAT8E4M3FN"}
    names |= {f"FLOAT8_{n.upper()}": f"FLOAT8{n.upper()}" for n in ("e4m3fnuz", "e5m2", "e5m2fnuz")}
    kinds = [
        getattr(onnx.TensorProto, names.get(d.name.upper(), d.name.upper()), None)
        for d in (source, target)
    ]
    if None in kinds or min(source.bits, target.bits) < 8:
        return None
    node = onnx.helper.make_node("Cast", ["x"], ["y"], to=kinds[1])
    ends = [
        onnx.helper.make_tensor_value_info(n, k, [None]) for n, k in zip("xy", kinds, strict=True)
    ]
    graph = onnx.helper.make_graph([node], "cast", ends[:1], ends[1:])
    opset = onnx.helper.make_opsetid("", 21)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(model.SerializeToString(), options)
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(x.view(f"u{x.itemsize}"), kinds[0])
        session.run_with_ort_values(["y"], {"x": value})
    except Exception:  # whatever it raises, it has no such kernel
        return None
    return lambda: session.run_with_ort_values(["y"], {"x": value})


def by_astype(source: DType, target: DType, x: np.ndarray[Any, Any]) -> Cast | None:
    """Cast by ml_dtypes, or by NumPy where both types are NumPy's."""
    try:
        x[:1].astype(target.storage)
    except TypeError:
        return None
    return lambda: x.astype(target.storage)


OTHERS = {"astype": by_astype, "torch": by_torch, "onnxruntime": by_onnxruntime}
