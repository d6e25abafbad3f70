"""What policies answer once operands of the run are cast, and what those casts lose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from promoarray.diagnostics.shadow.as_given import adopted
from promoarray.diagnostics.shadow.fixes import Fix
from promoarray.diagnostics.shadow.held import has
from promoarray.dtypes import BY_CODE, INTEGERS, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.cast_losses import gravity, loss
from promoarray.promotion.plan import Operand, Plan, Rank
from promoarray.promotion.policy import Policy

Operands = tuple[Operand, ...]


class Asked(NamedTuple):
    """An operation of the run, without its data.

    Attributes
    ----------
    name : str
    form : Form
    operands : tuple of Operand
        As the run had them; scalars and 0-d arrays with their values.
    inputs : tuple of DType
        What the run made of them.
    wanted : DType
        What the run answered.
    """

    name: str
    form: Form
    operands: Operands
    inputs: tuple[DType, ...]
    wanted: DType

    @property
    def scalars(self) -> tuple[int, ...]:
        """The operands that are Python scalars, which become arrays where they are cast."""
        return tuple(i for i, o in enumerate(self.operands) if o.rank is Rank.SCALAR)


def holds(run: Policy, policies: Sequence[Policy], asked: Asked, fix: Fix) -> bool:
    """Whether an edit made for other operands is right for these, too, and changes no value."""
    casts = dict(fix.casts)
    if any(index >= len(asked.operands) for index in casts):
        return False
    kept = (
        to is asked.inputs[i] or gravity(strong_of(asked.operands[i].type), to)[0] == 0
        for i, to in casts.items()
    )
    if not all(kept) or fix.result not in (None, asked.wanted):
        return False
    for policy in (*policies, run):
        seen = tuple(adopted(policy, o) for o in asked.operands)
        answer = answer_of(policy, asked, seen, casts)
        fits = can_become(policy, answer, asked.wanted) if fix.result else False
        if answer is not asked.wanted and not fits:
            return False
    return True


def lost(run: Policy, policies: Sequence[Policy], asked: Asked, fix: Fix) -> str:
    """Say what an edit loses that the run does not; "" if nothing."""
    casts = dict(fix.casts)
    said: dict[str, list[str]] = {}
    for index, to in casts.items():
        source = strong_of(asked.operands[index].type)
        if to is not asked.inputs[index] and (words := loss(source, to)):
            said.setdefault(f"x{index + 1} to {to.name} {words}", [])
    for policy in policies:
        seen = tuple(adopted(policy, o) for o in asked.operands)
        plan = policy.plan(asked.name, cast_to(seen, casts), asked.form)
        if not isinstance(plan, Plan) or not fix.result:
            continue
        answer = policy.strong(plan.result)
        if _low_bits(answer, asked.wanted):
            continue
        narrow = [b for a, b in zip(asked.inputs, plan.inputs, strict=True) if gravity(a, b)[0]]
        words = f"computed in {narrow[0].name}" if narrow else loss(answer, asked.wanted)
        if words:
            said.setdefault(words, []).append(policy.name)
    return "; ".join(f"{words} under {', '.join(n)}" if n else words for words, n in said.items())


def _low_bits(answer: DType, wanted: DType) -> bool:
    """Whether a cast keeps what integer arithmetic has in the lowest bits."""
    return answer.kind in INTEGERS and wanted.kind in INTEGERS and answer.bits >= wanted.bits


def can_become(policy: Policy, answer: DType | None, wanted: DType) -> bool:
    """Whether a policy has a dtype, and casts an answer to it."""
    return (
        answer is not None and has(policy, wanted) and policy.cast.refuses(answer, wanted) is None
    )


def cost_of(
    asked: Asked, every: Sequence[tuple[Policy, Operands]], casts: dict[int, DType]
) -> tuple[float, ...]:
    """What is worse about casts than about others: what they lose, then how many they are."""
    lost = [
        gravity(strong_of(asked.operands[i].type), to)
        for i, to in casts.items()
        if asked.inputs[i] is not to  # else the run makes that cast, too
    ]
    narrower = 0
    for policy, seen in every:
        plan = policy.plan(asked.name, cast_to(seen, casts), asked.form)
        if isinstance(plan, Plan):
            answer = policy.strong(plan.result)
            lost.append(gravity(answer, asked.wanted))
            narrower += sum(
                gravity(mine, its)[0] > 0
                for mine, its in zip(asked.inputs, plan.inputs, strict=True)
            )
    levels, bits = zip(*lost, strict=True) if lost else ((0,), (0.0,))
    return max(levels), narrower, sum(bits), len(casts)


def strong_of(dtype: DType) -> DType:
    """A dtype that an array may have: of a Python scalar's type the widest."""
    return WIDEST.get(dtype.code, dtype)


WIDEST = {"b*": BY_CODE["b1"], "i*": BY_CODE["i64"], "f*": BY_CODE["f64"], "c*": BY_CODE["c128"]}
"""What holds the values of a Python scalar."""


def answer_of(
    policy: Policy, asked: Asked, operands: Operands, casts: Mapping[int, DType]
) -> DType | None:
    """What a policy answers for operands that are cast; None if it refuses, or has no such cast."""
    for index, to in casts.items():
        source = policy.strong(operands[index].type)
        if not has(policy, to) or (
            source is not to
            and operands[index].rank is not Rank.SCALAR
            and policy.cast.refuses(source, to)
        ):
            return None
    plan = policy.plan(asked.name, cast_to(operands, casts), asked.form)
    return policy.strong(plan.result) if isinstance(plan, Plan) else None


def compute_alike(
    asked: Asked, every: Sequence[tuple[Policy, Operands]], casts: Mapping[int, DType]
) -> bool:
    """Whether all policies compute with the same dtypes and by the same kernel."""
    found = set()
    for policy, seen in every:
        plan = policy.plan(asked.name, cast_to(seen, casts), asked.form)
        if isinstance(plan, Plan):
            found.add((plan.inputs, plan.decomposition, policy.kernel(asked.name, plan)))
    return len(found) == 1


def cast_scalars(asked: Asked, casts: Mapping[int, DType]) -> tuple[int, ...]:
    return tuple(index for index in casts if index in asked.scalars)


def cast_to(seen: Operands, casts: Mapping[int, DType]) -> Operands:
    """The operands with some of them cast, Python scalars among them to 0-d arrays."""
    return tuple(
        Operand(
            casts[i], Rank.ZERO_D if o.rank is Rank.SCALAR else o.rank, _become(o.value, casts[i])
        )
        if i in casts
        else o
        for i, o in enumerate(seen)
    )


def _become(value: Any, dtype: DType) -> Any:
    """A number in another dtype, as far as a policy looks at it: its kind, its sign and size."""
    if value is None or isinstance(value, complex):
        return value
    if dtype.kind is Kind.BOOL:
        return bool(value)
    if dtype.kind in INTEGERS:
        return int(value) if math.isfinite(value) else 0
    return float(value) if abs(value) < _LARGE else math.inf


_LARGE = 1 << 1023
