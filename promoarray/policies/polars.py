"""Polars: what expressions over columns of numbers give.

Columns promote as NumPy's arrays do, but int64 with uint64, which is Int128 there and refused here,
and float16 with 16-bit integers. A Python int beside a column of integers counts by value, as the
first integer of the column's kind that holds it; one beside a float, as a Python float beside a
float, does not count.

Sources: polars-core/src/utils/supertype.rs (``get_supertype``), 2.1.0; User guide, "Casting".
Recorded: conformance/golden/polars.txt (2.1.0).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INTEGERS, NUMBERS, DType, Kind
from promoarray.operations import Family, Form, operation
from promoarray.policies.numpy import numpy_2
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule
from promoarray.promotion.default_rules import operations
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import COMPARED, WIDE, Scalars, bounds, exactly, in_range
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import TypeRule, refuse, to_bool
from promoarray.promotion.type_steps import always, exact_to, rows, supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

EDITIONS = ("2.1",)

DTYPES = rows("i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 b1")
DEFAULTS = {**WIDE, dt.weak_int: dt.int32}
_SIGNED, _UNSIGNED = rows("i8 i16 i32 i64"), rows("u8 u16 u32 u64")


def promote(a: DType, b: DType) -> DType | None:
    """``get_supertype``; a float that is weak makes float64 of integers."""
    if Kind.COMPLEX in (a.kind, b.kind):
        return None
    if a.weak or b.weak:
        weak, column = (a, b) if a.weak else (b, a)
        if column.weak:
            return weak if weak.kind.category > column.kind.category else column
        if weak is dt.weak_bool:
            return column
        if column.kind is Kind.FLOAT:
            return column
        return dt.float64 if weak is dt.weak_float else dt.int32
    common = numpy_2.promote_types(a, b)
    return None if common is dt.float64 and {a.kind, b.kind} <= BITS else common


def by_value(
    policy: PolicyLike, name: str, operands: tuple[Operand, ...], form: Form
) -> tuple[Operand, ...]:
    """Let a Python int enter as the first integer of the column's kind that holds it."""
    kinds = {o.type.kind for o in operands if o.rank is not Rank.SCALAR}
    if name == "pow":
        kinds = {Kind.FLOAT}  # the base alone decides
    entered = [_literal(o, kinds) for o in operands]
    if dt.uint64 in (o.type for o in operands) and any(
        o.rank is Rank.SCALAR and o.type is dt.weak_int and o.value < 0 for o in operands
    ):
        compared = operation(name).family in COMPARED
        return tuple(
            Operand(o.type if compared and not o.type.weak else dt.int64) for o in operands
        )
    return tuple(entered)


def _literal(operand: Operand, kinds: set[Kind]) -> Operand:
    """What a Python int is beside columns of these kinds."""
    value = operand.value
    if operand.type is not dt.weak_int or operand.rank is not Rank.SCALAR or Kind.FLOAT in kinds:
        return Operand(operand.type, operand.rank)
    of = _UNSIGNED if Kind.UINT in kinds and value >= 0 else _SIGNED
    of = _SIGNED[2:] if kinds <= {Kind.BOOL} else of
    return Operand(next((d for d in of if bounds(d)[0] <= value <= bounds(d)[1]), of[-1]))


def common_number(a: DType, b: DType) -> DType | None:
    """What is divided or compared: integers whose common type is Int128 as float64."""
    return promote(a, b) or (dt.float64 if {a.kind, b.kind} <= BITS else None)


def bits(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Refuse a bool beside an integer."""
    types = supported_types(policy, operands)
    if not isinstance(types, Refusal) and len({t.kind is Kind.BOOL for t in types}) > 1:
        return Refusal("Polars has no bitwise operation of bools with integers")
    return types


def power(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Integers keep the type of the base, beside a float they are that float."""
    types = supported_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    x, y = map(policy.strong, types)
    if {Kind.BOOL, Kind.COMPLEX} & {x.kind, y.kind}:
        return Refusal("Polars raises no bools, and has no complex numbers")
    number = types[1] is dt.weak_float and x.kind in INTEGERS
    common = dt.float64 if number else y if x.kind in INTEGERS and y.kind is Kind.FLOAT else x
    return policy.make_plan(name, common, common, 2)


def summed(dtype: DType) -> DType:
    """8- and 16-bit integers are summed in int64, bools counted in uint32."""
    if dtype.kind is Kind.BOOL:
        return dt.uint32
    return dt.int64 if dtype.kind in INTEGERS and dtype.bits <= 16 else dtype


def _multiplied(dtype: DType) -> DType:
    return dtype if dtype.kind is Kind.FLOAT or dtype is dt.uint64 else dt.int64


_double = TypeRule(compute=exact_to(dt.float64), note="integers compute in float64")
_compared = numpy_2.exactly_compared(TypeRule(promote=common_number, result=to_bool))
_COMPARISONS = "equal not_equal less less_equal greater greater_equal"
_no_bool = TypeRule(admit=NUMBERS, why="Polars does not do so with bools")
_positions = TypeRule(result=always(dt.uint32), note="positions are UInt32")

OPERATIONS: dict[str | Family, OperationRule] = {
    **operations(WIDE),
    Family.ARITHMETIC: _no_bool,
    "add": TypeRule(
        compute=lambda d: dt.uint32 if d is dt.bool else d, note="two bools are counted in UInt32"
    ),
    Family.DIVIDE: replace(_double, promote=common_number),
    Family.FLOOR_DIVIDE: _no_bool,
    Family.POW: power,
    Family.EQUALITY: _compared,
    Family.ORDER: _compared,
    Family.BITWISE: TypeRule(operand_types=bits, admit=frozenset(BITS)),
    "bitwise_invert": TypeRule(admit=frozenset(BITS)),
    Family.SHIFT: refuse("Polars' expressions have no shifts"),
    Family.FLOAT_UNARY: TypeRule(admit=NUMBERS, compute=exact_to(dt.float64)),
    **dict.fromkeys(("exp", "log1p", "sqrt", "log", "log10"), _double),
    Family.ROUND: _no_bool,
    Family.SIGN: _no_bool,
    "positive": TypeRule(),
    "negative": TypeRule(
        admit=frozenset({Kind.INT, Kind.FLOAT}), why="Polars negates neither bools nor UInts"
    ),
    Family.TEST: TypeRule(admit=NUMBERS, result=to_bool),
    "logical_not": TypeRule(admit=frozenset(BITS), note="not_ of integers inverts their bits"),
    Family.SUM: TypeRule(compute=summed, note="8 and 16 bits are summed in Int64, bools in UInt32"),
    "prod": TypeRule(compute=_multiplied),
    "cumulative_prod": TypeRule(compute=_multiplied),
    Family.MEAN: _double,
    "mean": _double,
    Family.EXTREME: TypeRule(),
    Family.POSITION: _positions,
    Family.INDEX: _positions,
    **{
        family: refuse(f"Polars has no {family.value}")
        for family in (Family.MATMUL, Family.LINALG, Family.FFT, Family.RFFT, Family.IRFFT)
    },
}

CASTS = CastRule(
    sources=(Source("polars.Expr.cast", "asked", "2.1.0"),),
    notes=(
        Note(
            "Polars refuses what the integer does not hold, NaN too, and makes it null with"
            " strict=False; here such values are NumPy's.",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES | INTEGER_DTYPES,
        ),
    ),
)

POLARS = Policy(
    name="polars@2.1",
    title="Polars 2.1",
    principle=(
        "Columns promote as NumPy's arrays; a Python int beside integers counts by value, beside a"
        " float no number counts."
    ),
    promote=promote,
    dtypes=DTYPES,
    operations=OPERATIONS,
    operand_types=supported_types,
    by_value=by_value,
    scalars=Scalars(fit=in_range, fit_compared=exactly),
    defaults=DEFAULTS,
    kernels={
        **{name: (f"nan_last_{name}",) for name in _COMPARISONS.split()},
        "floor_divide": ("floor_of_quotient",),
        "remainder": ("remainder_of_quotient",),
        "sign": ("sign_keeping_zero",),
    },
    cast=CASTS,
    refusal="Int64 with UInt64 is Int128 in Polars, which promoarray has not; complex is no dtype",
    sources=(Source("polars-core/src/utils/supertype.rs", "get_supertype", "2.1.0"),),
    notes=(
        'Of expressions (pl.col("x") + 1). A Series with a number it does not hold raises instead.',
        "NaN equals itself, and is greater than every number.",
        "An integer divided by zero with // or % is null in Polars, here 0.",
    ),
)


def edition(edition: str) -> Policy:
    """Polars ``2.1``."""
    return POLARS
