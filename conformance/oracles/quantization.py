"""Ask frameworks to quantize (``conformance/quantization.py``): ``golden/quantization/NAME.txt``.

    python conformance/oracles/quantization.py torch|onnxruntime|onnx_reference|tensorflow

in an environment of the framework that also has promoarray. A line is a case and the codes of its
answer, little-endian; ``-`` where the framework has no kernel.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

sys.path[:] = [str(Path(__file__).resolve().parent.parent), *sys.path[1:]]

import numpy as np  # noqa: E402
import quantization  # noqa: E402
from quantization import Case, codes  # noqa: E402

from promoarray.promotion.scalars import bounds  # noqa: E402


def torch(case: Case) -> Any:
    import torch

    def tensor(values: Any, dtype: Any) -> Any:
        return torch.from_numpy(np.array(values)).to(getattr(torch, dtype.name))

    x, scale = tensor(case.x, case.source), case.scale
    zero = np.zeros_like(scale, np.int64) if case.zero_point is None else case.zero_point
    along = case.axis is not None
    if along:
        scale, zero = torch.tensor(scale, dtype=torch.float32), torch.tensor(zero)
        at = (scale, zero, case.axis)
    else:
        at = (float(scale), int(zero))
    kind = {"i8": torch.qint8, "u8": torch.quint8, "i32": torch.qint32}
    if case.function == "dynamic_quantize":
        observer = torch.ao.quantization.MinMaxObserver(dtype=kind[case.target.code])
        observer(x)
        scale, zero = observer.calculate_qparams()
        q = torch.quantize_per_tensor(x, scale, zero, kind[case.target.code]).int_repr()
        zero = zero.to(q.dtype)
        return quantization.together(q.numpy(), scale.float().numpy(), zero.numpy())
    if case.function == "fake_quantize":
        name = "per_channel" if along else "per_tensor"
        at = (scale, zero.to(torch.int32), case.axis) if along else at
        made = getattr(torch, f"fake_quantize_{name}_affine")(x, *at, *case.limits)
        return made.view(torch.int16).numpy() if made.dtype == torch.bfloat16 else made.numpy()
    if case.function == "quantize":
        name = "per_channel" if along else "per_tensor"
        return getattr(torch, f"quantize_{name}")(x, *at, kind[case.target.code]).int_repr().numpy()
    if along:
        q = torch._make_per_channel_quantized_tensor(x, scale.double(), zero, case.axis)
    else:
        q = torch._make_per_tensor_quantized_tensor(x, *at)
    return q.dequantize().numpy()


def tensorflow(case: Case) -> Any:
    import tensorflow as tf

    kind = {"i8": "qint8", "u8": "quint8", "i32": "qint32"}
    scale, axis = np.float32(case.scale), -1 if case.axis is None else case.axis
    zero = np.zeros_like(scale) if case.zero_point is None else case.zero_point
    own = case.source if case.function == "dequantize" else case.target
    low, high = bounds(own)
    at = {
        "scales": scale,
        "zero_points": np.int32(zero),
        "quantization_min_val": low,
        "quantization_max_val": high,
        "quantization_axis": axis,
    }
    if case.function == "fake_quantize":
        ends = map(np.float32, case.range)
        name = "vars" if axis < 0 else "vars_per_channel"
        function = getattr(tf.quantization, f"fake_quant_with_min_max_{name}")
        return function(np.float32(case.x), *ends, num_bits=own.bits).numpy()
    if case.function == "quantize":
        made = tf.raw_ops.UniformQuantize(
            input=np.float32(case.x), Tout=getattr(tf, kind[own.code]), **at
        )
        return tf.bitcast(made, own.name).numpy()
    q = tf.bitcast(tf.constant(case.x, own.name), getattr(tf, kind[own.code]))
    return tf.raw_ops.UniformDequantize(input=q, Tout=tf.float32, **at).numpy()


OPERATORS = {
    "quantize": "QuantizeLinear",
    "dequantize": "DequantizeLinear",
    "dynamic_quantize": "DynamicQuantizeLinear",
}


def model(case: Case) -> tuple[Any, list[Any]]:
    """A model of one node, and its inputs as TensorProtos."""
    from onnx import TensorProto, helper

    import promoarray as pa

    opset = int(case.policy.partition("+")[0].partition("@")[2])
    own = case.source if case.function == "dequantize" else case.target
    given = [("x", case.x, case.source), ("scale", case.scale, case.scale_dtype)]
    attributes = {"axis": case.axis, "block_size": case.block}
    if case.function == "dequantize" and case.scale_dtype is pa.float8_e8m0fnu:
        attributes["output_dtype"] = pa.to_onnx(pa.zeros(1).astype(case.target)).data_type
    if case.zero_point is not None:
        given.append(("zero", case.zero_point, own))
    elif case.function == "quantize" and opset < 21:  # where nothing else names the type
        given.append(("zero", np.zeros_like(case.scale), own))
    elif case.function == "quantize":
        attributes["output_dtype"] = pa.to_onnx(pa.zeros(1).astype(own)).data_type
    if case.precision:
        attributes["precision"] = TensorProto.FLOAT16
    if case.function == "dynamic_quantize":
        given, attributes = given[:1], {}
    names = [name for name, *_ in given]
    tensors = [pa.to_onnx(pa.asarray(np.asarray(x)).astype(d), name=n) for n, x, d in given]
    outs = ["y", "scale", "zero"] if case.function == "dynamic_quantize" else ["y"]
    node = helper.make_node(
        OPERATORS[case.function], names, outs,
        **{k: v for k, v in attributes.items() if v is not None},
    )  # fmt: skip
    out = pa.to_onnx(pa.zeros(1).astype(case.target)).data_type
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in tensors],
        [helper.make_tensor_value_info(*each, None) for each in
         zip(outs, (out, TensorProto.FLOAT, out), strict=False)],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return made, tensors


def onnxruntime(case: Case) -> Any:
    import onnxruntime as ort
    from onnx import TensorProto, helper

    import promoarray as pa

    made, tensors = model(case)
    if case.target.bits <= 8 and case.target not in (pa.int8, pa.uint8):  # none of NumPy's
        made.graph.node.append(helper.make_node("Cast", ["y"], ["z"], to=TensorProto.FLOAT))
        made.graph.output[0].CopyFrom(helper.make_tensor_value_info("z", TensorProto.FLOAT, None))
    made.graph.initializer.extend(tensors)
    del made.graph.input[:]
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(made.SerializeToString(), options)
    value, *more = session.run(None, {})
    if more:
        return quantization.together(value, *more)
    if value.dtype == case.target.storage:
        return value
    made = pa.asarray(value).astype(case.target)  # from float32, which holds all of its values
    return np.asarray(made._buffer)


def onnx_reference(case: Case) -> Any:
    from onnx import numpy_helper
    from onnx.reference import ReferenceEvaluator

    made, tensors = model(case)
    given = {t.name: numpy_helper.to_array(t) for t in tensors}
    value, *more = ReferenceEvaluator(made).run(None, given)
    return quantization.together(value, *more) if more else value


FRAMEWORKS = {f.__name__: f for f in (torch, tensorflow, onnxruntime, onnx_reference)}


def main(name: str) -> None:
    from importlib.metadata import version

    warnings.simplefilter("ignore")
    package = {"onnx_reference": "onnx", "tensorflow": "tensorflow-cpu"}.get(name, name)
    lines = [f"# {name}: {package} {version(package)}, numpy {np.__version__}, x86-64"]
    for words, case in quantization.cases(name):
        try:
            lines.append(f"{words} = {codes(FRAMEWORKS[name](case)).tobytes().hex()}")
        except Exception as error:
            print(f"{words}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
            lines.append(f"{words} = -")
    path = quantization.GOLDEN / f"{name}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
