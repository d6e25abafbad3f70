"""TensorRT 10, by its document alone: which types the operators of ONNX have in TensorRT.

Source: onnx/onnx-tensorrt, docs/operators.md, release 10.1. Nothing was asked of a GPU, so that
values are NumPy's. uint8 enters and leaves a network, int8 and float8 are quantized numbers, and
double is made float32: none of them is computed with here.
"""

from __future__ import annotations

from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.policies._by_operator import only, policy, rules
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule
from promoarray.promotion.policy import Policy
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_steps import rows

EDITIONS = ("10.1",)

DTYPES = rows("b1 u8 i32 i64 f16 bf16 f32")

# Function:operator, and its types in the support matrix.
OPERATORS = """
add:Add subtract:Sub multiply:Mul divide:Div square:Mul remainder:Mod | f32 f16 bf16 i32 i64
equal:Equal less:Less greater:Greater less_equal:LessOrEqual | f32 f16 bf16 i32 i64
greater_equal:GreaterOrEqual maximum:Max minimum:Min abs:Abs | f32 f16 bf16 i32 i64
negative:Neg sign:Sign isnan:IsNaN sum:ReduceSum prod:ReduceProd | f32 f16 bf16 i32 i64
mean:ReduceMean max:ReduceMax min:ReduceMin argmax:ArgMax | f32 f16 bf16 i32 i64
argmin:ArgMin sort:TopK | f32 f16 bf16 i32 i64
pow:Pow clip:Clip matmul:MatMul sin:Sin cos:Cos tan:Tan asin:Asin acos:Acos | f32 f16 bf16
atan:Atan sinh:Sinh cosh:Cosh asinh:Asinh acosh:Acosh atanh:Atanh | f32 f16 bf16
tanh:Tanh exp:Exp log:Log sqrt:Sqrt reciprocal:Reciprocal floor:Floor | f32 f16 bf16
ceil:Ceil round:Round isinf:IsInf cumulative_sum:CumSum | f32 f16 bf16
logical_and:And logical_or:Or logical_xor:Xor logical_not:Not | b1
where:Where concat:Concat stack:Concat positive:Identity | f32 f16 bf16 i32 i64 b1
"""

_DOCUMENT = Source("onnx/onnx-tensorrt, docs/operators.md", "Operator Support Matrix", "10.1")
_REPORT = Source("NVIDIA/TensorRT#4775", "Cast of NaN and Inf to int32", "report")

CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.SATURATE),
    refuses=only(DTYPES, "Cast", "TensorRT"),
    sources=(_DOCUMENT, _REPORT),
    notes=(
        Note(
            "By a report (NVIDIA/TensorRT#4775), not asked: NaN becomes 0, infinities the ends of"
            " int32.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
    ),
)


def edition(edition: str) -> Policy:
    """TensorRT ``10.1``."""
    return policy(
        f"tensorrt@{edition}",
        f"TensorRT {edition} (by its document)",
        "TensorRT",
        DTYPES,
        rules(OPERATORS, "TensorRT", f"TensorRT {edition}"),
        CASTS,
        sources=(_DOCUMENT,),
        notes=("By its document; no GPU was asked, and values are NumPy's.",),
    )
