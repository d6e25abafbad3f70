"""Ask runtimes of ONNX on the CPU: `onnxruntime` or `openvino`, beside `onnx`, one node at a time.

    python conformance/oracles/onnx_runtimes.py onnxruntime      openvino, where that is installed

``kernels/Add``: rows are opsets, columns dtypes; the dtype where a model of the one node runs, in
which all inputs are of that dtype; ``-`` where it does not. ``cast/f32`` and ``cast/f32/0``
(saturate=0, where it changes something): rows are values, columns the dtypes they are cast to, by
opset 21; ``quantize/u8``: rows are values, columns the zero points, with a scale of 1;
``values/Add``: rows are dtypes, columns operands (``max`` and ``min`` are the ends of the dtype).
NaN is written without its sign. Graph optimizations are off; OpenVINO has no such switch, and is
told to compute in float32 what is float32 (``INFERENCE_PRECISION_HINT``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from _ask import REFUSED, Oracle, Section, main, tables
from onnx_sessions import (
    FOUR_BITS,
    Bits,
    Given,
    Open,
    onnxruntime,
    openvino,
    packed,
    tensor,
)
from runtime_values import PAIRS, listed, numbers, pair, told

OPSETS = {"onnxruntime": (13, 17, 19, 21, 23, 24, 25, 28), "openvino": (13, 21, 25)}
"""Each compiles a node of OpenVINO in a tenth of a second."""
TYPES = "b1 u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64".split()  # noqa: SIM905
NARROW = "u4 i4 f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz f8_e8m0fnu f4_e2m1fn".split()  # noqa: SIM905

UNARY = """Not BitwiseNot Neg Abs Sign Floor Ceil Round IsNaN IsInf Reciprocal Sqrt Exp Log Erf
    Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Identity Det"""
BINARY = """Add Sub Mul Div Mod Pow Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor
    BitwiseAnd BitwiseOr BitwiseXor Max Min MatMul"""
REDUCE = "ReduceSum ReduceProd ReduceMean ReduceMax ReduceMin ReduceL2"
OTHERS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    **{name: (("x",), {}) for name in UNARY.split()},
    **{name: (("x", "x"), {}) for name in BINARY.split()},
    **{name: (("x",), {"keepdims": 0}) for name in REDUCE.split()},
    "Where": (("c", "x", "x"), {}),
    "Clip": (("x", "s", "s"), {}),
    "CumSum": (("x", "axis"), {}),
    "CumProd": (("x", "axis"), {}),
    "Gemm": (("x", "x"), {}),
    "Concat": (("x", "x"), {"axis": 0}),
    "BitShift": (("x", "x"), {"direction": "LEFT"}),
    "ArgMax": (("x",), {}),
    "ArgMin": (("x",), {}),
    "TopK": (("x", "k"), {}),
    "Unique": (("x",), {}),
    "Cast": (("x",), {"to": "f32"}),
    "CastLike": (("x", "f"), {}),
    "QuantizeLinear": (("f", "fs", "s"), {}),
    "DequantizeLinear": (("x", "fs", "s"), {}),
    "DynamicQuantizeLinear": (("x",), {}),
}
HALVES = (0.5, 1.5, 2.5, -0.5, -1.5, 3.0, 200.0, 300.0, -200.0, -300.0)
HALVES += (float("nan"), float("inf"), -float("inf"), 3e9, -3e9, 1e-40)

POLICIES = {"onnxruntime": ("onnxruntime@1.32", "25"), "openvino": ("openvino@2026.4", "25")}
Run = Callable[[bytes, Given, str], Bits]


def node(
    name: str, given: Given, made: str, opset: int, attributes: Mapping[str, Any]
) -> tuple[bytes, Given, str]:
    """A model of one node, what is fed to it, and the type it gives.

    ``given`` is (code, values) by the names of inputs; those of 4 bits are constants of the model.
    """
    from onnx import helper

    fed = {each: entered for each, entered in given.items() if entered[0] not in FOUR_BITS}
    inputs = [
        helper.make_tensor_value_info(each, tensor(code), values.shape)
        for each, (code, values) in fed.items()
    ]
    constants = [
        helper.make_tensor(
            each, tensor(code), values.shape, packed(values, code).tobytes(), raw=True
        )
        for each, (code, values) in given.items()
        if each not in fed
    ]
    settings = {k: tensor(v) if k == "to" else v for k, v in attributes.items() if k != "inputs"}
    names = attributes.get("inputs", list(given))
    outputs = {"TopK": ["z", "y"], "DynamicQuantizeLinear": ["y", "s", "t"]}.get(name, ["y"])
    made_node = helper.make_node(name, names, outputs, **settings)
    out = helper.make_tensor_value_info("y", tensor(made), None)
    graph = helper.make_graph([made_node], "one", inputs, [out], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return model.SerializeToString(), fed, made


def _not_in_the_schema(name: str, opset: str, code: str) -> bool:
    import onnx

    try:
        schema = onnx.defs.get_schema(name, int(opset), "")
    except onnx.defs.SchemaError:
        return True
    names = OTHERS[name][0]
    index = names.index("s") if name == "QuantizeLinear" else names.index("x")
    types = schema.inputs[min(index, len(schema.inputs) - 1)].types
    numbers = {helper_number(each) for each in types}
    return tensor(code) not in numbers


def helper_number(said: str) -> int:
    """The number of ``tensor(float)``."""
    from onnx import TensorProto

    name = said.removeprefix("tensor(").removesuffix(")").upper()
    return int(getattr(TensorProto, name, 0))


def sections(run: Run, opsets: tuple[int, ...]) -> dict[str, Section]:
    """Kernels, casts, quantization and values."""
    import numpy as np

    def kernel(name: str) -> Section:
        def ask(opset: int, code: str) -> str:
            names, attributes = OTHERS[name]
            shapes = {
                "x": (code, (2, 2)),
                "s": (code, ()),
                "c": ("b1", (2, 2)),
                "f": ("f32", (2, 2)),
                "axis": ("i64", ()),
                "k": ("i64", (1,)),
                "fs": ("f32", ()),
            }
            made = {
                "CastLike": "f32",
                "DequantizeLinear": "f32",
                "DynamicQuantizeLinear": "u8",
                "ArgMax": "i64",
                "ArgMin": "i64",
                "TopK": "i64",
                **dict.fromkeys(["Equal", "Less", "LessOrEqual", "Greater"], "b1"),
                "GreaterOrEqual": "b1",
                "IsNaN": "b1",
                "IsInf": "b1",
                "Cast": "f32",
            }.get(name, code)
            values = {
                each: (c, numbers(np.full(shape, each != "s"), c).reshape(shape))
                for each, (c, shape) in shapes.items()
                if each in names
            }
            if "axis" in values:
                values["axis"] = "i64", np.array(0)
            extra = {"inputs": list(names), **attributes}
            if name == "Mod" and code in ("f16", "bf16", "f32", "f64"):
                extra["fmod"] = 1
            run(*node(name, values, made, opset, extra))
            return code

        types = [*TYPES, *NARROW] if name in _NARROW_TOO else TYPES
        asked = {str(n): n for n in opsets}
        skip = partial(_not_in_the_schema, name)
        return Section(ask, asked, {c: c for c in types}, None, skip)

    @cache
    def cast(code: str, to: str, saturate: int) -> Bits:
        values = list(listed(code))
        values += [0] * (-len(values) % 16)
        x = numbers(values, code)
        attributes = {"to": to} if saturate else {"to": to, "saturate": 0}
        opset = 24 if "f8_e8m0fnu" in (code, to) or "f4_e2m1fn" in (code, to) else 21
        return run(*node("Cast", {"x": (code, x)}, to, opset, attributes))

    def casts(code: str, saturate: int) -> Section:
        rows = {told(v): i for i, v in enumerate(listed(code))}
        targets = NARROW[2:6] if not saturate else [*TYPES, *NARROW]
        return Section(
            lambda index, to: told(cast(code, to, saturate)[index]),
            rows,
            {to: to for to in targets if to != code},
        )

    @cache
    def quantized(to: str, zero: int) -> Bits:
        values = np.array(HALVES, np.float32)
        given = {"x": ("f32", values), "s": ("f32", np.ones((), np.float32))}
        given["z"] = to, numbers(zero, to)
        return run(*node("QuantizeLinear", given, to, 21, {}))

    def quantize(to: str) -> Section:
        zeros = (0, 1, 3) if to[0] in "iu" else (0,)
        rows = {told(v): i for i, v in enumerate(HALVES)}
        return Section(
            lambda index, zero: told(quantized(to, zero)[index]), rows, {str(z): z for z in zeros}
        )

    def values(name: str) -> Section:
        def ask(code: str, said: str) -> str:
            both = pair(said, code)
            if both is None:
                return "."
            x, y = both
            made = "b1" if name in ("Less", "Equal") else code
            given = {"a": (code, numbers([x] * 16, code)), "b": (code, numbers([y] * 16, code))}
            return told(run(*node(name, given, made, 21, {}))[0])

        integers = [code for code in TYPES if code[0] in "iu"]
        return Section(ask, {c: c for c in integers}, {p: p for p in PAIRS.split()})

    return {
        **{f"kernels/{name}": kernel(name) for name in OTHERS},
        **{f"cast/{code}": casts(code, 1) for code in [*TYPES, *NARROW[2:7]]},
        **{f"cast/{code}/0": casts(code, 0) for code in ("f32", "f16", "bf16", "f64")},
        **{
            f"quantize/{code}": quantize(code)
            for code in ["u8", "i8", "u16", "i16", "f8_e4m3fn", "f8_e5m2"]
        },
        **{f"values/{name}": values(name) for name in _COMPUTED},
    }


_NARROW_TOO = ("Identity", "Cast", "QuantizeLinear", "DequantizeLinear", "Where", "Concat")
_COMPUTED = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Less", "Equal", "Pow")


def edition(start: Callable[[], tuple[str, Open]]) -> Callable[[], Oracle]:
    """A runtime, described when it is asked."""

    def describe() -> Oracle:
        import onnx

        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        version, opened = start()

        def run(model: bytes, given: Given, made: str) -> Bits:
            return opened(model)(given, made).ravel()

        policy, opset = POLICIES[start.__name__]
        meta = {"framework": start.__name__, "policy": policy, "opset": opset, "version": version}
        meta["onnx"] = onnx.__version__
        meta["machine"] = "x86-64"
        return Oracle(meta, str, sections(run, OPSETS[start.__name__]), lambda error: REFUSED)

    return describe


if __name__ == "__main__":
    folder = Path(tables.__file__).parent / "golden" / "runtimes"
    main({start.__name__: edition(start) for start in (onnxruntime, openvino)}, folder)
