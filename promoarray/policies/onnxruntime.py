"""ONNX Runtime 1.32 on the CPU, x86-64: opset 25 where it has a kernel, and casts of its own.

Asked of onnxruntime 1.32.0, CPUExecutionProvider, by models of one node with graph optimizations
off (conformance/oracles/onnx_runtimes.py); conformance/golden/runtimes holds the answers. It adds,
multiplies and casts integers as ONNX says. Casts that differ are quirks of Cast, on here.
"""

from promoarray.policies._onnx_runtimes import lacking, runtime
from promoarray.promotion.policy import Policy
from promoarray.promotion.source import Note, Source

EDITIONS = ("1.32",)

OPSET = 25
"""The last whose QuantizeLinear and DequantizeLinear have kernels."""

# Operators without a kernel, by dtypes that opset 25 admits.
LACKS = """
Neg Abs Mod Less Greater LessOrEqual GreaterOrEqual Equal Add Sub Mul Div MatMul | bf16
Pow | u8 i8 u16 i16 u32 u64 bf16
Floor Ceil Round Reciprocal Sqrt Exp Log Tanh Sin Cos | bf16
Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Det | f64 bf16
Max Min Clip | u16 i16 bf16
ReduceSum ReduceProd ReduceMean ReduceMax ReduceMin ReduceL2 CumSum | u32 u64 bf16
Where | b1 u16 i16 u64 bf16
ArgMax ArgMin | u16 i16 u32 u64 bf16
TopK | u16 u32 u64 bf16
Unique | b1 u8 u16 i16 u32 i32 u64
Identity | u4 i4 u2 i2 f4_e2m1fn f8_e8m0fnu
Cast QuantizeLinear DequantizeLinear | f4_e2m1fn
"""

QUIRKS = (
    "rounds-twice",
    "rounds-float16-twice",
    "e4m3fn-480-to-496-is-448",
    "e5m2-61440-to-65536-is-nan",
    "rounds-to-4-bits",
    "minus-zero-is-true",
    "quantizes-float16-in-float32",
)
"""Of ONNX's Cast and QuantizeLinear: how it departs from the text."""


def edition(edition: str) -> Policy:
    """ONNX Runtime ``1.32``."""
    return runtime(
        f"onnxruntime@{edition}",
        f"ONNX Runtime {edition}",
        OPSET,
        lacking(LACKS),
        on=QUIRKS,
        kernels={"pow": ("double_pow",)},
        principle="ONNX's: no promotion. An operator takes the types that there are kernels for.",
        refusal="ONNX promotes nothing: inputs of one type parameter must be of one type",
        sources=(
            Source("onnxruntime 1.32.0, CPUExecutionProvider", "one-node models, opset 25"),
            Source("ONNX Operators (Operators.md, Changelog.md)", "type constraints", "1.23.2"),
        ),
        notes=(Note("float16 is computed in float32, by casts that the session puts in."),),
    )
