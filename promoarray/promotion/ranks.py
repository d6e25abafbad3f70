"""Promotion of operands of different ranks: arrays, 0-d arrays and Python scalars.

Frameworks that tell them apart go one of two ways. Either every operand counts as itself, arrays
before 0-d arrays before scalars (``ArraysFirst``); or each rank is promoted among itself, and what
a lower one has come to may raise the one above (``LowestFirst``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.rules import PromotionRule, fold
from promoarray.promotion.type_steps import supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import PolicyLike


def types_of(operands: Iterable[Operand], *ranks: Rank) -> list[DType]:
    """The types of the operands of these ranks, in their order."""
    return [operand.type for operand in operands if operand.rank in ranks]


Groups = tuple[Sequence[DType], Sequence[DType], Sequence[DType]]
"""The types of arrays, of 0-d arrays and of Python scalars, each in their order."""


def grouped(operands: Iterable[Operand], *, apart: bool = True) -> Groups:
    """The types of operands by their rank; 0-d arrays ``apart`` from others, or among them."""
    groups: Groups = [], [], []
    places = _APART if apart else _TOGETHER
    for dtype, rank, _ in operands:
        groups[places[rank]].append(dtype)  # type: ignore[attr-defined]
    return groups


_APART = {Rank.ARRAY: 0, Rank.ZERO_D: 1, Rank.SCALAR: 2}
_TOGETHER = _APART | {Rank.ZERO_D: 0}


@dataclass(frozen=True, slots=True)
class ArraysFirst:
    """The types operands count as: arrays from left to right, then 0-d arrays, then scalars.

    A Python scalar that has nothing before it counts as its default dtype.
    """

    arrays: PromotionRule  # two arrays
    scalar: PromotionRule  # the dtype so far and a Python scalar
    # The dtype of the arrays and a 0-d one; None if a 0-d array is an array like any other.
    zero_d: PromotionRule | None = None
    # Two 0-d arrays without any array; None if they are as two arrays.
    zero_ds: PromotionRule | None = None
    # ``why``, ``why_scalar``: why arrays, and why a Python scalar, do not join; "" if that is the
    # policy's own reason.
    why: str = ""
    why_scalar: str = ""

    def __call__(
        self, policy: PolicyLike, operands: tuple[Operand, ...]
    ) -> tuple[DType, ...] | Refusal:
        types = supported_types(policy, operands)
        if isinstance(types, Refusal):
            return types
        common = self.join(policy, grouped(operands, apart=self.zero_d is not None))
        return common if isinstance(common, Refusal) else (common,)

    def join(self, policy: PolicyLike, groups: Groups) -> DType | Refusal:
        """What dtypes that the policy has come to."""
        zero_d = self.zero_d if groups[0] else self.zero_ds
        rules = self.arrays, zero_d or self.arrays, self.scalar
        common: DType | None = None
        for rule, types in zip(rules, groups, strict=True):
            for dtype in types:
                joined = policy.strong(dtype) if common is None else rule(common, dtype)
                if joined is None:
                    return Refusal((self.why_scalar if dtype.weak else self.why) or policy.refusal)
                common = joined
        assert common is not None
        return common


@dataclass(frozen=True, slots=True)
class LowestFirst:
    """The types operands count as: each rank is promoted among itself, then the lower ones raise
    the higher ones."""

    # From the policy, the dtype of a rank and that of a lower one to what the higher becomes.
    raised: Callable[[PolicyLike, DType, DType], DType | None]
    strong: bool = False  # whether Python scalars count as their default dtypes

    def __call__(
        self, policy: PolicyLike, operands: tuple[Operand, ...]
    ) -> tuple[DType, ...] | Refusal:
        types = supported_types(policy, operands)
        if isinstance(types, Refusal):
            return types
        common = self.join(policy, grouped(operands))
        return common if isinstance(common, Refusal) else (common,)

    def join(self, policy: PolicyLike, groups: Groups) -> DType | Refusal:
        """What dtypes that the policy has come to."""
        common: DType | None = None
        for types in reversed(groups):
            if types:
                counted = [*map(policy.strong, types)] if self.strong else types
                own = fold(policy.promote, counted) if len(counted) > 1 else counted[0]
                lower, common = common, own
                if own is not None and lower is not None:
                    common = self.raised(policy, own, lower)
                if common is None:
                    return Refusal(policy.refusal)
        assert common is not None
        return common
