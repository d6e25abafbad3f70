"""Functions that no policy plans: who takes no such arrays, and who reads an index otherwise."""

from __future__ import annotations

from typing import Any

from promoarray.core.array_base import type_of
from promoarray.core.events import TakenEvent
from promoarray.core.refusals import rule_against
from promoarray.diagnostics.ask.dtypes import seen_dtype
from promoarray.diagnostics.ask.foreign import entered
from promoarray.diagnostics.ask.operations import Verdict, others, words_of
from promoarray.diagnostics.model.divergence import Answer
from promoarray.diagnostics.model.slots import as_held, as_seen_by, held
from promoarray.dtypes import WEAK, DType, Kind, as_dtype
from promoarray.operations import Form
from promoarray.promotion.answers import MADE_OF_DTYPE
from promoarray.promotion.foreign import Entry
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy


def taken_verdict(policies: tuple[Policy, ...], event: TakenEvent) -> Verdict:
    """Ask every policy whether its function takes such arrays, by its rules and its kernels."""
    run, given = event.policy, event.operands
    mine = tuple(_own(run, x) for x in given)
    names = words_of(map(Operand, mine))
    answers = {run.name: Answer(mine[0], "", "", names)}
    doubts, asked = [], (event.name, mine)
    for policy in others(policies, run):
        seen = tuple(_seen(policy, x) for x in given)
        own = tuple(_own(policy, x) for x in given)
        index, why = _index(policy, event)
        words, origin = words_of(map(Operand, seen)), "" if seen[0] is mine[0] else "inherits"
        if not why and index is Entry.ARRAY:
            why = _refused(policy, event.name, seen)
        if why:
            root = index is Entry.REFUSED or _refused(policy, event.name, own)
            origin = "root" if root else "inherits"
        answers[policy.name] = Answer(None if why else seen[0], why, origin, words)
        if event.name in STEPS and not why and _steps(policy, *asked) != _steps(run, *asked):
            doubts.append((policy.name, f"{policy.title} computes it in other steps"))
        if event.name == "getitem" and not why:
            mask = index is Entry.ARRAY and seen[1] in policy.masks
            if mask != (_index(run, event)[0] is Entry.ARRAY and mine[1] in run.masks):
                reads = f"index arrays of {seen[1].name} for {'a mask' if mask else 'positions'}"
                doubts.append((policy.name, f"{policy.title} takes {reads}"))
    return Verdict(
        event.name.removesuffix(MADE_OF_DTYPE),
        names,
        answers,
        noted=bool(doubts) or any(answer.dtype is None for answer in answers.values()),
        doubts=tuple(doubts),
        held=tuple(x for x in given if not _is_array(x)),
    )


def _is_array(x: Any) -> bool:
    return not isinstance(x, DType)


def _own(policy: Policy, x: Any) -> DType:
    """The run's dtype of an array, or that it asks for, as a policy has it."""
    if _is_array(x):
        return policy.strong(as_held(policy, x).type)
    return held(policy, as_dtype(x))


def _seen(policy: Policy, x: Any) -> DType:
    """The dtype that a policy has given an array so far, or that is asked for."""
    if _is_array(x):
        return policy.strong(as_seen_by(policy, x).type)
    return held(policy, seen_dtype(policy, x))


def _refused(policy: Policy, name: str, dtypes: tuple[DType, ...]) -> str:
    """Why a policy's function takes no arrays of these dtypes; "" if it does."""
    lacking = policy.answers and policy.answers.without_kernel(policy.title, name, dtypes[0])
    return rule_against(policy, name, dtypes) or (lacking.why if lacking else "")


AVERAGED = frozenset({"cov", "histogram", "interp", "quantile"})
STEPS = AVERAGED | {"einsum", "full", "full_like"}
"""Functions of several steps, which hang on the policy; the former take floats for other dtypes."""


def _steps(policy: Policy, name: str, dtypes: tuple[DType, ...]) -> tuple[object, ...]:
    """The steps of a function: what is composed, what is fixed, what reads a number off an array,
    and the floats that arrays of other dtypes become."""
    others = (d for d in dtypes if name in AVERAGED and d.kind is not Kind.FLOAT)
    floats = (_float_of(policy, name, dtype) for dtype in others)
    fixed = policy.fixed.get(name), policy.fixed.get("density")
    return name in policy.composed, *fixed, policy.stored.reads.get(name, ...), *floats


def _float_of(policy: Policy, name: str, dtype: DType) -> object:
    """The float that an array becomes, or why it becomes none."""
    cell = policy.answers.cell(name, Operand(dtype)) if policy.answers and name == "cov" else None
    if cell and not cell.refused:
        return policy.strong(cell.results[0])
    mean = policy.plan("mean", (Operand(dtype),), Form.FUNCTION)
    return mean.reason if isinstance(mean, Refusal) else policy.strong(mean.result)


def _index(policy: Policy, event: TakenEvent) -> tuple[Entry, str]:
    """What an index enters as that is another library's, and why it does not."""
    if not event.given:
        return Entry.ARRAY, ""
    found = entered(policy, event.name, Form.OPERATOR, event.operands, event.given)
    if found.refusal:
        return Entry.REFUSED, found.refusal.reason
    index = found.operands[1]
    as_it_is = type(index) not in WEAK and type_of(index._type) is type_of(event.operands[1]._type)
    return Entry.ARRAY if as_it_is else Entry.INT, ""
