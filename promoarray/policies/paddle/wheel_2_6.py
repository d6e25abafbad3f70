"""Paddle 2.6: the left operand's dtype, and promotion only between floats.

What the published wheel does, whatever the document of that version number says. Operators cast the
right operand to the left one's dtype, with a warning; ``+ - *`` promote two floats first, and
complex goes only with float32, float64 and complex (`base/dygraph/math_op_patch.py`,
``promoteTypes`` in ``paddle/phi/common/type_promotion.h``). Functions cast nothing but two floats
(add, subtract, multiply, where, mse_loss), and raise ``ValueError`` for the rest. A 0-d tensor is a
tensor. Python scalars become the tensor's dtype; a float makes an integer tensor float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INEXACT, INTEGERS, ORDERED, DType, Kind
from promoarray.operations import OPERATIONS as ROWS
from promoarray.operations import Family
from promoarray.policies.paddle.casts import PADDLE_2_6
from promoarray.policies.paddle.document import (
    DOCUMENT,
    LOOKUP,
    NO_SCALAR,
    OF_WHEELS,
    OPERATIONS,
    stays,
    through,
)
from promoarray.policies.paddle.stored import STORED_2_6
from promoarray.policies.paddle.wheels import (
    CASTS_SOME,
    MEAN,
    SORTED,
    as_left,
    by_bias,
    by_logarithm,
    by_reciprocal,
    by_scale,
    clip_rule,
    floats_from,
    transformed,
)
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.linalg_rules import LAPACK
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.ranks import ArraysFirst
from promoarray.promotion.scalars import NARROW, Scalars, not_negative, of_int64, passing
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import any_array
from promoarray.promotion.type_rules import Arrays, TypeRule, refuse, same, to_bool, with_arrays
from promoarray.promotion.type_steps import (
    agreed,
    always,
    component,
    exact_to,
    first_of,
    indices_of,
    of_one_dtype,
)

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

REFUSAL = (
    "Paddle 2.6 promotes only float tensors among each other, and complex with float32 and float64"
)


def floats(a: DType, b: DType) -> DType | None:
    """Promote two floats; of other tensors the left one's dtype."""
    return LOOKUP(a, b) if a.kind is b.kind is Kind.FLOAT else as_left(a, b)


def floats_only(a: DType, b: DType) -> DType | None:
    """Promote two floats; other tensors must agree already (`NeedTypePromotion`)."""
    return LOOKUP(a, b) if a.kind is b.kind is Kind.FLOAT else transformed(a, b)


def left(a: DType, b: DType) -> DType | None:
    """Cast to the left dtype, complex to real too."""
    return a


def lifted(common: DType, scalar: DType) -> DType:
    """Let a float scalar make integers float32; every other scalar is cast, complex ones too."""
    return dt.float32 if scalar.kind is Kind.FLOAT and common.kind not in INEXACT else common


def with_complex(common: DType, scalar: DType) -> DType | None:
    """Let a complex scalar make float32 and float64 complex, and refuse it beside the rest."""
    if scalar.kind is not Kind.COMPLEX or common.kind is Kind.COMPLEX:
        return lifted(common, scalar)
    return as_left(dt.complex64, common)


def truncated(common: DType, scalar: DType) -> DType | None:
    """Cast any real scalar."""
    return None if scalar.kind is Kind.COMPLEX else common


def wide_tensor(common: DType, scalar: DType) -> DType | None:
    """Make a real scalar a tensor of what Python computes in (``where``)."""
    if Kind.COMPLEX in (common.kind, scalar.kind):
        return None
    return floats_only(common, dt.float64 if scalar is dt.weak_float else NARROW[scalar])


AGREE = "the tensors must have one dtype; this function promotes nothing"
AGREED = ArraysFirst(agreed, scalar=stays, why=AGREE, why_scalar=NO_SCALAR)
PAIRS = ArraysFirst(floats_only, scalar=stays, why_scalar=NO_SCALAR)
CAST = ArraysFirst(left, scalar=lifted)
PROMOTED = ArraysFirst(floats, scalar=lifted)
TRANSFORMED = ArraysFirst(transformed, scalar=stays, why=CASTS_SOME, why_scalar=NO_SCALAR)
TRUNCATED = ArraysFirst(
    agreed, scalar=truncated, why=AGREE, why_scalar="this function casts no complex Python scalar"
)


_ORDERED = TypeRule(operand_types=AGREED, admit=ORDERED)
_SEARCHED = TypeRule(operand_types=AGREED, admit=ORDERED, result=always(dt.int64))
_DIVIDED = TypeRule(
    operand_types=ArraysFirst(as_left, scalar=with_complex),
    compute=exact_to(dt.float32),
    kernel=by_reciprocal,
)


def after_complex(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Promote nothing, but let a leading complex tensor have the others cast."""
    leads = operands[0].type.kind is Kind.COMPLEX
    rule = _AFTER_COMPLEX[leads, ROWS[name].family is Family.LOGICAL]
    return rule(policy, name, operands)


_AFTER_COMPLEX = {
    (leads, logical): TypeRule(
        operand_types=TRANSFORMED if leads else AGREED, result=to_bool if logical else same
    )
    for leads in (False, True)
    for logical in (False, True)
}


def _divide(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Cast a tensor to the left one's dtype before both become float32."""
    plan = _DIVIDED(policy, name, operands)
    left = operands[0].type
    if isinstance(plan, Refusal) or left.kind in INEXACT or operands[1].rank is Rank.SCALAR:
        return plan
    return plan if left.weak else plan._replace(inputs=(left, left))


def _atan2(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Answer float64 of integers."""
    plan = _ORDERED(policy, name, operands)
    whole = isinstance(plan, Plan) and plan.result.kind is not Kind.FLOAT
    return plan._replace(result=dt.float64) if isinstance(plan, Plan) and whole else plan


def _searchsorted(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Compare numbers of two dtypes, as C++ does, in what they promote to."""
    types = [policy.strong(operand.type) for operand in operands]
    if types[0] not in SORTED:
        return _SEARCHED(policy, name, operands)
    common = LOOKUP(*types)
    if types[1] not in SORTED or common is None:
        return Refusal("searchsorted takes int32, int64, float32 and float64", common=types[1])
    return policy.make_plan(name, common, dt.int64, len(operands))


_LEFT = with_arrays(Arrays.FIRST, TypeRule(operand_types=CAST, admit=ORDERED))
_OPERATIONS: dict[str | Family, OperationRule] = OPERATIONS | {
    Family.ARITHMETIC: TypeRule(operand_types=PROMOTED),
    "add": TypeRule(operand_types=PROMOTED, kernel=by_bias),
    "subtract": TypeRule(operand_types=PROMOTED, kernel=by_bias),
    "multiply": TypeRule(operand_types=ArraysFirst(floats, scalar=with_complex), kernel=by_scale),
    Family.DIVIDE: _divide,
    Family.FLOOR_DIVIDE: _LEFT,
    "floor_divide": _LEFT,
    Family.POW: TypeRule(operand_types=CAST, kernel=by_logarithm),
    Family.EQUALITY: TypeRule(operand_types=CAST, result=to_bool),
    Family.ORDER: TypeRule(operand_types=CAST, result=to_bool, admit=ORDERED),
    Family.LOGICAL: after_complex,
    "logical_not": TypeRule(result=to_bool),
    Family.BITWISE: with_arrays(Arrays.ALL, TypeRule(operand_types=AGREED, admit=BITS)),
    Family.SHIFT: refuse("Paddle 2.6 has no shifts"),
    Family.EXTREMUM: TypeRule(operand_types=AGREED, admit=ORDERED),
    Family.FLOAT_BINARY: TypeRule(operand_types=AGREED, admit=frozenset({Kind.FLOAT})),
    "atan2": _atan2,
    "hypot": TypeRule(operand_types=PROMOTED, compute=exact_to(dt.float32)),
    "logaddexp": TypeRule(operand_types=AGREED, admit=ORDERED, compute=exact_to(dt.float32)),
    Family.WHERE: TypeRule(operand_types=PAIRS),
    Family.CLIP: clip_rule(None),
    Family.MATMUL: TypeRule(
        operand_types=ArraysFirst(as_left, scalar=lifted),
        note="@ casts the right operand to the left dtype.",
    ),
    "tensordot": TypeRule(operand_types=TRANSFORMED),
    "outer": TypeRule(operand_types=TRANSFORMED),
    "cross": TypeRule(operand_types=AGREED),
    "vecdot": TypeRule(operand_types=AGREED),
    "solve": TypeRule(operand_types=AGREED, admit=LAPACK),
    "matrix_rank": TypeRule(admit=LAPACK, result=always(dt.int32)),
    Family.CONCAT: TypeRule(operand_types=AGREED),
    "stack": after_complex,
    Family.LOSS: TypeRule(operand_types=AGREED),
    "l1_loss": TypeRule(operand_types=PAIRS, result=component),
    "mse_loss": TypeRule(operand_types=PAIRS),
    "poisson_nll_loss": TypeRule(operand_types=CAST, compute=floats_from(*INTEGERS)),
    "cumulative_sum": TypeRule(),
    Family.MEAN: TypeRule(admit=INEXACT),
    "mean": MEAN,
    "var": TypeRule(admit=ORDERED, result=exact_to(dt.float32)),
    "std": TypeRule(admit=ORDERED, result=exact_to(dt.float32)),
    "searchsorted": _searchsorted,
}

_double, _single = through(single=False), through(single=True)


@passing(-(1 << 31) + 1, (1 << 31) - 1)
def _tensor(value: Any, dtype: DType) -> Any:
    """Refuse an int of which NumPy makes no int64."""
    return _double(of_int64(value), dtype)


@passing(-(1 << 24), 1 << 24)
def _compared(value: Any, dtype: DType) -> Any:
    """Take an int through a C float, and a float through a double."""
    return (_single if type(value) is int else _double)(value, dtype)


_KERNELS = {
    **OF_WHEELS,
    "pow": ("double_pow", "plain_pow"),
    "divide": ("checked_divide", "truncated_divide", "scaled_by_reciprocal"),
    "round": ("round_half_away",),
    "mean": ("exact_integer_mean",),
    "var": ("var_around_integer",),
    "std": ("std_around_integer",),
}


_OF_TENSORS = frozenset(
    {
        *(Family.ARITHMETIC, Family.DIVIDE, Family.FLOOR_DIVIDE, Family.EQUALITY, Family.ORDER),
        *(Family.EXTREMUM, Family.FLOAT_BINARY, Family.LOGICAL, Family.LOSS),
    }
)

# The functions take tensors that agree, but for two floats; few take a scalar on the right.
FUNCTIONS: dict[str | Family, OperationRule] = {
    Family.ARITHMETIC: TypeRule(operand_types=PAIRS, kernel=by_scale),
    Family.DIVIDE: TypeRule(operand_types=TRANSFORMED, kernel=by_reciprocal),
    "matmul": TypeRule(operand_types=TRANSFORMED),
    Family.FLOOR_DIVIDE: TypeRule(operand_types=AGREED, admit=ORDERED),
    Family.EQUALITY: TypeRule(operand_types=AGREED, admit=ORDERED, result=to_bool),
    Family.ORDER: TypeRule(operand_types=AGREED, admit=ORDERED, result=to_bool),
    "pow": TypeRule(operand_types=TRUNCATED, kernel=by_logarithm),
    "equal": TypeRule(operand_types=TRUNCATED, result=to_bool),
    "where": TypeRule(
        operand_types=ArraysFirst(
            floats_only,
            scalar=wide_tensor,
            why_scalar="the Python scalar becomes an int64 or float64 tensor, which does not go"
            " with the other; complex numbers go with none",
        )
    ),
}
SIGNATURES: dict[str | Family, Arrays] = {
    **{
        name: Arrays.ALL
        for name, row in ROWS.items()
        if row.arity == 2 and (row.family in _OF_TENSORS or name == "matmul")
    },
    **dict.fromkeys(("pow", "equal"), Arrays.FIRST),
}

V2_6 = DOCUMENT.derive(
    "paddle@2.6",
    title="Paddle 2.6",
    principle=(
        "Only +, - and * promote, and only floats; in most other mixtures an operator takes the "
        "dtype of its left operand."
    ),
    promote=floats,
    foreign=None,
    operations=_OPERATIONS,
    functions=FUNCTIONS,
    signatures=SIGNATURES,
    operand_types=PROMOTED,
    ranks=False,
    scalars=Scalars(
        fit=_double,
        fit_compared=_compared,
        fit_family={
            **dict.fromkeys(("add", "subtract", "remainder"), _single),
            Family.WHERE: _tensor,
        },
        fit_exponent=not_negative(_single, wraps=True),  # as 3.3.1, it never comes back from one
    ),
    kernels=_KERNELS,
    stored=STORED_2_6,
    assigns=any_array,
    fixed={**DOCUMENT.fixed, "quantile": dt.float64},
    refuses={
        "meshgrid": of_one_dtype,
        "broadcast_arrays": of_one_dtype,
        "quantile": first_of(dt.int32, dt.int64, dt.float32, dt.float64),
        "take": indices_of(dt.int32, dt.int64),
    },
    copies=frozenset({"flip"}),
    cast=PADDLE_2_6,
    refusal=REFUSAL,
    sources=(
        Source("paddle/phi/common/type_promotion.h", "NeedTypePromotion", "paddlepaddle 2.6.2"),
        Source("paddle/fluid/pybind/eager_math_op_patch.cc", "operators", "paddlepaddle 2.6.2"),
    ),
    notes=(
        "The document names version 2.6, but describes 3.0 and later.",
        Note(
            "Measured on the CPU wheel, which lacks many float16, bfloat16, bool and int8 kernels.",
            dtypes("f16 bf16 b1 i8"),
        ),
    ),
)
