"""Models of ONNX in a runtime on the CPU: `onnxruntime` or `openvino`, fed and read by their bits.

Graph optimizations are off. OpenVINO has no such switch; it is told to compute in float32 what is
float32 (``INFERENCE_PRECISION_HINT``), which it would make bfloat16 on some machines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np
from tables import CODES

NAMES = {code: name for name, code in CODES.items()}
TENSORS = {
    "f32": "FLOAT",
    "f64": "DOUBLE",
    "b1": "BOOL",
    "f4_e2m1fn": "FLOAT4E2M1",
    "f8_e8m0fnu": "FLOAT8E8M0",
}
FOUR_BITS = ("u4", "i4", "f4_e2m1fn")
FED_AS_BITS = frozenset(
    "bf16 f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz f8_e8m0fnu".split()  # noqa: SIM905
)
"""Types that onnxruntime takes no NumPy arrays of."""

Bits = Any
Given = Mapping[str, tuple[str, Bits]]
Infer = Callable[[Given, str], Bits]
Open = Callable[[bytes], Infer]
"""From a model to what it makes, as ``y`` of a type, of the inputs by name: (code, values)."""


def dtype_of(code: str) -> Any:
    """NumPy's or ml_dtypes' dtype of a code."""
    import ml_dtypes

    return np.dtype(getattr(ml_dtypes, NAMES[code], NAMES[code]))


def tensor(code: str) -> int:
    """The number of TensorProto.DataType."""
    from onnx import TensorProto

    name = TENSORS.get(code, NAMES[code].upper().replace("_", ""))
    return int(getattr(TensorProto, name))


def packed(values: Bits, code: str) -> Bits:
    """Values of 4 bits two a byte."""
    codes = np.append(values.ravel().view(np.uint8), np.zeros(values.size % 2, np.uint8))
    return codes[::2] & 15 | (codes[1::2] & 15) << 4


def unpacked(raw: bytes, code: str, count: int) -> Bits:
    """The codes of a buffer."""
    if code not in FOUR_BITS:
        return np.frombuffer(raw, dtype_of(code))[:count]
    both = np.frombuffer(raw, np.uint8)
    codes = np.stack([both & 15, both >> 4], -1).ravel()[:count]
    if code == "i4":
        return (codes.astype(np.int8) ^ 8) - 8
    return codes if code == "u4" else codes.view(dtype_of(code))


def onnxruntime() -> tuple[str, Open]:
    """ONNX Runtime, CPUExecutionProvider."""
    import ctypes

    import onnxruntime as ort

    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1

    def entered(code: str, values: Bits) -> Any:
        if code not in FED_AS_BITS:
            return ort.OrtValue.ortvalue_from_numpy(values)
        bits = values.view(f"u{values.dtype.itemsize}")
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, tensor(code))

    def opened(model: bytes) -> Infer:
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])

        def infer(given: Given, made: str) -> Bits:
            feeds = {name: entered(*each) for name, each in given.items()}
            out = session.run_with_ort_values(["y"], feeds)[0]
            raw = ctypes.string_at(out.data_ptr(), out.tensor_size_in_bytes())
            return unpacked(raw, made, prod(out.shape())).reshape(out.shape())

        return infer

    return f"onnxruntime {ort.__version__}, CPUExecutionProvider, optimizations off", opened


TYPES = {
    "f8_e4m3fn": "f8e4m3",
    "f8_e5m2": "f8e5m2",
    "f8_e8m0fnu": "f8e8m0",
    "b1": "boolean",
    "f4_e2m1fn": "f4e2m1",
}
"""Element types that OpenVINO spells otherwise."""


def openvino() -> tuple[str, Open]:
    """OpenVINO, the CPU device."""
    import openvino as ov

    core = ov.Core()
    asked = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}

    def entered(code: str, values: Bits) -> Any:
        kind = getattr(ov.Type, TYPES.get(code, code))
        bits = np.ascontiguousarray(values).reshape(values.shape)
        return ov.Tensor(bits.view(f"u{values.dtype.itemsize}"), ov.Shape(values.shape), kind)

    def opened(model: bytes) -> Infer:
        compiled = core.compile_model(core.read_model(model), "CPU", asked)

        def infer(given: Given, made: str) -> Bits:
            request = compiled.create_infer_request()
            request.infer({name: entered(*each) for name, each in given.items()})
            out = request.get_output_tensor(0)
            said, wanted = out.element_type.get_type_name(), TYPES.get(made, made)
            if said != wanted:
                raise TypeError(f"{said} for {wanted}")
            return unpacked(out.data.tobytes(), made, out.size).reshape(tuple(out.shape))

        return infer

    return f"openvino {ov.__version__.partition('-')[0]}, CPU, INFERENCE_PRECISION_HINT f32", opened
