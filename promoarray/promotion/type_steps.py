"""Steps several policies share: from a common dtype to the computed one, or the result's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, INEXACT, WEAK_TYPES, DType
from promoarray.promotion.plan import Operand, Rank, Refusal

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import PolicyLike

NO_ORDER = "complex numbers have no order"
"""Why complex numbers are refused where values are compared."""


def rows(codes: str) -> tuple[DType, ...]:
    """Answer the dtypes with these codes, which stand apart by blanks."""
    return tuple(BY_CODE[code] for code in codes.split())


def component(dtype: DType) -> DType:
    """Answer the float a complex dtype is a pair of; leave the others."""
    return dtype.part


def always(dtype: DType) -> Callable[[DType], DType]:
    """Make the step that answers ``dtype`` whatever comes."""
    return lambda _: dtype


def exact_to(default: DType) -> Callable[[DType], DType]:
    """Make the step that turns bools and integers into ``default`` and leaves the others."""
    return lambda dtype: dtype if dtype.kind in INEXACT else default


def agreed(a: DType, b: DType) -> DType | None:
    """Promote nothing: the dtypes must be the same already."""
    return a if a is b else None


def of_one_dtype(types: tuple[DType, ...]) -> str | None:
    """Refuse arrays of several dtypes (``Policy.refuses``)."""
    return "the arrays must have one dtype" if len(set(types)) > 1 else None


def first_of(*allowed: DType) -> Callable[[tuple[DType, ...]], str | None]:
    """Refuse a first array of another dtype than these (``Policy.refuses``)."""
    said = "the array must be " + " or ".join(dtype.name for dtype in allowed)
    return lambda types: None if types[0] in allowed else said


def indices_of(*allowed: DType) -> Callable[[tuple[DType, ...]], str | None]:
    """Refuse indices, which come second, of other dtypes than these (``Policy.refuses``)."""
    said = "index arrays must be " + " or ".join(dtype.name for dtype in allowed)
    return lambda types: None if types[1] in allowed else said


def without_bounds(types: tuple[DType, ...]) -> str:
    """Refuse to clip by no bound at all (``Policy.refuses``)."""
    return "clip needs a lower bound or an upper one"


@cache
def _with_weak(dtypes: tuple[DType, ...]) -> frozenset[DType]:
    """The dtypes of a policy, and those of Python scalars."""
    return frozenset((*dtypes, *WEAK_TYPES))


def supported_types(
    policy: PolicyLike, operands: tuple[Operand, ...]
) -> tuple[DType, ...] | Refusal:
    """Count operands as their own types, if the framework has them all."""
    has, types = _with_weak(policy.dtypes), tuple([operand.type for operand in operands])
    if has.issuperset(types):
        return types
    lacking = next(dtype for dtype in types if dtype not in has)
    return Refusal(f"{policy.title} has no {lacking.name}")


def strong_types(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Let a Python number be of the dtype that it has by itself: no operand is weak."""
    types = supported_types(policy, operands)
    return types if isinstance(types, Refusal) else tuple(map(policy.strong, types))


def with_wide_ints(operands: tuple[Operand, ...], rank: Rank = Rank.SCALAR) -> tuple[Operand, ...]:
    """Let an int that no int32 holds be an int64 of a rank (``Policy.by_value``)."""
    return tuple(
        [
            Operand(dt.int64, rank)
            if o.type is dt.weak_int and o.value is not None and not -(1 << 31) <= o.value < 1 << 31
            else Operand(o.type, o.rank)
            for o in operands
        ]
    )


def with_bools(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Count operands as their own types, but a Python bool as a bool array."""
    types = supported_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    return tuple([dt.bool if dtype is dt.weak_bool else dtype for dtype in types])


def as_truth(policy: PolicyLike, operands: tuple[Operand, ...]) -> tuple[DType, ...] | Refusal:
    """Count every operand as whether it is non-zero; nothing promotes."""
    types = policy.operand_types(policy, operands)
    return types if isinstance(types, Refusal) else (dt.bool,)
