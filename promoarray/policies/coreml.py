"""Core ML, by coremltools' definitions alone: which types the operators of its MIL have.

Source: apple/coremltools, converters/mil/mil/ops/defs, 9.1. Nothing was asked of a device, so that
values are NumPy's. ``iOS15`` casts between float16, float32, int32 and bool; ``iOS17`` between
integers of 8 and 16 bits as well, which no arithmetic takes.
"""

from __future__ import annotations

from promoarray.policies._by_operator import only, policy, rules
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule
from promoarray.promotion.policy import Policy
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_steps import rows

EDITIONS = ("iOS17", "iOS15")

# Function:operator, and the type domain T of its definition.
OPERATORS = """
add:add subtract:sub multiply:mul divide:real_div floor_divide:floor_div | f16 f32 i32
remainder:mod pow:pow equal:equal not_equal:not_equal less:less | f16 f32 i32
less_equal:less_equal greater:greater greater_equal:greater_equal | f16 f32 i32
maximum:maximum minimum:minimum abs:abs sign:sign square:square | f16 f32 i32
sum:reduce_sum prod:reduce_prod mean:reduce_mean max:reduce_max | f16 f32 i32
min:reduce_min argmax:reduce_argmax argmin:reduce_argmin | f16 f32 i32
acos:acos asin:asin atan:atan atanh:atanh ceil:ceil clip:clip cos:cos cosh:cosh | f16 f32
exp:exp floor:floor log:log round:round sin:sin sinh:sinh sqrt:sqrt tan:tan | f16 f32
tanh:tanh reciprocal:inverse | f16 f32
logical_and:logical_and logical_or:logical_or logical_xor:logical_xor | b1
logical_not:logical_not | b1
"""

CAST = {"iOS15": rows("b1 i32 f16 f32"), "iOS17": rows("b1 i8 i16 i32 u8 u16 f16 f32")}
"""What ``cast`` takes."""


def edition(edition: str) -> Policy:
    """Core ML of ``iOS17`` or ``iOS15``."""
    dtypes = CAST[edition]
    definitions = Source("apple/coremltools, mil/ops/defs", "type_domains", "9.1")
    unknown = Note(
        "Nothing says what a float becomes in an integer that does not hold it; here the low bits"
        " of an int32 are kept.",
        INTEGER_DTYPES,
        of=FLOAT_DTYPES,
    )
    casts = CastRule(
        refuses=only(dtypes, "cast", "Core ML"), sources=(definitions,), notes=(unknown,)
    )
    return policy(
        f"coreml@{edition}",
        f"Core ML of {edition} (by its definitions)",
        "Core ML",
        dtypes,
        rules(OPERATORS, "Core ML", f"Core ML of {edition}"),
        casts,
        sources=(definitions,),
        notes=("By coremltools' definitions; no device was asked, and values are NumPy's.",),
    )
