"""How operands of different ranks join: arrays, 0-d arrays and Python scalars.

Frameworks that tell them apart go one of two ways. Either every operand counts as itself, arrays
before 0-d arrays before scalars (``ArraysFirst``); or each rank is promoted among itself, and what
a lower one has come to may raise the one above (``lowest_first``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from promoarray.data_class import dataclass
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy_like import OperandTypes, PolicyLike
from promoarray.promotion.rules import PromotionRule, fold
from promoarray.promotion.type_rules import TypeRule, common_dtype, of_any_rank
from promoarray.promotion.type_steps import supported_types


def types_of(operands: Iterable[Operand], *ranks: Rank) -> list[DType]:
    """The types of the operands of these ranks, in their order."""
    return [operand.type for operand in operands if operand.rank in ranks]


@dataclass(frozen=True, slots=True)
class ArraysFirst:
    """The types operands count as: arrays from left to right, then 0-d arrays, then scalars.

    A Python scalar that has nothing before it counts as its default dtype.

    Attributes
    ----------
    arrays : PromotionRule
        Two arrays.
    scalar : PromotionRule
        The dtype so far and a Python scalar.
    zero_d : PromotionRule or None
        The dtype of the arrays and a 0-d one; None if a 0-d array is an array like any other.
    zero_ds : PromotionRule or None
        Two 0-d arrays without any array; None if they are as two arrays.
    why, why_scalar : str
        Why arrays, and why a Python scalar, do not join; "" if that is the policy's own reason.
    """

    arrays: PromotionRule
    scalar: PromotionRule
    zero_d: PromotionRule | None = None
    zero_ds: PromotionRule | None = None
    why: str = ""
    why_scalar: str = ""

    def __call__(
        self, policy: PolicyLike, operands: tuple[Operand, ...]
    ) -> tuple[DType, ...] | Refusal:
        types = supported_types(policy, operands)
        if isinstance(types, Refusal):
            return types
        (_, first), *rest = self._in_turn(operands)
        common = policy.strong(first)
        for rule, dtype in rest:
            joined = rule(common, dtype)
            if joined is None:
                return Refusal((self.why_scalar if dtype.weak else self.why) or policy.refusal)
            common = joined
        return (common,)

    def _in_turn(self, operands: tuple[Operand, ...]) -> list[tuple[PromotionRule, DType]]:
        """The operands' types in the order in which they join, each with the rule by which."""
        ranked: dict[Rank, list[DType]] = {}
        for dtype, rank, _ in operands:
            alike = self.zero_d is None and rank is Rank.ZERO_D
            ranked.setdefault(Rank.ARRAY if alike else rank, []).append(dtype)
        zero_d = self.zero_d if Rank.ARRAY in ranked else self.zero_ds
        rules = self.arrays, zero_d or self.arrays, self.scalar
        ways = zip(rules, _FROM_ABOVE, strict=True)
        return [(rule, dtype) for rule, rank in ways for dtype in ranked.get(rank, ())]


_FROM_BELOW = Rank.SCALAR, Rank.ZERO_D, Rank.ARRAY
_FROM_ABOVE = Rank.ARRAY, Rank.ZERO_D, Rank.SCALAR


def lowest_first(
    policy: PolicyLike,
    operands: tuple[Operand, ...],
    raised: Callable[[DType, DType], DType | None],
) -> tuple[DType, ...] | Refusal:
    """Promote each rank among itself, then let the lower ones raise the higher ones.

    ``raised(higher, lower)`` answers what the dtype of a rank becomes beside that of a lower one.
    """
    types = supported_types(policy, operands)
    if isinstance(types, Refusal):
        return types
    common: DType | None = None
    ranked: dict[Rank, list[DType]] = {}
    for operand in operands:
        ranked.setdefault(operand.rank, []).append(operand.type)
    for rank in _FROM_BELOW if len(ranked) > 1 else ranked:
        among = ranked.get(rank)
        if among is None:
            continue
        own = fold(policy.promote, among)
        common = own if own is None or common is None else raised(own, common)
        if common is None:
            return Refusal(policy.refusal)
    assert common is not None
    return (common,)


def same_for_all_ranks(
    policy: PolicyLike, name: str, operands: tuple[Operand, ...], form: Form
) -> bool:
    """Whether arrays of no axes and others have the same plan under a policy that looks at no
    values."""
    if not policy.ranks and name not in policy.ranked:
        return True
    if len(operands) > _FEW:
        return False
    written = Form.OPERATOR if form is Form.INPLACE else form  # whose result is the target's
    rule = policy.rule(name, operands, written)
    if isinstance(rule, TypeRule):
        own = rule.operand_types or policy.operand_types, rule.promote or policy.promote
        return rule.plans_alike(policy, name, _commons(policy, *own, operands), operands)
    plan = policy.plan(name, operands, written)
    return all(rule(policy, name, other) == plan for other in _of_other_ranks(operands))


_FEW = 3
"""Operands of which every way is tried: ``concat`` of many has too many."""


def _commons(
    policy: PolicyLike,
    operand_types: OperandTypes,
    promote: PromotionRule,
    operands: tuple[Operand, ...],
) -> set[DType | Refusal | None]:
    """All that arrays promote to, of whatever rank each is: worked out once for all operations that
    promote the same way."""
    known = policy.once(_commons_of_types)
    key = id(operand_types), id(promote), operands
    if key not in known:
        commons = {common_dtype(policy, operand_types, promote, operands)}
        for other in _of_other_ranks(operands):
            types = operand_types(policy, other)
            commons.add(types if isinstance(types, Refusal) else fold(promote, types))
        known[key] = operand_types, promote, commons
    answer: set[DType | Refusal | None] = known[key][2]
    return answer


def _commons_of_types(policy: PolicyLike) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    return {}


def _of_other_ranks(operands: tuple[Operand, ...]) -> Iterable[tuple[Operand, ...]]:
    """The same with other arrays of no axes: every way but that of the operands themselves."""
    ways = product(*[(o,) if o.rank is Rank.SCALAR else of_any_rank(o) for o in operands])
    return [way for way in ways if way != operands]
