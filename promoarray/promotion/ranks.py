"""Promotion of operands of different ranks: arrays, 0-d arrays and Python scalars.

Frameworks that tell them apart go one of two ways. Either every operand counts as itself, arrays
before 0-d arrays before scalars (``ArraysFirst``); or each rank is promoted among itself, and what
a lower one has come to may raise the one above (``LowestFirst``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress, product
from typing import TYPE_CHECKING, Any

from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.rules import PromotionRule, fold
from promoarray.promotion.type_rules import TypeRule, common_dtype, of_any_rank
from promoarray.promotion.type_steps import supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperandTypes, PolicyLike


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

    all_alike = False
    """Whether arrays that have no axes, all of them, promote as arrays that have."""

    @property
    def tells_ranks(self) -> bool:
        """Whether a 0-d array may count otherwise than an array."""
        return self.zero_d is not None

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

    def keeps(self, policy: PolicyLike, dtype: DType) -> bool:
        """Whether arrays of one dtype come to that dtype, whatever their number and ranks."""
        rules = self.arrays, self.zero_d, self.zero_ds
        return all(rule is None or rule(dtype, dtype) is dtype for rule in rules)


@dataclass(frozen=True, slots=True)
class LowestFirst:
    """The types operands count as: each rank is promoted among itself, then the lower ones raise
    the higher ones.

    Attributes
    ----------
    raised : callable
        From the policy, the dtype of a rank and that of a lower one to what the higher becomes.
    strong : bool
        Whether Python scalars count as their default dtypes.
    """

    raised: Callable[[PolicyLike, DType, DType], DType | None]
    strong: bool = False

    all_alike = True

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

    def keeps(self, policy: PolicyLike, dtype: DType) -> bool:
        """Whether arrays of one dtype come to that dtype, whatever their number and ranks."""
        return policy.promote(dtype, dtype) is self.raised(policy, dtype, dtype) is dtype


def same_for_all_ranks(
    policy: PolicyLike, name: str, operands: tuple[Operand, ...], form: Form
) -> bool:
    """Whether arrays of no axes and others have the same plan, as operands that have one, under a
    policy that looks at no values. Where an operation tells no ranks (``policy.ranks``,
    ``policy.ranked``) they have, and nobody need ask."""
    if len(operands) > _FEW:
        return False
    written = Form.OPERATOR if form is Form.INPLACE else form  # whose result is the target's
    rule = policy.rule(name, operands, written)
    while goes_on_by := getattr(rule, "goes_on_by", None):
        inner = goes_on_by(operands)
        if inner is None:
            break
        rule = inner
    if isinstance(rule, TypeRule):
        own = rule.operand_types or policy.operand_types, rule.promote or policy.promote
        commons = _commons(policy, *own, operands)
        if len(commons) == 1 and rule.cast is None:
            return True
        return rule.plans_alike(policy, name, commons, operands)
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
    while goes_on_by := getattr(operand_types, "goes_on_by", None):
        operand_types = goes_on_by(policy)
    common = common_dtype(policy, operand_types, promote, operands)
    if not getattr(operand_types, "tells_ranks", True):
        return {common}
    if isinstance(operand_types, (ArraysFirst, LowestFirst)):
        ways = _other_groupings(tuple([o.rank for o in operands]), operand_types.all_alike)
        if not ways:
            return {common}
        types = [operand.type for operand in operands]
        first, *others = {*types}
        if not others and not first.weak and operand_types.keeps(policy, first):
            return {common}
    known = policy.worked_out
    key = "commons", id(operand_types), id(promote), operands
    if key not in known:
        if isinstance(operand_types, (ArraysFirst, LowestFirst)):
            found: list[Any] = [operand_types.join(policy, pick(types)) for pick in ways]
        else:
            joined = [operand_types(policy, each) for each in _of_other_ranks(operands)]
            found = [x if isinstance(x, Refusal) else fold(promote, x) for x in joined]
        known[key] = operand_types, promote, {common, *found}
    answer: set[DType | Refusal | None] = known[key][2]
    return answer


@cache
def _other_groupings(
    ranks: tuple[Rank, ...], all_alike: bool
) -> tuple[Callable[[Sequence[DType]], Groups], ...]:
    """How types fall into groups where the arrays among operands are of other ranks than these.

    One array beside scalars comes to the same of every rank. Where they are ``all_alike``, arrays
    that have no axes, all of them, promote as arrays that have.
    """
    arrays = [i for i, rank in enumerate(ranks) if rank is not Rank.SCALAR]
    scalars = [i for i, rank in enumerate(ranks) if rank is Rank.SCALAR]
    if len(arrays) == 1:
        return ()
    own = tuple(ranks[i] is Rank.ARRAY for i in arrays)
    known = {own, tuple(not each for each in own)} if all_alike and len({*own}) == 1 else {own}
    ways = [way for way in product((True, False), repeat=len(arrays)) if way not in known]
    return tuple(_picking(arrays, way, scalars) for way in ways)


def _picking(
    arrays: Sequence[int], with_axes: Sequence[bool], scalars: Sequence[int]
) -> Callable[[Sequence[DType]], Groups]:
    axes = [*compress(arrays, with_axes)]
    none = [i for i in arrays if i not in axes]

    def pick(types: Sequence[DType]) -> Groups:
        at = types.__getitem__  # and `map`, as no frame is made for it
        return [*map(at, axes)], [*map(at, none)], [*map(at, scalars)]

    return pick


def _of_other_ranks(operands: tuple[Operand, ...]) -> Iterable[tuple[Operand, ...]]:
    """The same with other arrays of no axes: every way but that of the operands themselves."""
    ways = product(*[(o,) if o.rank is Rank.SCALAR else of_any_rank(o.type) for o in operands])
    return [way for way in ways if way != operands]
