"""The operands of the run as another policy sees them."""

from __future__ import annotations

from typing import Any

from promoarray.core.array_base import type_of
from promoarray.core.operands import as_looked_on, looked_on
from promoarray.dtypes import WEAK, WEAK_TYPES, DType
from promoarray.once import once
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy


def adopted(policy: Policy, operand: Operand, *, weak: bool = False) -> Operand:
    """An operand of the run as a policy would have made it in the first place.

    ``weak`` has an array weakly typed that the policy holds so.
    """
    value = operand.value if policy.by_value else None
    if operand.rank is Rank.SCALAR:
        return Operand(operand.type, operand.rank, value)
    dtype = WEAK_TYPES[operand.type.kind.category] if weak else operand.type
    return Operand(_held(policy, dtype), operand.rank, value)


def _held(policy: Policy, dtype: DType) -> DType:
    dtype = policy.canonical.get(dtype, dtype)
    return dtype if policy.weak_arrays else policy.strong(dtype)


def as_given(policy: Policy, x: Any, dtype: DType | None = None) -> Operand:
    """An operand as a policy sees it: of the run, or of another dtype that it has given it."""
    if type(x) in WEAK:
        return as_looked_on(x, policy)
    known = policy.once(_of_dtype, dtype or type_of(x._type), not x._buffer.ndim)
    if x._buffer.ndim or policy.by_value is None:
        return known
    return known._replace(value=looked_on(x))


def _of_dtype(policy: Policy, dtype: DType, flat: bool) -> Operand:
    return _operand(_held(policy, dtype), Rank.ZERO_D if flat else Rank.ARRAY)


@once
def _operand(dtype: DType, rank: Rank) -> Operand:
    """One object for all policies, which a report keeps once."""
    return Operand(dtype, rank)
