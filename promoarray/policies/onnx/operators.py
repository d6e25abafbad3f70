"""ONNX: nothing promotes, and each operator says which types it takes, by opset.

The inputs that share a type parameter must be of one type already, so every mixture is refused;
only Pow has a parameter of its own for the exponent. A Python scalar stands for a constant of the
array's type, as in onnxscript, if that type is of its kind or a higher one. What the standard's
functions become is the first column of the table; those that no single operator (or operator with
Not, Unsqueeze or Identity) computes are refused rather than decomposed.

Sources: ONNX Operators and its changelog (Operators.md, Changelog.md), onnx 1.23.2, opsets 1 to 28;
tests hold the table against the schemas in conformance/golden/onnx.txt, for every opset.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.console import listed
from promoarray.dtypes import BY_CODE, INTEGERS, DType, Kind
from promoarray.operations import FIELDS, OPERATIONS, Family
from promoarray.policies.onnx.cast import cast_of
from promoarray.policies.onnx.quantization import quantization_of
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal, accumulator
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import NARROW, Scalars, in_range
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import TypeRule, refuse, same, to_bool
from promoarray.promotion.type_steps import always, supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

GROUPS = {
    "floats": "f16 f32 f64",
    "signed": "i8 i16 i32 i64",
    "unsigned": "u8 u16 u32 u64",
    "ints": "i8 i16 i32 i64 u8 u16 u32 u64",
    "words": "i32 i64 u32 u64",
    "rest": "b1 i8 i16 i32 i64 u8 u16 u32 u64 c64 c128 str",
    "fp8": "f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz",
    "fp6": "f6_e2m3fn f6_e3m2fn",
}

# Tensor types by the opset that brought them, in the order of TensorProto.DataType.
TENSORS = (
    "1 f32 u8 i8 u16 i16 i32 i64 str b1 f16 f64 u32 u64 c64 c128  13 bf16  19 fp8  21 u4 i4"
    "  23 f4_e2m1fn  24 f8_e8m0fnu  25 u2 i2  28 fp6"
)
CAST = (
    "1 b1 ints floats  9 str  13 bf16  19 fp8  21 i4 u4  23 f4_e2m1fn  24 f8_e8m0fnu  25 i2 u2"
    "  28 fp6"
)

# Function:operator, then what each opset added to the types of its main parameter. Types were
# never taken away. Bools take And, Or, Xor and Not where integers take the Bitwise operators.
OPERATORS = """
add:Add subtract:Sub multiply:Mul divide:Div | 1 floats  6 words  13 bf16  14 i8 i16 u8 u16
square:Mul | 1 floats  6 words  13 bf16  14 i8 i16 u8 u16
remainder:Mod | 10 ints  28 floats bf16
fmod:Mod | 10 ints floats  13 bf16
pow:Pow | 1 floats  12 i32 i64  13 bf16
equal:Equal not_equal:Equal | 1 b1 i32 i64  11 i8 i16 u8 u16 u32 u64 floats  13 bf16  19 str
less:Less greater:Greater | 1 floats  9 ints  13 bf16
less_equal:LessOrEqual greater_equal:GreaterOrEqual | 12 ints floats  16 bf16
logical_and:And logical_or:Or logical_xor:Xor logical_not:Not | 1 b1
bitwise_and:BitwiseAnd bitwise_or:BitwiseOr bitwise_xor:BitwiseXor | 1 b1  18 ints
bitwise_invert:BitwiseNot | 1 b1  18 ints
bitwise_left_shift:BitShift bitwise_right_shift:BitShift | 11 unsigned  28 signed
maximum:Max minimum:Min | 1 floats  12 ints  13 bf16
where:Where | 9 rest floats  16 bf16
clip:Clip | 1 floats  12 ints  13 bf16
matmul:MatMul vecdot:MatMul tensordot:MatMul | 1 floats  9 words  13 bf16
outer:Mul | 1 floats  6 words  13 bf16  14 i8 i16 u8 u16
concat:Concat stack:Concat | 1 floats  4 rest  13 bf16
sin:Sin cos:Cos tan:Tan asin:Asin acos:Acos atan:Atan | 7 floats  22 bf16
sinh:Sinh cosh:Cosh asinh:Asinh acosh:Acosh atanh:Atanh | 9 floats  22 bf16
tanh:Tanh exp:Exp log:Log sqrt:Sqrt reciprocal:Reciprocal | 1 floats  13 bf16
abs:Abs | 1 floats  6 ints  13 bf16
negative:Neg | 1 floats  6 signed  13 bf16
positive:Identity | 1 rest floats  13 bf16  19 fp8  21 i4 u4  23 f4_e2m1fn  24 f8_e8m0fnu  25 i2 u2
sign:Sign | 9 ints floats  13 bf16
floor:Floor ceil:Ceil | 1 floats  13 bf16
round:Round | 11 floats  22 bf16
isnan:IsNaN | 9 floats  13 bf16  20 fp8
isinf:IsInf | 10 f32 f64  20 f16 bf16 fp8
sum:ReduceSum prod:ReduceProd mean:ReduceMean | 1 words floats  13 bf16
max:ReduceMax min:ReduceMin | 1 words floats  12 i8 u8  13 bf16  20 b1
all:ReduceMin any:ReduceMax | 20 b1
cumulative_sum:CumSum | 11 words f32 f64  14 f16 bf16
cumulative_prod:CumProd | 26 words floats bf16
argmax:ArgMax argmin:ArgMin | 1 ints floats  13 bf16
vector_norm:ReduceL2 matrix_norm:ReduceL2 | 1 words floats  13 bf16
det:Det | 11 floats  22 bf16
sort:TopK argsort:TopK | 11 ints floats  24 bf16
unique_values:Unique unique_counts:Unique | 11 rest floats  28 bf16
unique_inverse:Unique unique_all:Unique | 11 rest floats  28 bf16
"""

EXPONENTS = "12 ints floats  15 bf16"
"""Types of Pow's second parameter T1; before opset 12 it had none."""

RESULTS: dict[Family, Callable[[DType], DType]] = {
    Family.EQUALITY: to_bool,
    Family.ORDER: to_bool,
    Family.TEST: to_bool,
    Family.POSITION: always(dt.int64),
    Family.INDEX: always(dt.int64),
}


def admitted(history: str, opset: int) -> tuple[DType, ...]:
    """The types a history like ``1 floats 13 bf16`` has reached by an opset."""
    since, codes = 0, []
    for word in history.split():
        if word.isdigit():
            since = int(word)
        elif since <= opset:
            codes += GROUPS.get(word, word).split()
    return tuple(BY_CODE[code] for code in codes)


@cache
def first_admitted(dtype: DType) -> int | None:
    """The first opset whose Cast takes a dtype; None if none does."""
    return next((n for n in range(1, 29) if dtype in admitted(CAST, n)), None)


def operators(table: str = OPERATORS) -> dict[str, tuple[str, str]]:
    """The operator and its history, by function."""
    rows = {}
    for line in table.strip().splitlines():
        names, history = line.split("|")
        for name in names.split():
            function, operator = name.split(":")
            rows[function] = operator, history.strip()
    return rows


def agree(a: DType, b: DType) -> DType | None:
    """Answer the one type of both; a Python scalar is a constant of the other's type."""
    if not a.weak and not b.weak:
        return a if a is b else None
    if a.weak and b.weak:
        return max(a, b, key=lambda d: d.kind.category)
    scalar, array = (a, b) if a.weak else (b, a)
    return array if constant(scalar, array) else None


def constants(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Enter operands as their own types; Python scalars alone are constants of one default type."""
    entered = supported_types(policy, operands)
    if isinstance(entered, Refusal) or not all(dtype.weak for dtype in entered):
        return entered
    return (policy.strong(max(entered, key=lambda d: d.kind.category)),) * len(entered)


def constant(scalar: DType, array: DType) -> bool:
    """Whether a Python scalar can be written as a constant of a type: never down the kinds."""
    if Kind.BOOL in (scalar.kind, array.kind):
        return scalar.kind is array.kind
    return scalar.kind.category <= array.kind.category < Kind.STRING.category


def power(base: tuple[DType, ...], exponent: tuple[DType, ...], opset: int) -> OperationRule:
    """Pow: the result is of the base's type; from opset 12 the exponent has a type of its own."""

    def rule(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        entered = policy.operand_types(policy, operands)
        if isinstance(entered, Refusal):
            return entered
        x, y = entered
        if x.weak:
            x = y if constant(x, y) else policy.strong(x)
        if y.weak:
            y = x if constant(y, x) else policy.strong(y)
        x, y = policy.strong(x), policy.strong(y)
        if x is not y and not exponent:
            return Refusal("before opset 12 Pow takes base and exponent of one type")
        if x not in base or y not in (exponent or base):
            return Refusal(f"Pow of opset {opset} takes no {x.name} ** {y.name}")
        if x is y:
            return Plan((x, y), accumulator(x), x)
        if x.kind not in INTEGERS or y.kind not in INTEGERS:
            return Plan((x, y), dt.float64, x)
        # 64 bits hold every exponent, and the low bits of a power do not depend on the sign.
        return Plan((x, y), dt.uint64 if y.kind is Kind.UINT else dt.int64, x)

    return rule


def taking(
    name: str, operator: str, types: tuple[DType, ...], edition: str, title: str
) -> OperationRule:
    """The rule of a function that an operator computes of these types."""
    return TypeRule(
        admit=frozenset(types),
        result=RESULTS.get(OPERATIONS[name].family, same),
        extra_results=(always(dt.int64),) * (len(FIELDS.get(name, ())) - 1),
        why=f"{operator} of {edition} takes {listed(d.name for d in types)}",
        note=f"{title} computes this with {operator}",
    )


def _rule(name: str, operator: str, history: str, opset: int) -> OperationRule:
    types = admitted(history, opset)
    if not types:
        return refuse(f"ONNX has {operator} for this from opset {history.split()[0]} on")
    if name == "pow":
        return power(types, admitted(EXPONENTS, opset), opset)
    return taking(name, operator, types, f"opset {opset}", "ONNX")


def _operations(opset: int) -> dict[str | Family, OperationRule]:
    rules: dict[str | Family, OperationRule] = {
        name: refuse(f"ONNX has no operator for {name}") for name in OPERATIONS
    }
    return rules | {name: _rule(name, *row, opset) for name, row in operators().items()}


_opsets: dict[int, Policy] = {}


def of_opset(opset: int) -> Policy:
    """Return the policy of an opset, 1 to 28: one object, though threads ask at once."""
    return _opsets.get(opset) or _opsets.setdefault(opset, _of_opset(opset))


def _of_opset(opset: int) -> Policy:
    castable = frozenset(admitted(CAST, opset))

    def can_cast(source: DType, target: DType) -> bool:
        return source is target or (source in castable and target in castable)

    version = f"opset {opset}, onnx 1.23.2"
    return Policy(
        name=f"onnx@{opset}",
        title=f"ONNX opset {opset}",
        principle="No promotion: inputs of one type parameter are of one type; each operator lists "
        "the types it takes, by opset.",
        promote=agree,
        dtypes=admitted(TENSORS, opset),
        operations=_operations(opset),
        operand_types=constants,
        scalars=Scalars(fit=in_range),
        kernels={
            "divide": ("truncated_divide",),
            "remainder": ("checked_remainder",),
            "fmod": ("checked_fmod",),
        },
        defaults=NARROW,
        cast=cast_of(opset, first_admitted),
        quantization=quantization_of(opset, admitted),
        can_cast=can_cast,
        refusal="ONNX promotes nothing: inputs of one type parameter must be of one type",
        sources=(
            Source("ONNX Operators (Operators.md, Changelog.md)", "type constraints", version),
            Source("ONNX Operators", "Cast", version),
        ),
        notes=(
            Note(
                "A Python scalar is a constant of the array's type, as onnxscript writes it; it"
                " must fit, and be of the array's kind or a lower one.",
                ranks=[Rank.SCALAR],
            ),
            "Functions that no single operator computes are refused.",
        ),
    )
