"""C: the usual arithmetic conversions, for what the C port of a line gives.

Integers narrower than int become int first; an unsigned integer of the same or a higher rank wins.
A Python int is the literal's int, a float a double. Functions are those of <tgmath.h>.

Sources: ISO/IEC 9899:2018, 6.3.1.1 (integer promotions), 6.3.1.8 (usual arithmetic conversions),
6.3.1.4 (floats to integers: undefined beyond the type), 6.5.7 (shifts), 7.25. Recorded:
conformance/golden/c_x86_64.txt and c_arm64.txt (gcc 12.2.0; the latter run under qemu 7.2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.operations import Family, Form
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule, case
from promoarray.promotion.cast_transforms import Through
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import WIDE, Scalars, of_int64, passing, wrap
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import any_array
from promoarray.promotion.type_rules import TypeRule, refuse, to_bool
from promoarray.promotion.type_steps import NO_ORDER, component, rows, strong_types, with_wide_ints

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

EDITIONS = ("x86-64", "arm64")

DTYPES = rows("b1 i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64 c32 c64 c128")
DEFAULTS = {**WIDE, dt.weak_int: dt.int32}


def integer_promoted(dtype: DType) -> DType:
    """The integer promotions (6.3.1.1): int for what is narrower."""
    return dt.int32 if dtype.kind in BITS and dtype.bits < 32 else dtype


def promote(a: DType, b: DType) -> DType:
    """The usual arithmetic conversions (6.3.1.8)."""
    a, b = (integer_promoted(DEFAULTS.get(d, d)) for d in (a, b))
    if a.kind in BITS and b.kind in BITS:
        return max(a, b, key=lambda d: (d.bits, d.kind is Kind.UINT))
    inexact = [d for d in (a, b) if d.kind in INEXACT]
    part = max((d.part for d in inexact), key=lambda d: d.bits)
    is_complex = any(d.kind is Kind.COMPLEX for d in inexact)
    return part.complexified or part if is_complex else part


def literals(
    policy: PolicyLike, name: str, operands: tuple[Operand, ...], form: Form
) -> tuple[Operand, ...]:
    """Let an int be a literal: an int, or a long where that does not hold it (6.4.4.1)."""
    return with_wide_ints(operands)


def doubles(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Let an integer be a double (<tgmath.h>)."""
    types = strong_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    return tuple(dt.float64 if t.kind in BITS else t for t in types)


def shifted(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Let the count of a shift have no say (6.5.7)."""
    types = strong_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    return (
        tuple(integer_promoted(t) for t in types[:1]) if {t.kind for t in types} <= BITS else types
    )


@passing()
def converted(value: Any, dtype: DType) -> Any:
    """Convert a literal of at most 64 bits: integers keep its low ones."""
    return wrap(of_int64(value), dtype)


def in_float(rule: OperationRule) -> OperationRule:
    """Evaluate _Float16 in float (FLT_EVAL_METHOD): an integer beside it is a float, not Inf."""

    def planned(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        plan = rule(policy, name, operands)
        if isinstance(plan, Refusal) or dt.float16 not in plan.inputs:
            return plan
        return plan._replace(compute=dt.float32, inputs=(dt.float32,) * len(plan.inputs))

    return planned


_NO = "C has no "
_arithmetic = TypeRule(compute=integer_promoted)
_integers = frozenset(BITS)
_REALS = frozenset({dt.float32, dt.float64})
_INEXACT = frozenset({*_REALS, dt.complex64, dt.complex128})
_NO_HALF = "<tgmath.h> takes float, double and, where it has a function of them, complex numbers"
_math = TypeRule(operand_types=doubles, admit=_INEXACT, why=_NO_HALF)
_real_math = replace(_math, admit=_REALS)
_int = "an int in C, here a bool, which becomes an int as soon as it is computed with"

OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: in_float(_arithmetic),
    "diff": refuse(_NO + "diff"),
    Family.DIVIDE: in_float(replace(_arithmetic, note="integers divide as integers, towards zero")),
    Family.FLOOR_DIVIDE: replace(
        _arithmetic, admit=_integers, why="% and, for //, / divide integers, towards zero"
    ),
    "fmod": _real_math,
    Family.POW: replace(_math, note="C has no **: pow, of integers in double"),
    Family.EQUALITY: in_float(TypeRule(result=to_bool, note=_int)),
    Family.ORDER: in_float(
        TypeRule(admit=frozenset({*BITS, Kind.FLOAT}), result=to_bool, why=NO_ORDER, note=_int)
    ),
    Family.LOGICAL: TypeRule(result=to_bool, note=_int),
    Family.BITWISE: replace(_arithmetic, admit=_integers),
    Family.SHIFT: TypeRule(
        operand_types=shifted,
        admit=_integers,
        note="the type of the left operand; a count beyond its bits is undefined in C, here 0",
    ),
    Family.EXTREMUM: refuse(_NO + "maximum: x > y ? x : y is where"),
    "fmax": _real_math,
    "fmin": _real_math,
    Family.FLOAT_BINARY: _real_math,
    "logaddexp": refuse(_NO + "logaddexp"),
    Family.WHERE: _arithmetic,
    Family.FLOAT_UNARY: _math,
    **dict.fromkeys(("expm1", "log1p", "log2", "log10"), _real_math),
    "reciprocal": refuse(_NO + "reciprocal: 1 / x"),
    Family.SIGN: refuse("abs is of int, fabs of floats, and there is neither sign nor square"),
    "negative": _arithmetic,
    "positive": _arithmetic,
    Family.ROUND: _real_math,
    Family.TEST: TypeRule(admit=_REALS, result=to_bool, note=_int),
    Family.COMPLEX: replace(_math, result=component),
    "conj": replace(_math, compute=lambda d: d.complexified or d),
    **{
        family: refuse(f"{_NO}{family.value}: a loop has the types that its variables have")
        for family in (
            *(Family.CLIP, Family.MATMUL, Family.LINALG, Family.NORM, Family.FFT, Family.RFFT),
            *(Family.IRFFT, Family.CONCAT, Family.LOSS, Family.SUM, Family.MEAN, Family.EXTREME),
            *(Family.TRUTH, Family.POSITION, Family.SORT, Family.INDEX, Family.UNIQUE),
            *(Family.ISIN, Family.MOVE),
        )
    },
}


def always_in_place(result: DType, target: DType) -> bool:
    """``x += y`` converts to the type of x, whatever is lost."""
    return True


_UNDEFINED = "What a float becomes in an integer that cannot hold it is undefined in C (6.3.1.4); "
_WIDE = "f16 f32 f64 c32 c64 c128"

CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    cases=(case("u32", _WIDE, transform=Through(dt.int64)),),
    sources=(Source("gcc -O0 and -O3, x86-64", "casts that were run", "12.2.0"),),
    notes=(
        Note(
            _UNDEFINED + "here it is what gcc's code for one number gives: the low bits of an"
            " int32, for uint32 of an int64.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
    ),
)

CASTS_ARM64 = replace(
    CASTS,
    mode=DEFAULT._replace(to_integer=ToInteger.ARM64_SCALAR),
    cases=(),
    sources=(Source("gcc -O0 and -O3, ARM64, under qemu 7.2", "casts that were run", "12.2.0"),),
    notes=(
        Note(
            _UNDEFINED + "here it is what gcc's code for one number gives: Arm's conversions"
            " saturate at 32 or 64 bits, signed or not as the integer is, and NaN is 0.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
    ),
)

X86_64 = Policy(
    name="c@x86-64",
    title="C",
    principle=(
        "The usual arithmetic conversions: what is narrower than int becomes int, the unsigned"
        " type of a rank wins, a literal is an int or a double."
    ),
    promote=promote,
    dtypes=DTYPES,
    operations=OPERATIONS,
    operand_types=strong_types,
    by_value=literals,
    scalars=Scalars(fit=converted),
    defaults=DEFAULTS,
    inplace=always_in_place,
    assigns=any_array,
    kernels={
        "divide": ("truncated_divide",),
        "floor_divide": ("truncated_divide",),
        "remainder": ("checked_fmod",),
    },
    cast=CASTS,
    sources=(Source("ISO/IEC 9899:2018", "6.3.1.8 Usual arithmetic conversions"),),
    notes=(
        "A Python int is an int, and a long where 32 bits do not hold it.",
        "Integers wrap; of signed ones C leaves that undefined.",
        "Division by zero raises; C leaves it undefined.",
        "gcc 12 has __bf16 to store only; char is int8 on x86-64, uint8 on ARM64.",
    ),
)

POLICIES = {
    "x86-64": X86_64,
    "arm64": X86_64.derive("c@arm64", title="C on ARM64", cast=CASTS_ARM64),
}


def edition(edition: str) -> Policy:
    """C as gcc compiles it for ``x86-64`` or ``arm64``."""
    return POLICIES[edition]
