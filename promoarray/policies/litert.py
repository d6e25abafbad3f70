"""LiteRT 2.3 (formerly TensorFlow Lite) on the CPU: its operators where they have kernels.

Asked of ai-edge-litert 2.3.0 by models of one operator, without delegates (XNNPACK and those of
GPUs have kernels of their own), of tensors of plain numbers (conformance/oracles/litert.py);
conformance/golden/runtimes holds the answers. An operator that takes int8, uint8 or int16 only for
quantized numbers, with a scale and a zero point, refuses them here: of plain ones it ends the
process or computes something else. Converters put casts in; nothing promotes.
"""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, DType
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.policies._by_operator import policy, rules
from promoarray.promotion.cast_rules import CastRule, case, dtypes
from promoarray.promotion.cast_transforms import NanIs, real_part_counts
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import in_own_dtype
from promoarray.promotion.type_steps import rows

EDITIONS = ("2.3",)

DTYPES = rows("b1 i4 i8 i16 i32 i64 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128")

# Function:operator, and the types that it has kernels of plain numbers for.
OPERATORS = """
add:ADD | i16 i32 i64 f16 f32
subtract:SUB | i32 i64 f32
multiply:MUL | i16 u32 i32 i64 f16 f32 c64
divide:DIV | i32 f32
floor_divide:FLOOR_DIV | i8 i16 i32 f32
remainder:FLOOR_MOD | i8 i16 i32 i64 f32
pow:POW | i32 f32
square:SQUARE ceil:CEIL sqrt:SQRT exp:EXP log:LOG | f32
equal:EQUAL | b1 i16 i32 i64 f16 f32
not_equal:NOT_EQUAL | b1 i32 i64 f16 f32
less:LESS greater:GREATER | i16 i32 i64 f16 bf16 f32
less_equal:LESS_EQUAL greater_equal:GREATER_EQUAL | i16 i32 i64 f16 f32
logical_and:LOGICAL_AND logical_or:LOGICAL_OR logical_not:LOGICAL_NOT | b1
bitwise_xor:BITWISE_XOR bitwise_right_shift:RIGHT_SHIFT | u8 i8 u16 i16 u32 i32
maximum:MAXIMUM minimum:MINIMUM | u8 i8 i16 i32 i64 f16 bf16 f32
atan2:ATAN2 | f16 bf16 f32 f64
where:SELECT_V2 | b1 ints floats bf16 c64
matmul:BATCH_MATMUL | f32
concat:CONCATENATION | b1 u8 i8 i16 u32 i32 i64 f16 bf16 f32
stack:PACK | u8 i8 i16 u32 i32 i64 f32
abs:ABS | i16 i32 f32
negative:NEG | i8 i16 i32 i64 f16 bf16 f32
sign:SIGN | i32 f32 f64
floor:FLOOR round:ROUND tanh:TANH | f16 bf16 f32
sin:SIN cos:COS | f16 f32
sum:SUM mean:MEAN cumulative_sum:CUMSUM | i32 i64 f32
prod:REDUCE_PROD max:REDUCE_MAX min:REDUCE_MIN | u8 i8 i16 i32 i64 f32
all:REDUCE_ALL any:REDUCE_ANY | b1
argmax:ARG_MAX argmin:ARG_MIN | b1 u8 i8 i32 f32
sort:TOPK_V2 | u8 i8 i16 i32 i64 f32
"""

KERNELS = {
    "add": ("finite_add",),
    "subtract": ("finite_subtract",),
    "multiply": ("finite_multiply",),
    "divide": ("finite_divide", "saturating_divide"),
    "floor_divide": ("checked_floor_divide", "floor_of_exact_quotient"),
    "remainder": ("checked_remainder", "remainder_keeping_zero"),
    "pow": ("positive_double_pow",),
    "maximum": ("second_maximum",),
    "minimum": ("second_minimum",),
    "bitwise_right_shift": ("right_shift_within",),
    "round": ("round_up_to_zero",),
    "mean": ("truncated_mean",),
    "argmax": ("argmax_without_nan",),
    "argmin": ("argmin_without_nan",),
}

_WHOLE = "i4 i8 i16 i32 i64 u4 u8 u16 u32"


CASTABLE = frozenset(rows("b1 i8 i16 i32 i64 u8 u16 u32 f16 bf16 f32 f64 c64"))
OF_FLOAT32 = frozenset(rows("i4 u4"))
"""What CAST makes of float32 alone, and float32 alone of it."""


def no_cast(source: DType, target: DType) -> str | None:
    """Say why CAST does not make one dtype of another."""
    both = {source, target}
    if both <= CASTABLE or len(both) == 1 or (both & OF_FLOAT32 and dt.float32 in both):
        return None
    return f"LiteRT has no kernel of CAST from {source.name} to {target.name}"


CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.SATURATE),
    cases=(
        *(
            case(code, "wide", transform=NanIs(bounds(BY_CODE[code])[1], signed=False))
            for code in _WHOLE.split()
        ),
        case("b1", "c64", transform=real_part_counts),
    ),
    refuses=no_cast,
    sources=(Source("ai-edge-litert 2.3.0, CPU", "CAST, one-operator models"),),
    notes=(
        Note(
            "Floats beyond an integer saturate; NaN becomes the largest integer.",
            dtypes(_WHOLE),
            of=dtypes("wide"),
        ),
        Note("A complex number is true if its real part is.", dtypes("b1"), of=dtypes("c64")),
    ),
)


def edition(edition: str) -> Policy:
    """LiteRT ``2.3``."""
    title = f"LiteRT {edition}"
    operations = rules(OPERATORS, "LiteRT", title)
    operations |= {name: in_own_dtype(operations[name]) for name in ("add", "multiply")}
    return policy(
        f"litert@{edition}",
        title,
        "LiteRT",
        DTYPES,
        operations,
        CASTS,
        kernels=KERNELS,
        sources=(Source("ai-edge-litert 2.3.0, CPU, no delegate", "one-operator models"),),
        notes=(
            "int8, uint8 and int16 are quantized numbers to many operators; those refuse plain ones"
            " here.",
            "+, -, * and / of floats give no infinity: their fused activation, NONE, still ends at"
            " the largest number.",
        ),
    )
