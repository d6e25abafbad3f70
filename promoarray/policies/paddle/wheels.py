"""Rules common to Paddle's wheels, 2.6 and 3.3, of which its document says nothing.

Which tensors go together where promotion has no say, which dtypes kernels have, and which kernel
computes with a Python number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import INEXACT, INTEGERS, DType, Kind
from promoarray.policies.paddle.document import LOOKUP
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.type_rules import TypeRule, integers_by_scalar
from promoarray.promotion.type_steps import NO_ORDER, agreed, supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike


def as_left(a: DType, b: DType) -> DType | None:
    """Answer the left dtype, as 2.6 did and ``@`` still does; complex goes with f32 and f64."""
    if Kind.COMPLEX in (a.kind, b.kind):
        wide = all(d.kind is Kind.COMPLEX or d in (dt.float32, dt.float64) for d in (a, b))
        return LOOKUP(a, b) if wide else None
    return a


def transformed(a: DType, b: DType) -> DType | None:
    """Promote nothing, but let a complex kernel cast what it can (`data_transform.cc`)."""
    for wide, other in ((a, b), (b, a)):
        if wide.kind is Kind.COMPLEX and other in _CAST:
            return wide
    return agreed(a, b)


_CAST = {dt.uint8, dt.int16, dt.bfloat16, dt.float16, dt.float32, dt.float64}

WITH_COMPLEX = "a complex tensor goes only with float32, float64 and complex ones"
CASTS_SOME = (
    "the tensors must have one dtype, but that a complex kernel casts uint8, int16 and floats"
)


def floats_from(*kinds: Kind | DType) -> Callable[[DType], DType]:
    """Make the step that turns those kinds into float32 and leaves the others."""
    return lambda dtype: dt.float32 if dtype in kinds or dtype.kind in kinds else dtype


def clip_rule(raised: DType | None) -> OperationRule:
    """Cast bounds to the tensor's dtype; beside a float int32 and int64 become ``raised``."""

    def rule(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        types = supported_types(policy, operands)
        if isinstance(types, Refusal):
            return types
        for dtype in types:
            if dtype.kind is Kind.COMPLEX:
                return Refusal(NO_ORDER, common=policy.strong(dtype))
        common = policy.strong(types[0])
        if common.kind in INTEGERS and any(dtype.kind is Kind.FLOAT for dtype in types):
            common = raised or common
        return policy.make_plan(name, common, common, len(operands))

    return rule


MEAN = TypeRule(
    admit=frozenset({*INEXACT, dt.bool, dt.int32, dt.int64}),
    why="Paddle has kernels of a mean for no integers but int32 and int64",
    note="An integer mean stays an integer.",
)
SORTED = (dt.int32, dt.int64, dt.float32, dt.float64)
"""What ``searchsorted`` has kernels for."""


def by_scale(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Multiply by a Python int or float in the policy's kernel, which scales."""
    if any(operand.type in _NUMBERS for operand in operands):
        return ""
    return "plain_multiply" if name == "multiply" and computed.kind is Kind.COMPLEX else name


def by_reciprocal(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Divide floats by a Python int or float in the policy's kernel, which scales."""
    scales = computed.kind is not Kind.FLOAT or operands[1].type in _NUMBERS
    return "" if scales else name


def by_bias(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Add a Python int or float by the kernel that scales, to the complex tensor times 1 + 0j."""
    if computed.kind is Kind.COMPLEX and operands[0].type in _NUMBERS:
        return f"{name}_scaled"
    if computed.kind is Kind.COMPLEX and operands[1].type in _NUMBERS:
        return f"scaled_{name}"
    return ""


def by_logarithm(name: str, operands: tuple[Operand, ...], computed: DType) -> str:
    """Take complex powers by the C++ library, but those by the Python numbers 0 and 1."""
    if computed.kind is not Kind.COMPLEX:
        return integers_by_scalar(name, operands, computed)
    one = operands[-1].type.weak and operands[-1].type is not dt.weak_complex
    return "shortcut_log_pow" if one else "log_pow"


_NUMBERS = (dt.weak_int, dt.weak_float)
