"""Answers of policies once operands of the run are edited, and what the edits lose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from promoarray import dtypes as dt
from promoarray.diagnostics.edits.occurrence import Asked
from promoarray.diagnostics.model.fallback_dtype import has
from promoarray.diagnostics.model.slots import adopted
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.promotion.cast_losses import gravity, loss
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds

Casts = Mapping[int, DType]
"""From operands to what they become; of a weak type, the Python number that they hold."""

WIDEST = {"b*": dt.bool, "i*": dt.int64, "f*": dt.float64, "c*": dt.complex128}
"""What holds the values of a Python scalar."""


def strong_of(dtype: DType) -> DType:
    """Return a dtype that an array may have: of a Python scalar's type the widest."""
    return WIDEST.get(dtype.code, dtype)


def decided(policy: Policy, asked: Asked, casts: Casts, *, rows: bool = False) -> Plan | Refusal:
    """Return what a policy does with edited operands, Python numbers among them by their values."""
    operands = edited(asked.operands, casts, rows=rows)
    weak = {*asked.weak} - {*casts} if policy.weak_arrays else ()
    seen = tuple(adopted(policy, o, weak=i in weak) for i, o in enumerate(operands))
    values = tuple(o.value if o.rank is Rank.SCALAR else None for o in operands)
    decide = policy.decide if policy.name == asked.lacking else policy.carried_out
    made = decide(asked.name, seen, values, asked.form)
    return made if isinstance(made, Refusal) else made.plan


def answer_of(policy: Policy, asked: Asked, casts: Casts, *, rows: bool = False) -> DType | None:
    """Return a policy's dtype for edited operands; None if it refuses, or has no such cast."""
    for index, to in casts.items():
        operand = asked.operands[index]
        if to.weak:
            if not keeps_value(operand, to):
                return None
        elif not has(policy, to) or (
            operand.rank is not Rank.SCALAR
            and (source := policy.strong(adopted(policy, operand).type)) is not to
            and policy.cast.refuses(source, to)
        ):
            return None
    ranks = {o.rank for o in edited(asked.operands, casts)}
    if ranks == {Rank.SCALAR} and casts:
        return None  # Python would compute it
    plan = decided(policy, asked, casts, rows=rows)
    return policy.strong(plan.result) if isinstance(plan, Plan) else None


def edited(
    operands: tuple[Operand, ...], casts: Casts, *, rows: bool = False
) -> tuple[Operand, ...]:
    """Return operands with some of them cast, Python scalars among them to 0-d arrays."""
    return tuple(_edited(o, casts[i], rows) if i in casts else o for i, o in enumerate(operands))


def _edited(operand: Operand, to: DType, rows: bool) -> Operand:
    value = _become(operand.value, strong_of(to))
    if to.weak:
        return Operand(to, Rank.SCALAR, value)
    scalar = Rank.ARRAY if rows else Rank.ZERO_D
    return Operand(to, scalar if operand.rank is Rank.SCALAR else operand.rank, value)


def keeps_value(operand: Operand, to: DType) -> bool:
    """Whether a Python number of a type is equal to what an operand is."""
    if operand.value is None:
        return False
    made = _become(operand.value, strong_of(to))
    return bool(made == operand.value) or (made != made and operand.value != operand.value)


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


def can_become(policy: Policy, answer: DType | None, wanted: DType) -> bool:
    """Whether a policy has a dtype, and casts an answer to it."""
    return (
        answer is not None and has(policy, wanted) and policy.cast.refuses(answer, wanted) is None
    )


def holds(
    run: Policy,
    policies: Sequence[Policy],
    asked: Asked,
    casts: Casts,
    result: DType | None = None,
    *,
    rows: bool = False,
    lossy: bool = False,
) -> bool:
    """Whether an edit is right for some operands: all answer as the run did, of the same values.

    ``lossy`` admits casts that lose some of them, which is told.
    """
    if any(index >= len(asked.operands) for index in casts) or result not in (None, asked.wanted):
        return False
    for index, to in casts.items():
        source = strong_of(asked.operands[index].type)
        kept = lossy or to.weak or to is asked.inputs[index]
        if not kept and gravity(source, to)[0]:
            return False
    for policy in (*policies, run):
        answer = answer_of(policy, asked, casts, rows=rows)
        if answer is not asked.wanted and not (result and can_become(policy, answer, result)):
            return False
    return _computes_as_before(run, asked, casts)


def _computes_as_before(run: Policy, asked: Asked, casts: Casts) -> bool:
    """Whether the run makes the same bits of edited operands, where it casts them to the same."""
    before, after = decided(run, asked, {}), decided(run, asked, casts)
    if not isinstance(after, Plan) or after.inputs != asked.inputs:
        return not any(to.weak for to in casts.values())
    return not isinstance(before, Plan) or (
        before.decomposition,
        run.kernel(asked.name, before),
    ) == (
        after.decomposition,
        run.kernel(asked.name, after),
    )


def fits(operand: Operand, to: DType) -> bool:
    """Whether an array of a dtype can be made of a Python int."""
    if operand.rank is not Rank.SCALAR or type(operand.value) is not int or to.weak:
        return True
    if to.kind not in INTEGERS:
        return True
    low, high = bounds(to)
    return low <= operand.value <= high


def lost(
    run: Policy, policies: Sequence[Policy], asked: Asked, casts: Casts, result: DType | None
) -> str:
    """Say what an edit loses that the run does not; "" if nothing."""
    said: dict[str, list[str]] = {}
    for index, to in casts.items():
        source = strong_of(asked.operands[index].type)
        strange = not to.weak and to is not asked.inputs[index]
        if strange and (words := loss(source, to)):
            said.setdefault(f"x{index + 1} to {to.name} {words}", [])
    for policy in policies if result else ():
        plan = decided(policy, asked, casts)
        if not isinstance(plan, Plan):
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


def cost_of(asked: Asked, every: Sequence[Policy], casts: Casts) -> tuple[float, ...]:
    """Return what is worse about casts than about others: what they lose, then how many.

    An int is rather made another int than a float.
    """
    given = [
        (strong_of(asked.operands[i].type), to)
        for i, to in casts.items()
        if asked.inputs[i] is not to  # else the run makes that cast, too
    ]
    lost = [gravity(*each) for each in given]
    floats = sum(to.kind is Kind.FLOAT and source.kind.category < 2 for source, to in given)
    narrower = 0
    for policy in every:
        plan = decided(policy, asked, casts)
        if isinstance(plan, Plan):
            lost.append(gravity(policy.strong(plan.result), asked.wanted))
            narrower += sum(
                gravity(mine, its)[0] > 0
                for mine, its in zip(asked.inputs, plan.inputs, strict=True)
            )
    levels, bits = zip(*lost, strict=True) if lost else ((0,), (0.0,))
    return max(levels), narrower, floats, sum(bits), len(casts)


def compute_alike(
    asked: Asked, every: Sequence[Policy], casts: Casts, *, rows: bool = False
) -> bool:
    """Whether all policies compute with the same dtypes and by the same kernel."""
    found = set()
    for policy in every:
        plan = decided(policy, asked, casts, rows=rows)
        if isinstance(plan, Plan):
            found.add((plan.inputs, plan.decomposition, policy.kernel(asked.name, plan)))
    return len(found) == 1
