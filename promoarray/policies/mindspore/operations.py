"""MindSpore: aclnn's table without complex32, and bools go with wide unsigned integers too.

Measured on 2.10.0. No complex Python scalar is taken; a real one raises the category of a tensor
and nothing else, and u16, u32 and u64 take only a bool one. A 0-d tensor is a tensor, but not for
``*`` and ``/``: beside an array it counts as a scalar there, and the wide unsigned integers take
any real scalar but no bool tensor. mindspore.ops are the functions; where the operator of a Tensor
does otherwise, the operator counts and the function is in ``functions``.

MindSpore is the framework of the Ascend devices, and its table is that of aclnn 8.5: it is taken
from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, NUMBERS, ORDERED, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, ToInteger
from promoarray.operations import Family
from promoarray.policies.aclnn import TABLE_8_5, WIDE_UNSIGNED, promote_8_5
from promoarray.policies.mindspore.scalars import STORED, fit, fit_compared
from promoarray.promotion.cast_quirks import NARROW_FLOATS, RECORDED, SAID_BY_X86, rounds_twice
from promoarray.promotion.cast_rules import FLOAT_DTYPES, CastRule, case, dtypes
from promoarray.promotion.cast_transforms import Through, real_part_counts
from promoarray.promotion.linalg_rules import AS_COMPLEX, LAPACK, linear, uniques
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import CONVERSIONS, Policy
from promoarray.promotion.ranks import ArraysFirst, types_of
from promoarray.promotion.rules import fold
from promoarray.promotion.scalars import NARROW, Scalars
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import any_array
from promoarray.promotion.type_rules import (
    PROMOTING,
    Arrays,
    TypeRule,
    refuse,
    same,
    to_bool,
    with_arrays,
)
from promoarray.promotion.type_steps import (
    NO_ORDER,
    agreed,
    always,
    component,
    exact_to,
    of_one_dtype,
    supported_types,
)

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperandTypes, OperationRule, PolicyLike

DTYPES = (*(d for d in TABLE_8_5.dtypes if d is not dt.complex32), dt.bool, *WIDE_UNSIGNED)


def promote(a: DType, b: DType) -> DType | None:
    """Promote as aclnn does, and bool with anything."""
    if a is dt.bool or b is dt.bool:
        return b if a is dt.bool else a
    return promote_8_5(a, b)


def raised(tensor: DType, scalar: DType) -> DType | None:
    """Let a scalar raise the category; of the wide unsigned, only a bool goes along."""
    if tensor in WIDE_UNSIGNED and scalar.kind is not Kind.BOOL:
        return None
    return higher(tensor, scalar)


def higher(tensor: DType, lower: DType) -> DType:
    """Let a scalar, or 0-d tensor, of a higher category replace the dtype."""
    return tensor if lower.kind.category <= tensor.kind.category else NARROW.get(lower, lower)


def bits(tensor: DType, scalar: DType) -> DType | None:
    """Take a bool or int by its bits (shifts)."""
    return tensor if scalar.kind.category <= dt.int8.kind.category else None


def summed(dtype: DType) -> DType:
    """What a sum is in: int64 for bool and the integers, but for the wide unsigned ones."""
    return dt.int64 if dtype.kind in BITS and dtype not in WIDE_UNSIGNED else dtype


def _at_least_float32(dtype: DType) -> DType:
    return dtype if dtype in LAPACK else dt.float32


def real(enter: OperandTypes) -> OperandTypes:
    """Refuse complex Python scalars, as everything in MindSpore does."""

    def checked(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
        if dt.weak_complex in {operand.type for operand in operands}:
            return Refusal("MindSpore takes no complex Python scalars")
        return enter(policy, operands)

    return checked


def _product(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Fold tensors, and apart from them what is 0-d or a scalar; then the higher category wins."""
    entered = supported_types(policy, operands)
    if isinstance(entered, Refusal):
        return entered
    arrays = types_of(operands, Rank.ARRAY)
    lower = list(map(policy.strong, types_of(operands, Rank.ZERO_D, Rank.SCALAR)))
    folds = [fold(promote_8_5, dtypes) for dtypes in (arrays, lower) if dtypes]
    common = None if None in folds else fold(higher, (d for d in folds if d))
    return Refusal(_WIDE_APART) if common is None else (common,)


_WIDE_APART = "here uint16, uint32 and uint64 tensors do not promote with other tensors"
_ONE_DTYPE = "the tensors must have one dtype: this function promotes nothing"

COMMON = real(ArraysFirst(promote, scalar=raised))
PRODUCT = real(_product)
SCALED = real(ArraysFirst(promote_8_5, scalar=higher))


def _multiplied(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Let a Python scalar raise the category of a 0-d tensor; the function would fold the two."""
    arrays = any(operand.rank is Rank.ARRAY for operand in operands)
    return (PRODUCT if arrays else SCALED)(policy, operands)


AGREED = real(ArraysFirst(agreed, scalar=raised, why=_ONE_DTYPE))
BIT_BY_BIT = ArraysFirst(
    agreed,
    scalar=bits,
    why=_ONE_DTYPE,
    why_scalar="a shift takes no Python scalar but a bool or an int",
)


def admitting(test: Callable[[Operand], bool], why: str, rule: OperationRule) -> OperationRule:
    """Make a rule that looks at each operand before anything is promoted."""

    def checked(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        return rule(policy, name, operands) if all(map(test, operands)) else Refusal(why)

    return checked


def _no_two_bools(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Refuse two bools, as mindspore.ops.add and sub do."""
    if all(operand.type in (dt.bool, dt.weak_bool) for operand in operands):
        return Refusal(f"mindspore.ops has no {name} of two bools")
    return PROMOTING(policy, name, operands)


def _remainder(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Compose x - floor(x / y) * y, whose product takes no wide unsigned with a bool tensor."""
    first, second = operands
    if first.type in WIDE_UNSIGNED and second.type is dt.bool and second.rank is Rank.ARRAY:
        return Refusal("the product inside takes no wide unsigned integer with a bool")
    return PROMOTING(policy, name, operands)


def _copysign(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Answer the first operand's dtype, float32 for anything but float16, float32 and float64."""
    first, second = operands
    kinds = {first.type.kind, second.type.kind}
    if Kind.COMPLEX in kinds or first.type.kind is Kind.BOOL or first.rank is Rank.SCALAR:
        return Refusal("copysign takes no complex dtypes, and no bool or scalar first")
    result = first.type if first.type in (dt.float16, dt.float32, dt.float64) else dt.float32
    return policy.make_plan(name, result, result, len(operands))


_LOGICAL = admitting(
    lambda operand: operand.rank is not Rank.SCALAR or operand.type is dt.weak_bool,
    "logical functions take only bool Python scalars",
    TypeRule(result=to_bool),
)
_BITWISE = TypeRule(admit=BITS)
_quotient = partial(TypeRule, compute=exact_to(dt.float32))
_SORTED = TypeRule(
    admit=frozenset({dt.uint8, Kind.INT, dt.float16, dt.float32, dt.float64}),
    why="sort takes uint8, signed integers, float16, float32 and float64",
)
_FMAX = frozenset({dt.int32, dt.int64, dt.float16, dt.float32, dt.float64})
_TWO_FLOATS = frozenset({dt.float32, dt.float64})

_OPERATIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: TypeRule(),
    "multiply": TypeRule(operand_types=_multiplied),
    Family.DIVIDE: _quotient(operand_types=_multiplied),
    Family.FLOOR_DIVIDE: TypeRule(),
    "fmod": refuse("mindspore.ops.fmod was not asked", unknown=True),
    "remainder": admitting(
        lambda operand: operand.type not in WIDE_UNSIGNED,
        "the % operator takes no uint16, uint32 or uint64",
        TypeRule(),
    ),
    Family.POW: TypeRule(),
    Family.EQUALITY: TypeRule(result=to_bool),
    "equal": TypeRule(operand_types=real(ArraysFirst(promote, scalar=higher)), result=to_bool),
    Family.ORDER: TypeRule(admit=ORDERED, result=to_bool, why=NO_ORDER),
    Family.LOGICAL: _LOGICAL,
    Family.BITWISE: with_arrays(Arrays.FIRST, _BITWISE),
    "bitwise_invert": TypeRule(admit=BITS),
    Family.SHIFT: TypeRule(operand_types=BIT_BY_BIT, admit=INTEGERS),
    Family.EXTREMUM: TypeRule(admit=ORDERED, why=NO_ORDER),
    "fmax": TypeRule(admit=_FMAX),
    "fmin": TypeRule(admit=_FMAX),
    Family.FLOAT_BINARY: TypeRule(admit=ORDERED),
    "hypot": TypeRule(admit=_TWO_FLOATS),
    "nextafter": TypeRule(operand_types=AGREED, admit=_TWO_FLOATS),
    "logaddexp": admitting(
        lambda operand: operand.type.kind is Kind.FLOAT, "logaddexp takes floats only", TypeRule()
    ),
    "copysign": _copysign,
    Family.WHERE: TypeRule(),
    Family.CLIP: admitting(
        lambda operand: operand.type.kind not in (Kind.BOOL, Kind.COMPLEX),
        "clip takes neither bool nor complex",
        TypeRule(operand_types=ArraysFirst(promote, scalar=higher)),
    ),
    Family.MATMUL: TypeRule(operand_types=AGREED),
    "outer": TypeRule(operand_types=PRODUCT),
    "vecdot": TypeRule(operand_types=PRODUCT, compute=summed),
    "trace": TypeRule(
        admit=NUMBERS - {Kind.FLOAT} | {dt.float16, dt.float32, dt.float64},
        why="trace takes neither bool nor bfloat16",
    ),
    "matrix_power": TypeRule(
        admit=frozenset({Kind.INT, dt.uint8, dt.float32, dt.float64}),
        why="matrix_power takes uint8, signed integers, float32 and float64",
    ),
    **linear(
        TypeRule(
            operand_types=AGREED,
            admit=LAPACK,
            why="linear algebra takes float32, float64 and complex",
        ),
        index=dt.int32,
        fft=TypeRule(compute=exact_to(dt.float32), note="integers are transformed in float32"),
        rfft=TypeRule(
            compute=exact_to(dt.float32), note="complex tensors are transformed as they are"
        ),
        irfft=TypeRule(compute=_at_least_float32),
    ),
    **dict.fromkeys(("cholesky", "det"), TypeRule(admit=LAPACK | {dt.float16})),
    "qr": TypeRule(admit=LAPACK | {dt.float16}, extra_results=(same,)),
    "slogdet": TypeRule(admit=LAPACK | {dt.float16}, extra_results=(same,)),
    "svd": TypeRule(admit=LAPACK, extra_results=(same, same), note=AS_COMPLEX),
    "svdvals": TypeRule(admit=LAPACK, note=AS_COMPLEX),
    "pinv": TypeRule(
        admit=frozenset({dt.float32, dt.float64}), why="pinv takes float32 and float64"
    ),
    Family.NORM: TypeRule(compute=exact_to(dt.float32), note=AS_COMPLEX),
    **uniques(TypeRule(), lambda dtype: dt.int64 if dtype is dt.int64 else dt.int32),
    Family.SORT: _SORTED,
    Family.INDEX: replace(_SORTED, result=always(dt.int32)),
    Family.CONCAT: TypeRule(
        operand_types=real(ArraysFirst(promote_8_5, scalar=raised, why=_WIDE_APART))
    ),
    "stack": TypeRule(operand_types=AGREED),
    Family.LOSS: TypeRule(admit=INEXACT),
    Family.FLOAT_UNARY: TypeRule(compute=exact_to(dt.float32)),
    "exp": TypeRule(admit=INEXACT | {dt.bool, dt.int64}, compute=exact_to(dt.float32)),
    Family.SIGN: TypeRule(),
    "sign": TypeRule(admit=INEXACT | {dt.bool, dt.int32, dt.int64}),
    Family.ROUND: TypeRule(admit=ORDERED),
    "ceil": TypeRule(admit=frozenset({Kind.FLOAT})),
    Family.TEST: TypeRule(
        admit=ORDERED, result=to_bool, why="its list of dtypes has no complex one"
    ),
    "isinf": TypeRule(result=to_bool),
    Family.COMPLEX: TypeRule(result=component),
    "conj": TypeRule(admit=NUMBERS),
    Family.SUM: TypeRule(compute=summed),
    "cumulative_sum": TypeRule(admit=NUMBERS),
    "cumulative_prod": TypeRule(compute=exact_to(dt.int64)),
    Family.MEAN: TypeRule(admit=frozenset({Kind.FLOAT})),
    "mean": TypeRule(note="An integer mean stays an integer."),
    Family.EXTREME: TypeRule(admit=ORDERED, why=NO_ORDER),
    Family.TRUTH: TypeRule(result=to_bool),
    "any": TypeRule(result=lambda dtype: dtype if dtype is dt.uint8 else dt.bool),
    Family.POSITION: TypeRule(admit=ORDERED, result=always(dt.int64), why=NO_ORDER),
}

_CPU = "mindspore 2.10.0, CPU"

CASTS = CastRule(
    mode=DEFAULT._replace(to_integer=ToInteger.X86),
    cases=(
        case("u32", "bf16 f16 f32 f64 c64 c128", transform=Through(dt.int64)),
        case("b1", "c64 c128", transform=real_part_counts),
    ),
    quirks=(rounds_twice(_CPU, f"{NARROW_FLOATS} f16"),),
    sources=(Source("mindspore.Tensor.astype", RECORDED, _CPU),),
    notes=(
        SAID_BY_X86,
        Note("To uint32 floats go through int64.", dtypes("u32"), of=FLOAT_DTYPES),
        Note("A complex number becomes the bool of its real part.", dtypes("b1")),
        Note(
            "MindSpore's CPU has no float8; here they are ml_dtypes'.",
            dtypes("float8"),
            borrowed=True,
        ),
    ),
)

V2_10 = Policy(
    name="mindspore@2.10",
    title="MindSpore 2.10",
    principle=(
        "A table as PyTorch's, with uint16, uint32 and uint64 apart; a Python scalar counts "
        "only if its kind is higher."
    ),
    promote=promote,
    dtypes=DTYPES,
    operations=_OPERATIONS,
    functions={
        "add": _no_two_bools,
        "subtract": _no_two_bools,
        "multiply": TypeRule(operand_types=PRODUCT),
        Family.DIVIDE: _quotient(operand_types=PRODUCT),
        "remainder": _remainder,
        Family.BITWISE: _BITWISE,
        "bitwise_invert": TypeRule(admit=INTEGERS),
    },
    signatures={
        **dict.fromkeys(("equal", "less"), Arrays.FIRST),
        **dict.fromkeys((Family.BITWISE, Family.SHIFT, "hypot", "fmax", "fmin"), Arrays.SOME),
        **dict.fromkeys(("nextafter", "logaddexp"), Arrays.ALL),
    },
    operand_types=COMMON,
    ranks=True,
    one_element=CONVERSIONS,
    scalars=Scalars(fit=fit, fit_compared=fit_compared),
    stored=STORED,
    assigns=any_array,
    refuses={"meshgrid": of_one_dtype},
    kernels={
        "sign": ("sign_without_nan",),
        "floor_divide": ("saturating_floor_divide", "floor_of_quotient", "real_floor_divide"),
        "remainder": ("nan_remainder", "remainder_of_quotient", "real_floor_remainder"),
        "pow": ("double_pow",),
        "clip": ("clip_up_to",),
        "linspace": ("linspace_towards_zero",),
    },
    defaults=NARROW,
    cast=CASTS,
    refusal=(
        "there is no implicit conversion: uint16, uint32 and uint64 go only with themselves and"
        " bool, and complex Python scalars with nothing (mindspore.ops.add, dtype conversion rules)"
    ),
    sources=(Source("mindspore.ops and Tensor operators", "measured on the CPU", "2.10.0"),),
    notes=(
        Note(
            "float64 with complex64 is complex128, unlike in aclnn@8.0; there is no complex32.",
            dtypes("f64 c64 c128 c32"),
        ),
        "Tensors have no << and >>; the functions bitwise_left_shift and bitwise_right_shift do.",
        "~x of a MindSpore tensor is logical_not(x), of any dtype; here ~ inverts bits everywhere.",
        "full without a dtype is int64, whatever the value, as in 2.10.0.",
    ),
)
