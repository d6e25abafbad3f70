"""Ascend aclnn: PyTorch's category rule with the wide unsigned integers left out.

The page is CANN's "互推导关系" (mutual derivation): what an API such as aclnnAdd computes in
when its tensors differ. Nothing here was run on a device or comes from CANN's source code.

Two editions. ``aclnn@8.0``, the bare ``aclnn``, is the page as CANN 6.3 to 8.0 printed it;
``aclnn@8.5`` is that of 8.5 and later: ``torch.promote_types`` but for bfloat16 with complex32.

What the page contradicts itself in, and how it is settled:

* row bf16, column f16 prints f64, its mirror f32. It is f32 both ways: the only cell without a
  mirror, which would make the table non-associative, and later editions print f32.
* f64 with c32 and c64 prints c64 both ways, which loses precision. Kept in 8.0; c128 in 8.5.
* "非u16、u32、u32" means u16, u32 and u64; bool with bool, which the prose omits, is bool.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, ORDERED, REALS, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.operations import Family
from promoarray.promotion.cast_rules import FLOAT_DTYPES, INTEGER_DTYPES, CastRule, dtypes
from promoarray.promotion.linalg_rules import LAPACK, linear
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.ranks import ArraysFirst
from promoarray.promotion.rules import Table
from promoarray.promotion.scalars import NARROW, Scalars, wrap
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import TypeRule, refuse, to_bool
from promoarray.promotion.type_steps import NO_ORDER, always, component, exact_to, supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

# The page in its order (s8 there is i8 here); row bf16, column f16 corrected as said above.
TABLE = Table("""
         f32   f16   f64   bf16  i8    u8    i16   i32   i64   c32   c64   c128
    f32  f32   f32   f64   f32   f32   f32   f32   f32   f32   c64   c64   c128
    f16  f32   f16   f64   f32   f16   f16   f16   f16   f16   c32   c64   c128
    f64  f64   f64   f64   f64   f64   f64   f64   f64   f64   c64   c64   c128
    bf16 f32   f32   f64   bf16  bf16  bf16  bf16  bf16  bf16  c32   c64   c128
    i8   f32   f16   f64   bf16  i8    i16   i16   i32   i64   c32   c64   c128
    u8   f32   f16   f64   bf16  i16   u8    i16   i32   i64   c32   c64   c128
    i16  f32   f16   f64   bf16  i16   i16   i16   i32   i64   c32   c64   c128
    i32  f32   f16   f64   bf16  i32   i32   i32   i32   i64   c32   c64   c128
    i64  f32   f16   f64   bf16  i64   i64   i64   i64   i64   c32   c64   c128
    c32  c64   c32   c64   c32   c32   c32   c32   c32   c32   c32   c64   c128
    c64  c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c64   c128
    c128 c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128  c128
""")

# 8.5 no longer narrows float64 beside a smaller complex dtype.
TABLE_8_5 = Table.from_cells(
    TABLE.cells
    | {
        pair: dt.complex128
        for small in (dt.complex32, dt.complex64)
        for pair in ((dt.float64, small), (small, dt.float64))
    }
)

WIDE_UNSIGNED = (dt.uint16, dt.uint32, dt.uint64)
DTYPES = (*TABLE.dtypes, dt.bool, *WIDE_UNSIGNED)

ADD_DTYPES = frozenset(DTYPES) - {*WIDE_UNSIGNED, dt.complex32}
"""What aclnnAdd, Sub, Mul and Div take, though the table has rows for more."""


def derive(table: Table, a: DType, b: DType) -> DType | None:
    """Read the table, and the prose above it for bool and the wide unsigned integers."""
    if a is b:
        return a
    if a in WIDE_UNSIGNED or b in WIDE_UNSIGNED:
        return None
    if a is dt.bool or b is dt.bool:
        return b if a is dt.bool else a
    return table(a, b)


promote_8_0 = partial(derive, TABLE)
promote_8_5 = partial(derive, TABLE_8_5)


def on_910b(tensor: DType, scalar: DType) -> DType | None:
    """Let a scalar count beside a complex or bool tensor, and floats beside integers (910B)."""
    acl = NARROW[scalar]
    if Kind.COMPLEX in (tensor.kind, acl.kind):
        return promote_8_0(tensor, acl)
    if tensor.kind is not Kind.FLOAT and (acl.kind is Kind.FLOAT or tensor is dt.bool):
        return promote_8_0(tensor, acl)
    return tensor


def on_950(tensor: DType, lower: DType) -> DType | None:
    """Let a scalar raise the category and nothing else: PyTorch's wrapped numbers (950)."""
    if lower.kind.category <= tensor.kind.category:
        return tensor
    if lower.kind is Kind.COMPLEX and tensor.kind is Kind.FLOAT:
        return tensor.complexified
    return promote_8_5(tensor, NARROW.get(lower, lower))


def _to_bools(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    entered = supported_types(policy, operands)
    return entered if isinstance(entered, Refusal) else (dt.bool,)


OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: TypeRule(),
    Family.DIVIDE: TypeRule(
        compute=exact_to(dt.float32), note="Integers and bools divide in float32."
    ),
    Family.FLOOR_DIVIDE: TypeRule(
        admit=ORDERED,
        compute=lambda dtype: dt.float32 if dtype is dt.bool else dtype,
        note="bool is divided in float32.",
    ),
    "fmod": refuse("the documents at hand do not have aclnnFmod", unknown=True),
    "remainder": TypeRule(
        admit=frozenset({dt.int32, dt.int64, Kind.FLOAT}),
        why="aclnnRemainder takes int32, int64 and floats after derivation",
    ),
    Family.POW: TypeRule(admit=NUMBERS, why="aclnnPow refuses bool with bool"),
    Family.EQUALITY: TypeRule(result=to_bool),
    Family.ORDER: TypeRule(admit=ORDERED, result=to_bool, why=NO_ORDER),
    Family.LOGICAL: TypeRule(
        operand_types=_to_bools, note="Each operand becomes bool; nothing is derived."
    ),
    Family.BITWISE: TypeRule(admit=BITS),
    Family.SHIFT: TypeRule(admit=INTEGERS),
    Family.EXTREMUM: TypeRule(admit=ORDERED, why=NO_ORDER),
    Family.FLOAT_BINARY: TypeRule(admit=ORDERED, compute=exact_to(dt.float32)),
    Family.WHERE: TypeRule(),
    Family.CLIP: TypeRule(admit=ORDERED, why=NO_ORDER),
    Family.MATMUL: TypeRule(admit=NUMBERS),
    **linear(
        TypeRule(
            admit=LAPACK, why="linear algebra takes float32, float64, complex64 and complex128"
        ),
        index=dt.int64,
        norms=TypeRule(admit=INEXACT),
        fft=TypeRule(
            admit=LAPACK | BITS,
            compute=exact_to(dt.float32),
            note="Bools and integers are transformed in float32.",
        ),
    ),
    Family.SORT: TypeRule(admit=ORDERED, why=NO_ORDER),
    Family.INDEX: TypeRule(admit=ORDERED, result=always(dt.int64), why=NO_ORDER),
    Family.CONCAT: TypeRule(note="A left fold of the table."),
    Family.LOSS: TypeRule(admit=INEXACT),
    Family.FLOAT_UNARY: TypeRule(compute=exact_to(dt.float32)),
    Family.SIGN: TypeRule(admit=NUMBERS),
    "abs": TypeRule(admit=NUMBERS, result=component),
    Family.ROUND: TypeRule(admit=REALS),
    Family.TEST: TypeRule(result=to_bool),
    Family.COMPLEX: TypeRule(result=component),
    "conj": TypeRule(),
    Family.SUM: TypeRule(compute=exact_to(dt.int64)),
    Family.MEAN: TypeRule(admit=INEXACT),
    Family.EXTREME: TypeRule(admit=ORDERED, why=NO_ORDER),
    Family.TRUTH: TypeRule(result=to_bool),
    Family.POSITION: TypeRule(admit=ORDERED, result=always(dt.int64), why=NO_ORDER),
}


def can_cast(source: DType, target: DType) -> bool:
    """Say whether a computed dtype may be cast to that of ``out`` (互转换关系).

    Refused are complex to anything else, float to integer and anything to bool. Documentation from
    2026-07 also allows float to integer and complex to float; this is the rule before it.
    """
    lowered = source.kind.category > target.kind.category
    return not lowered or (source.kind in INTEGERS and target.kind in INTEGERS)


CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.ACLNN),
    sources=(Source("Ascend aclnn documentation", "casts", "CANN 8.5"),),
    notes=(
        Note(
            "NaN is 0 in integers, floats overflow to Inf, integers keep the low bits"
            " (documented).",
            INTEGER_DTYPES,
            of=FLOAT_DTYPES,
        ),
        Note(
            "Floats to integers are the Ascend 950's: int32 and int64 saturate; int8 and int16"
            " keep the low bits of a saturated int32, unsigned integers those of a saturated"
            " int64.",
            dtypes("i8 i16 i32 i64"),
            of=FLOAT_DTYPES,
        ),
        "For the 910B overflow to 8 and 16 bits is not documented; the model is the 950's.",
        Note(
            "No source defines casts from and to floats of 8 bits and fewer; here they are"
            " ml_dtypes'.",
            dtypes("float8 scale float6 float4"),
            borrowed=True,
        ),
    ),
)

_PAGE = "互推导关系 (mutual derivation)"
_DIFFERS = Note(
    "float64 with complex32 or complex64 is complex64 by CANN 8.0's page (aclnn@8.0),"
    " complex128 by that of 8.5 (aclnn@8.5).",
    dtypes("f64 c32 c64 c128"),
)

V8_0 = Policy(
    name="aclnn@8.0",
    title="Ascend aclnn, CANN 8.0",
    principle=(
        "The mutual derivation table of the page; a Python scalar with a float tensor becomes "
        "its dtype, and else an int64, float32 or complex64 of the table where its kind is "
        "higher."
    ),
    promote=promote_8_0,
    dtypes=DTYPES,
    operations=OPERATIONS,
    operand_types=ArraysFirst(promote_8_0, scalar=on_910b),
    scalars=Scalars(fit=wrap),
    defaults=NARROW,
    cast=CASTS,
    can_cast=can_cast,
    refusal=(
        f"the table says NA ({_PAGE}): u16, u32 and u64 go only with themselves; the device says"
        " 'Self dtype ... and other dtype ... can not promote dtype.' (status 161002)"
    ),
    sources=(Source(_PAGE, "推导规则", "CANN 8.0"),),
    notes=(
        Note(
            "bfloat16 with float16 is float32 both ways; the page prints float64 one way.",
            dtypes("bf16 f16 f32 f64"),
        ),
        _DIFFERS,
        Note(
            "A scalar enters as on the 910B: a float tensor keeps its dtype.", ranks=[Rank.SCALAR]
        ),
        "Reductions and functions of one argument follow torch_npu's conventions, which are"
        " PyTorch's; so do linear algebra, Fourier transforms, sets and sorting.",
    ),
)

_AS_TORCH = ArraysFirst(promote_8_5, scalar=on_950, zero_d=on_950)
V8_5 = V8_0.derive(
    "aclnn@8.5",
    title="Ascend aclnn, CANN 8.5",
    principle=(
        "The mutual derivation table as later documented, which is PyTorch's but for bfloat16 "
        "with complex32; Python scalars count only by their kind."
    ),
    promote=promote_8_5,
    operations=OPERATIONS
    | {
        Family.EQUALITY: TypeRule(operand_types=_AS_TORCH, result=to_bool),
        Family.ORDER: TypeRule(
            operand_types=_AS_TORCH, admit=ORDERED, result=to_bool, why=NO_ORDER
        ),
        Family.EXTREMUM: TypeRule(operand_types=_AS_TORCH, admit=ORDERED, why=NO_ORDER),
    },
    operand_types=ArraysFirst(promote_8_5, scalar=on_950),
    ranks=True,
    sources=(Source(_PAGE, "推导规则", "CANN 8.5"),),
    notes=(
        Note(
            "bfloat16 with complex32 is complex32 (torch.promote_types: complex64).",
            dtypes("bf16 c32 c64"),
        ),
        _DIFFERS,
        Note(
            "A scalar enters as on the 950; one 0-d operand does so in comparisons and extrema"
            " only.",
            ranks=[Rank.SCALAR, Rank.ZERO_D],
        ),
        "Reductions and functions of one argument follow torch_npu's conventions, which are"
        " PyTorch's; so do linear algebra, Fourier transforms, sets and sorting.",
    ),
)


def supported(policy: Policy) -> Policy:
    """Return the policy that also refuses what aclnnAdd, Sub, Mul and Div do not list.

    Examples
    --------
    >>> strict = supported(as_policy("aclnn"))
    >>> strict.plan("add", (Operand(dt.uint16), Operand(dt.uint16)))
    Refusal(reason='aclnn add does not list uint16')
    """

    def listed(rule: OperationRule) -> OperationRule:
        def checked(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
            for operand in operands:
                if not operand.type.weak and operand.type not in ADD_DTYPES:
                    return Refusal(f"aclnn {name} does not list {operand.type.name}")
            return rule(policy, name, operands)

        return checked

    narrowed = {f: listed(policy.operations[f]) for f in (Family.ARITHMETIC, Family.DIVIDE)}
    return policy.derive(
        f"{policy.name}+check_support", operations={**policy.operations, **narrowed}
    )


EDITIONS = ("8.0", "8.5")


def edition(edition: str, *, check_support: bool = False) -> Policy:
    """Return the policy of an edition; ``check_support`` refuses what the operators do not list."""
    policy = {"8.0": V8_0, "8.5": V8_5}[edition]
    return supported(policy) if check_support else policy
