"""How operands of different ranks join: arrays, 0-d arrays and Python scalars.

Frameworks that tell them apart go one of two ways. Either every operand counts as itself, arrays
before 0-d arrays before scalars (``ArraysFirst``); or each rank is promoted among itself, and what
a lower one has come to may raise the one above (``lowest_first``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from promoarray.data_class import dataclass
from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy_like import PolicyLike
from promoarray.promotion.rules import PromotionRule, fold
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
        arrays = types_of(operands, Rank.ARRAY)
        if self.zero_d is None:
            tensors = types_of(operands, Rank.ARRAY, Rank.ZERO_D)
            joining = [(self.arrays, dtype) for dtype in tensors]
        else:
            zero_d = self.zero_d if arrays else self.zero_ds or self.arrays
            joining = [(self.arrays, dtype) for dtype in arrays]
            joining += [(zero_d, dtype) for dtype in types_of(operands, Rank.ZERO_D)]
        return joining + [(self.scalar, dtype) for dtype in types_of(operands, Rank.SCALAR)]


_FROM_BELOW = Rank.SCALAR, Rank.ZERO_D, Rank.ARRAY


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
