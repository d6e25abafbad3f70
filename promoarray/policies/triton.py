"""Triton's language: what the compiler of ``@triton.jit`` kernels makes of dtypes.

The page "Triton Semantics" has its rules for floats in another order than the compiler goes by:
an integer with bfloat16 is float32, though it says bfloat16. A Python number counts only where it
stands in the operation itself; under a name of its own, ``c = 1.5``, it is a tensor of int32 or
float32, and so it is in a function such as ``tl.maximum(x, 1.5)``.

Sources: triton/language/semantic.py (``computation_type_impl``, ``cast``), standard.py and math.py,
3.8.0; the PTX that the compiler makes of casts for compute capability 9.0. Recorded:
conformance/golden/triton.txt (3.8.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INTEGERS, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, Beyond, ToInteger
from promoarray.operations import Family
from promoarray.promotion.cast_rules import FLOAT_DTYPES, CastRule, case, dtypes
from promoarray.promotion.cast_transforms import Through
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.rules import Lattice
from promoarray.promotion.scalars import NARROW, Scalars, in_range
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import TypeRule, refuse, to_bool
from promoarray.promotion.type_steps import always, exact_to, rows, strong_types, supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

EDITIONS = ("3.8",)

# Integers in a row: of one width the unsigned one wins, bfloat16 is apart.
LATTICE = Lattice("""
b1 -> i8
i8 -> u8
u8 -> i16
i16 -> u16
u16 -> i32
i32 -> u32
u32 -> i64
i64 -> u64
u64 -> f16 f32
f8_e4m3fn -> f16
f8_e5m2 -> f16
f16 -> f32
bf16 -> f32
f32 -> f64
""")

DTYPES = rows("b1 u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 f8_e4m3fn f8_e5m2")
DEFAULTS = {**NARROW, dt.weak_int: dt.int32}
_FP8 = frozenset(dtypes("f8_e4m3fn f8_e5m2"))
_HALVES = frozenset(dtypes("f16 bf16"))
_FLOATS = frozenset({Kind.FLOAT})


def promote(a: DType, b: DType) -> DType | None:
    """``computation_type_impl``: a Python number of no higher kind does not count."""
    if Kind.COMPLEX in (a.kind, b.kind):
        return None
    if a.weak and b.weak:
        return a if a.kind.category >= b.kind.category else b
    if a.weak or b.weak:
        number, tensor = (a, b) if a.weak else (b, a)
        if number.kind.category <= tensor.kind.category:
            return tensor
        a, b = DEFAULTS[number], tensor
    if {a, b} == _HALVES:
        return dt.float16
    mixed = {a, b} & _FP8 and {a.kind, b.kind} != _FLOATS
    return None if mixed else LATTICE(a, b)


def maximum_types(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Make a tensor of float32 of bfloat16, too (``_promote_bfloat16_to_float32``)."""
    types = strong_types(policy, operands)  # of every number a tensor is made (``to_tensor``)
    return types if isinstance(types, Refusal) else tuple(map(_no_bf16, types))


def one_signedness(
    policy: PolicyLike, operands: tuple[Operand, ...]
) -> tuple[DType, ...] | Refusal:
    """Refuse to divide integers of both signs; a bool is unsigned, a Python int is signed."""
    types = supported_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    drops = any(t.weak for t in types) and promote(*types) in types
    signed = {policy.strong(t).kind is Kind.INT for t in types}
    if all(t.kind in BITS for t in types) and len(signed) == 2 and not drops:
        return Refusal("it divides no integers of both signednesses: cast one of them")
    return types


def dotted(a: DType, b: DType) -> DType | None:
    """Promote nothing but two formats of float8."""
    return a if a is b or {a, b} <= _FP8 else None


def _no_bf16(dtype: DType) -> DType:
    return dt.float32 if dtype is dt.bfloat16 else dtype


def divided(a: DType, b: DType) -> DType | None:
    """Divide 16-bit floats in float32, but not what two formats of float8 make."""
    common = promote(a, b)
    return dt.float32 if common in _HALVES and not {a, b} <= _FP8 else common


def _summed(dtype: DType) -> DType:
    """Integers narrower than 32 bits are summed in 32; a bool is unsigned."""
    if dtype.kind is Kind.BOOL:
        return dt.uint32
    if dtype.kind in INTEGERS and dtype.bits < 32:
        return dt.int32 if dtype.kind is Kind.INT else dt.uint32
    return dtype


def _extreme(dtype: DType) -> DType:
    """Whatever is narrower than 32 bits is compared in int32 or float32."""
    if dtype.bits >= 32:
        return dtype
    return dt.float32 if dtype.kind is Kind.FLOAT else dt.int32


def _of_bits(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Add and subtract bools as integers of one bit."""
    return "bitwise_xor" if computed is dt.bool else ""


_NO = "triton.language has no "
_math = TypeRule(
    admit=frozenset({dt.float32, dt.float64}), why="triton.language.math takes float32 and float64"
)
_bools = TypeRule(
    admit=frozenset({Kind.BOOL}), why="`and`, `or` and `not` take tensors of bools: compare first"
)
_compared = TypeRule(
    operand_types=strong_types, result=to_bool, note="a Python number is a tensor there"
)
_extremum = TypeRule(operand_types=maximum_types, note="a Python number is a tensor there")

OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: TypeRule(),
    "add": TypeRule(kernel=_of_bits, note="bools add as one bit: True + True is False"),
    "subtract": TypeRule(kernel=_of_bits, note="bools subtract as one bit"),
    "diff": refuse(_NO + "diff"),
    Family.DIVIDE: TypeRule(
        operand_types=one_signedness,
        promote=divided,
        compute=exact_to(dt.float32),
        note="integers, float16 and bfloat16 are divided in float32",
    ),
    Family.FLOOR_DIVIDE: TypeRule(
        operand_types=one_signedness,
        admit=frozenset(BITS),
        why="// takes integers only",
        note="it divides towards zero, as C does",
    ),
    "remainder": TypeRule(
        operand_types=one_signedness,
        promote=divided,
        note="the result has the sign of x1, as in C; float16 and bfloat16 compute in float32",
    ),
    "fmod": refuse(_NO + "fmod: % is"),
    Family.POW: refuse("Triton's tensors have no **"),
    Family.EQUALITY: _compared,
    Family.ORDER: _compared,
    Family.LOGICAL: _bools,
    "logical_xor": refuse(_NO + "logical_xor: write x != y"),
    Family.BITWISE: TypeRule(admit=frozenset(BITS)),
    Family.SHIFT: TypeRule(admit=frozenset(BITS)),
    Family.EXTREMUM: refuse(_NO + "fmax and fmin: tl.maximum leaves NaN out by default"),
    "maximum": _extremum,
    "minimum": _extremum,
    Family.WHERE: TypeRule(),
    Family.CLIP: TypeRule(operand_types=maximum_types, admit=_FLOATS, why="tl.clamp takes floats"),
    Family.FLOAT_UNARY: refuse(_NO + "such function"),
    **dict.fromkeys(("sin", "cos", "exp", "log", "log2", "sqrt"), _math),
    Family.ROUND: refuse(_NO + "such function"),
    "floor": _math,
    "ceil": _math,
    Family.SIGN: refuse(_NO + "such function"),
    "abs": TypeRule(),
    "negative": TypeRule(),
    Family.MATMUL: refuse(_NO + "such product"),
    "matmul": TypeRule(
        operand_types=supported_types,
        promote=dotted,
        admit=_FLOATS | {dt.int8},
        compute=_extreme,
        note="tl.dot takes two of one dtype, or of float8, and adds up in float32 or int32",
    ),
    Family.SUM: TypeRule(compute=_summed, note="8- and 16-bit integers are summed in 32 bits"),
    "prod": refuse(_NO + "prod"),
    "trace": refuse(_NO + "trace"),
    "cumulative_sum": TypeRule(
        compute=lambda d: _summed(_no_bf16(d)), note="bfloat16 is added up in float32"
    ),
    "cumulative_prod": TypeRule(compute=_no_bf16, note="bfloat16 is multiplied in float32"),
    Family.EXTREME: TypeRule(
        compute=_extreme, note="what is narrower than 32 bits is compared, and returned, in 32"
    ),
    Family.POSITION: TypeRule(result=always(dt.int32)),
    Family.SORT: TypeRule(),
    **{
        family: refuse(f"{_NO}{family.value}")
        for family in (
            *(Family.FLOAT_BINARY, Family.LINALG, Family.NORM, Family.FFT, Family.RFFT),
            *(Family.IRFFT, Family.CONCAT, Family.LOSS, Family.TEST, Family.COMPLEX, Family.MEAN),
            *(Family.TRUTH, Family.INDEX, Family.UNIQUE, Family.ISIN, Family.MOVE),
        )
    },
    "searchsorted": refuse(_NO + "searchsorted"),
}


def refuses(source: DType, target: DType) -> str | None:
    """What ``Tensor.to`` does not compile."""
    if {source, target} & _FP8 and {source.kind, target.kind} != _FLOATS:
        return "Triton casts float8 to floats and from floats only: go through float32"
    if source is dt.float64 and target in _FP8:
        return "the compiler fails: it has no conversion of float64 to float8; go through float32"
    return None


_PTX = "the PTX of triton.compile, cuda:90"

CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.TORCH_CUDA),
    cases=(
        case("i16 u16", to_integer=ToInteger.SATURATE),
        *(
            case(
                code,
                "wide",
                transform=Through(wide, DEFAULT._replace(to_integer=ToInteger.SATURATE)),
            )
            for code, wide in (("i8", dt.int16), ("u8", dt.uint16))
        ),
        case("f8_e4m3fn f8_e5m2", overflow=Beyond.LARGEST, infinity=Beyond.LARGEST),
    ),
    refuses=refuses,
    sources=(
        Source("triton/language/semantic.py, cast", _PTX, "3.8.0"),
        Source("PTX ISA, cvt", "integer conversion: .rzi; .satfinite", "9.0"),
    ),
    notes=(
        Note(
            "cvt.rzi saturates in a register of the integer's bits, of 16 for 8-bit integers, of"
            " which the low byte is kept: 40000.0 is -1 as an int8 (CUDA C++: 64).",
            dtypes("ints"),
            of=FLOAT_DTYPES,
        ),
        Note("Floats beyond float8 and Inf become its largest number (.satfinite).", _FP8),
        "Read off the PTX, not run on a device; 4- and 6-bit types are not Triton's.",
    ),
)

TRITON = Policy(
    name="triton@3.8",
    title="Triton 3.8",
    principle=(
        "The wider dtype; integers and bfloat16 make float32, float16 and bfloat16 float16. A"
        " Python number in the operation counts only if its kind is higher."
    ),
    promote=promote,
    dtypes=DTYPES,
    operations=OPERATIONS,
    operand_types=supported_types,
    scalars=Scalars(fit=in_range),
    defaults=DEFAULTS,
    kernels={"floor_divide": ("xla_divide",), "remainder": ("xla_remainder",)},
    cast=CASTS,
    refusal="float8 promotes with floats only (computation_type_impl)",
    sources=(Source("triton/language/semantic.py", "computation_type_impl", "3.8.0"),),
    notes=(
        Note(
            "The page Triton Semantics says that an integer with bfloat16 is bfloat16; the"
            " compiler makes float32 of them.",
            (*DTYPES[:9], dt.bfloat16),
        ),
        "A Python number under a name of its own (c = 1.5) is a tensor of int32 or float32.",
        "A Python number counts as int32 or float32 here; one beyond them is int64 or float64"
        " in Triton where its kind counts.",
    ),
)


def edition(edition: str) -> Policy:
    """Triton ``3.8``."""
    return TRITON
