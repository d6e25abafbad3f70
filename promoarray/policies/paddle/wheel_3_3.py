"""Paddle 3.3: the document's rule as the 3.3.1 wheel carries it out.

Operators go by ``paddle/phi/common/type_promotion.h``. The functions take tensors; those that take
a Python scalar on the right, too, each do it their own way. Where promotion has no say, a complex
kernel still casts what it can (``transformed``), and ``@`` takes the left operand's dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.dtypes import BITS, INTEGERS, ORDERED, DType, Kind
from promoarray.operations import OPERATIONS as ROWS
from promoarray.operations import Family
from promoarray.policies.paddle.casts import PADDLE_3_3
from promoarray.policies.paddle.document import (
    AGREED,
    DOCUMENT,
    LOOKUP,
    NAMES_ONLY,
    OF_WHEELS,
    OPEN,
    OPERATIONS,
    SHUT,
    TENSORS,
    WIDENING,
    low_bits,
    rises,
    through,
)
from promoarray.policies.paddle.stored import STORED_3_3
from promoarray.policies.paddle.wheels import (
    CASTS_SOME,
    MEAN,
    SORTED,
    WITH_COMPLEX,
    as_left,
    by_bias,
    by_logarithm,
    by_scale,
    clip_rule,
    floats_from,
    transformed,
)
from promoarray.promotion.answers import Answers
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.ranks import ArraysFirst
from promoarray.promotion.scalars import (
    NARROW,
    not_negative,
    out_of_range,
    passing,
    within_64_bits,
    wrap,
)
from promoarray.promotion.source import Note, Source
from promoarray.promotion.stored import any_array
from promoarray.promotion.type_rules import PROMOTING, Arrays, TypeRule, to_bool
from promoarray.promotion.type_steps import (
    agreed,
    always,
    exact_to,
    first_of,
    indices_of,
    of_one_dtype,
)

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike


TRANSFORMED = replace(AGREED, arrays=transformed, why=CASTS_SOME)


def _truncated(common: DType, scalar: DType) -> DType | None:
    """Cast a real scalar to the tensor's dtype, be it an integer: ``paddle.pow(i32, 1.5)``."""
    return None if scalar.kind is Kind.COMPLEX else common


def _whole(common: DType, scalar: DType) -> DType | None:
    """Take any bool or int, by its bits."""
    return common if scalar.kind.category <= dt.int8.kind.category else None


def _as_zero_d(common: DType, scalar: DType) -> DType | None:
    """Make the scalar a 0-d tensor of its default dtype, which counts in full."""
    return LOOKUP(common, NARROW[scalar])


def _as_tensor(common: DType, scalar: DType) -> DType | None:
    """Make the scalar a tensor of its default dtype."""
    return TENSORS(common, NARROW[scalar])


_A_TENSOR = (
    "the Python scalar becomes a tensor of its default dtype, which does not go with the other"
)
_FLOOR_DIVIDE = replace(WIDENING, scalar=_as_zero_d, why_scalar=_A_TENSOR)


def _scalar_as_tensor(index: int, operand: Operand, common: DType) -> DType:
    """Leave a Python float the float32 tensor that it was made, beside float64 too."""
    return dt.float32 if operand.type is dt.weak_float and common is dt.float64 else common


_WHERE = replace(SHUT, scalar=_as_tensor, why_scalar=_A_TENSOR)


_BITS = replace(
    AGREED,
    scalar=_whole,
    why="the tensors must have one dtype: the kernels of bits and shifts promote nothing",
    why_scalar="only a Python bool or int goes with the bits of a tensor",
)
_BITWISE = TypeRule(operand_types=_BITS, admit=BITS)


def _bitwise(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Refuse a scalar on the right: ``tensor & 1`` raises, ``1 & tensor`` works."""
    if operands[-1].rank is Rank.SCALAR:
        return Refusal("bitwise operators take no Python scalar on the right (on the left they do)")
    return _BITWISE(policy, name, operands)


def _nll(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Compose exp(input) - label * input; exp makes an integer float32, and the rest must fit."""
    product = SHUT(policy, operands)
    if isinstance(product, Refusal):
        return product
    raised = floats_from(*INTEGERS)(operands[0].type)
    common = TENSORS(raised, product[0])
    if common is None and raised.weak:
        return Refusal(f"{name} takes no Python bool, float or complex as its input")
    if common is None:
        parts = f"exp(input) is {raised.name}, label * input {product[0].name}"
        return Refusal(f"{parts}: {policy.refusal}")
    return policy.make_plan(name, common, common, len(operands))


def _stack(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Promote nothing, but cast what follows a complex tensor."""
    after_complex = operands[0].type.kind is Kind.COMPLEX
    return (_TRANSFORMED if after_complex else _AGREED)(policy, name, operands)


_AGREED, _TRANSFORMED = TypeRule(operand_types=AGREED), TypeRule(operand_types=TRANSFORMED)


_ORDERED = TypeRule(operand_types=SHUT, admit=ORDERED)


def _atan2(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Answer float64 of integers."""
    plan = _ORDERED(policy, name, operands)
    if isinstance(plan, Refusal) or plan.result.kind is Kind.FLOAT:
        return plan
    return plan._replace(result=dt.float64)


def _mean(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Add up integers in float32, and cast the mean back."""
    plan = MEAN(policy, name, operands)
    if isinstance(plan, Refusal) or plan.result.kind not in INTEGERS:
        return plan
    return plan._replace(inputs=(dt.float32,), compute=dt.float32)


def _hypot(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Square integers in their dtype; the root is float32."""
    plan = PROMOTING(policy, name, operands)
    if isinstance(plan, Refusal) or plan.result.kind not in INTEGERS:
        return plan
    return plan._replace(result=dt.float32)


def _searchsorted(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
    """Compare numbers of two dtypes, as C++ does, in what they promote to."""
    sorted_in, sought = (policy.strong(operand.type) for operand in operands)
    if sorted_in not in SORTED:
        return _SEARCHED(policy, name, operands)
    if sought not in SORTED and sought not in (dt.float16, dt.bfloat16):
        return Refusal(
            "searchsorted takes int32, int64, float16, bfloat16, float32 and float64", common=sought
        )
    common = LOOKUP(sorted_in, sought)
    assert common is not None
    return policy.make_plan(name, common, dt.int64, len(operands))


_SEARCHED = TypeRule(admit=ORDERED, result=always(dt.int64))


def _of_one(rule: OperationRule) -> OperationRule:
    """Make a Python complex a complex64 tensor of shape [1], whose dtype a 0-d tensor takes."""

    def has_complex(operands: tuple[Operand, ...]) -> bool:
        return any(o.type is dt.weak_complex for o in operands)

    def counted(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        if has_complex(operands) and any(o.rank is Rank.ZERO_D for o in operands):
            operands = (Operand(dt.complex64),) * len(operands)
        return rule(policy, name, operands)

    return counted


_COMPARE = TypeRule(result=to_bool)
_WHOLE = "of integers every step loses its fraction"
_OPERATIONS_3_3: dict[str | Family, OperationRule] = OPERATIONS | {
    "add": TypeRule(kernel=by_bias),
    "subtract": TypeRule(kernel=by_bias),
    "multiply": TypeRule(kernel=by_scale),
    Family.DIVIDE: _of_one(
        TypeRule(
            compute=floats_from(*(d for d in LOOKUP.dtypes if d.kind in INTEGERS)),
            note="Integers give float32; bool / bool stays bool (the rule overlooks bool).",
        )
    ),
    Family.POW: _of_one(TypeRule(kernel=by_logarithm)),
    "remainder": _of_one(OPERATIONS[Family.FLOOR_DIVIDE]),
    Family.EQUALITY: _COMPARE,
    Family.ORDER: _COMPARE,
    Family.LOGICAL: TypeRule(operand_types=SHUT, result=to_bool),
    Family.BITWISE: _bitwise,
    "bitwise_invert": TypeRule(admit=BITS),
    Family.SHIFT: TypeRule(operand_types=_BITS, admit=BITS),
    "matmul": TypeRule(
        operand_types=replace(
            AGREED, arrays=as_left, zero_d=agreed, zero_ds=agreed, why=WITH_COMPLEX
        ),
        note="The @ operator casts the right operand to the left one's dtype.",
    ),
    "tensordot": TypeRule(operand_types=TRANSFORMED),
    "poisson_nll_loss": _nll,
    "clip": clip_rule(dt.float32),
    "atan2": _atan2,
    "hypot": _hypot,
    "searchsorted": _searchsorted,
    "outer": TypeRule(operand_types=ArraysFirst(TENSORS, scalar=rises)),
    "mean": _mean,
    "var": TypeRule(admit=ORDERED, note=_WHOLE),
    "std": TypeRule(admit=ORDERED, result=exact_to(dt.float32), note=_WHOLE),
}

_truncating = replace(
    OPEN, scalar=_truncated, why_scalar="this function casts no complex Python scalar"
)
FUNCTIONS: dict[str | Family, OperationRule] = {
    "remainder": TypeRule(operand_types=_truncating),
    "pow": TypeRule(operand_types=_truncating, kernel=by_logarithm),
    "copysign": TypeRule(operand_types=_truncating, admit=ORDERED),
    "floor_divide": TypeRule(operand_types=_FLOOR_DIVIDE, admit=ORDERED, cast=_scalar_as_tensor),
    "where": TypeRule(operand_types=_WHERE),
    "matmul": TypeRule(operand_types=TRANSFORMED),
    "stack": _stack,
}
SIGNATURES: dict[str | Family, Arrays] = {
    **{name: Arrays.ALL for name, row in ROWS.items() if row.arity == 2 and name not in FUNCTIONS},
    **dict.fromkeys(
        ("remainder", "pow", "copysign", "floor_divide", "equal", "vecdot"), Arrays.FIRST
    ),
    "matmul": Arrays.ALL,
}
REFUSAL = (
    "tensors promote only among bfloat16, float16, float32 and float64, and with complex ones;"
    " uint16, uint32, uint64 and float8 go with nothing but themselves (NeedTypePromotion in"
    " paddle/phi/common/type_promotion.h)"
)

_KERNELS = {
    **OF_WHEELS,
    "pow": ("double_reciprocal_pow", "plain_pow"),
    "divide": ("checked_divide", "nan_divide"),
    "reciprocal": ("nan_reciprocal",),
    "square": ("plain_square",),
    "sign": ("sign_of_parts",),
    "arange": ("arange_counting", "arange_by_steps"),
    "linspace": ("linspace_of_integers", "line_from_both_ends"),
    "atan2": ("single_atan2", "rounded_atan2"),
    "matmul": ("blas_matmul",),
    "tensordot": ("blas_tensordot",),
    "cumulative_sum": ("cumulative_sum_from_zero",),
    "var": ("integer_var",),
    "std": ("integer_std",),
}


@passing(floats=dt.float32)
def _as_default(value: Any, dtype: DType) -> Any:
    """Make a number a tensor of its default dtype first, as ``where`` does."""
    if type(value) is int:
        return low_bits(value, dtype)
    if type(value) is bool:
        return value
    with np.errstate(over="ignore"):
        return (np.complex64 if type(value) is complex else np.float32)(value).item()


@passing()
def _bits(value: Any, dtype: DType) -> Any:
    """Keep the low bits of 64."""
    if not within_64_bits(value):
        raise out_of_range(value, dt.int64)
    return wrap(value, dtype)


_FIT_FAMILY: dict[Family | str, Callable[[Any, DType], Any]] = {
    **dict.fromkeys((Family.SHIFT, Family.BITWISE), _bits),
    Family.FLOOR_DIVIDE: low_bits,
    Family.WHERE: _as_default,
}

V3_3 = DOCUMENT.derive(
    "paddle@3.3",
    title="Paddle 3.3",
    principle=(
        "Tensors promote among floats and with complex, integers only with themselves; a 0-d "
        "tensor or Python scalar keeps the tensor's dtype unless its kind is higher."
    ),
    dtypes=(*TENSORS.dtypes, *NAMES_ONLY),
    operations=_OPERATIONS_3_3,
    functions=FUNCTIONS,
    signatures=SIGNATURES,
    scalars=DOCUMENT.scalars._replace(
        fit_family=_FIT_FAMILY, fit_exponent=not_negative(through(single=True), wraps=True)
    ),
    kernels=_KERNELS,
    stored=STORED_3_3,
    assigns=any_array,
    refuses={
        "meshgrid": of_one_dtype,
        "broadcast_arrays": of_one_dtype,
        "einsum": of_one_dtype,
        "quantile": first_of(dt.float32, dt.float64),
        "take": indices_of(dt.int32, dt.int64),
        "getitem": indices_of(dt.int32, dt.int64, dt.bool),
    },
    copies=frozenset({"flip"}),
    answers=Answers(
        __file__,
        "functions.txt",
        "paddle@3.3",
        begins={"hypot": ("square", "square"), "vecdot": ("conj",), "poisson_nll_loss": ("exp",)},
    ),
    keeps=frozenset({"clip"}),
    cast=PADDLE_3_3,
    refusal=REFUSAL,
    sources=(
        Source("paddle/phi/common/type_promotion.h", "NeedTypePromotion", "paddlepaddle 3.3.1"),
    ),
    notes=(
        Note(
            "Measured on the CPU wheel, which lacks many float16, bfloat16 and bool kernels.",
            dtypes("f16 bf16 b1"),
        ),
    ),
)
