"""Operands that must be arrays, whatever their dtypes, in a function or operator.

An operator that takes no Python scalar refuses it. promoarray's functions take scalars as the array
API's do, so a framework's function that takes none is no rule about dtypes: the operator's rule
answers then, and ``explain`` tells what the function takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from promoarray.promotion.plan import Operand, Plan, Rank, Refusal

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike


class Arrays(Enum):
    """Which operands are to be arrays; the value says what is refused."""

    ALL = "takes no Python scalar"
    FIRST = "takes no Python scalar as its first operand"
    SOME = "takes no Python scalars alone"

    def admit(self, operands: Sequence[Operand]) -> bool:
        """Whether these operands will do."""
        arrays = [operand.rank is not Rank.SCALAR for operand in operands]
        if self is Arrays.FIRST:
            return arrays[0]
        return all(arrays) if self is Arrays.ALL else any(arrays)

    def refusal(self, title: str, name: str, operands: Sequence[Operand]) -> Refusal | None:
        """Return why these operands will not do, None if they will."""
        return None if self.admit(operands) else Refusal(f"{name} of {title} {self.value}")


def with_arrays(which: Arrays, rule: OperationRule) -> OperationRule:
    """Make the rule of an operator that wants arrays."""

    def checked(policy: PolicyLike, name: str, operands: tuple[Operand, ...]) -> Plan | Refusal:
        return which.refusal(policy.title, name, operands) or rule(policy, name, operands)

    return checked
