"""What the shadow policies say of one operation, and what its results carry on with.

A verdict hangs on the operation, on the types and ranks of its operands, and on the scalar_class of
Python scalars; so it is asked for once for all operations that are alike in these (``key_of``).
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any, NamedTuple

from promoarray.core.events import OperationEvent
from promoarray.core.operands import is_left_lazy, looked_on
from promoarray.diagnostics.model.answers import OperationAnswers, Said, result_of
from promoarray.diagnostics.model.fallback_dtype import held
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.model.slots import (
    RefusedOperation,
    SeenByAll,
    ShadowDTypes,
    as_seen_by,
    pending_of,
    record,
)
from promoarray.diagnostics.model.value_changes import Difference, scalar_differences
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.plan import Decision, Operand, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds


class ScalarChange(NamedTuple):
    """A Python scalar of which some policies make another number than the run."""

    source: DType
    target: DType
    difference: Difference


class Verdict(NamedTuple):
    """What the policies say of an operation on operands of some types.

    Attributes
    ----------
    answers : OperationAnswers
        Of the first result that differs, else of the first.
    differs : bool
        Whether some policy gives another dtype, or refuses.
    operands : tuple of str
        The operands' dtypes in the run.
    slots : tuple
        For each result what its type slot bears.
    signatures : tuple of (str, str)
        The policies whose framework's function takes no such call, and why.
    scalars : tuple of (DType, DType, Difference)
        The Python scalars of which some policies make another number: their type, the dtype that
        they become, and the numbers.
    lasting : bool
        Whether it holds for scalars of the same scalar_class: a reason may name the value.
    assumes : tuple of str
        The policies that answer otherwise of other values of a lazy 0-d array.
    """

    answers: OperationAnswers
    differs: bool
    operands: tuple[str, ...]
    slots: tuple[DType | ShadowDTypes, ...]
    signatures: tuple[tuple[str, str], ...]
    scalars: tuple[ScalarChange, ...]
    lasting: bool
    assumes: tuple[str, ...] = ()


def key_of(event: OperationEvent, by_value: bool) -> Hashable:
    """Return what operations of one verdict have in common.

    Parameters
    ----------
    event : OperationEvent
    by_value : bool
        Whether some policy looks at the values of 0-d arrays.
    """
    operands = []
    for x in event.operands:
        if type(x) in WEAK:
            operands.append(scalar_class(x))
            continue
        flat = not x._buffer.shape
        value = scalar_class(looked_on(x)) if flat and by_value else None
        operands.append((x._type, flat, value))
    said = event.options.get("low", True), event.options.get("real")
    return event.name, event.form, event.policy, event.plan.result, *said, *operands


def verdict_of(seen_by_all: SeenByAll, event: OperationEvent) -> Verdict:
    """Ask every policy what it would have done."""
    policies, (name, run, operands) = seen_by_all.policies, event[:3]
    seen = seen_by_all(operands)
    decisions = [
        policy.carried_out(name, its, operands, event.form, options=event.options)
        for policy, its in zip(policies, seen, strict=True)
    ]
    words = tuple(map(str, event.seen))
    pending = pending_of(operands)
    refused = frozenset({RefusedOperation(name, words)})
    for policy, decided in zip(policies, decisions, strict=True):
        if isinstance(decided, Refusal) and policy is not run:
            pending[policy.name] = pending.get(policy.name, frozenset()) | refused
    answers: OperationAnswers | None = None
    slots = []
    for which, made in enumerate((event.plan.result, *event.plan.extra_results)):
        mine = run.strong(made)
        theirs = tuple([result_of(each, which, mine) for each in decisions])
        said = Said(policies, tuple(seen), theirs)
        if answers is None and any(dtype is not mine for dtype in said.dtypes()):
            answers = OperationAnswers.of(event, which, said)  # noted once, for the first result
        slots.append(record(made, _carried(said, event, made), pending))
    scalars = _scalars(policies, decisions, event)
    by_value = any(isinstance(each, Refusal) and each.error is not None for each in decisions)
    lasting = not by_value and not scalars  # which name the value
    signatures = _signatures(policies, event)
    lazy = any(map(_is_left_lazy, operands))
    assumes = tuple(p.name for p in policies if lazy and p.by_value and _assumes(p, event))
    differs = answers is not None
    if answers is None:
        first = tuple([result_of(each, 0, event.plan.result) for each in decisions])
        answers = OperationAnswers.of(event, 0, Said(policies, tuple(seen), first))
    return Verdict(answers, differs, words, tuple(slots), signatures, scalars, lasting, assumes)


def _carried(said: Said, event: OperationEvent, made: DType) -> dict[str, DType]:
    """The dtypes of the policies that go on with another than the run.

    After a refusal that is what the edit there gives: the run's.
    """
    kept = {}
    for policy, _, decided in zip(*said, strict=True):
        dtype = decided
        if isinstance(dtype, Refusal):
            dtype = held(policy, event.policy.strong(made))
        if dtype is not made:
            kept[policy.name] = dtype
    return kept


def _is_left_lazy(x: Any) -> bool:
    """Whether a value is not computed for policies that look at those of 0-d arrays."""
    return type(x) not in WEAK and not x._buffer.ndim and is_left_lazy(x)


def _assumes(policy: Policy, event: OperationEvent) -> bool:
    """Whether a policy would answer otherwise of other values of lazy 0-d arrays."""
    seen = tuple(as_seen_by(policy, x) for x in event.operands)
    lazily = [
        o.rank is Rank.ZERO_D and is_left_lazy(x) for o, x in zip(seen, event.operands, strict=True)
    ]
    answers = {_decide(policy, event, seen)}
    for end in (0, 1):
        others = (
            o._replace(value=_ends(o.type)[end]) if is_lazy else o
            for o, is_lazy in zip(seen, lazily, strict=True)
        )
        answers.add(_decide(policy, event, tuple(others)))
    return len(answers) > 1


def _decide(
    policy: Policy, event: OperationEvent, operands: tuple[Operand, ...]
) -> DType | Refusal:
    asked = event.name, operands, event.operands
    decided = policy.carried_out(*asked, event.form, options=event.options)
    return result_of(decided, 0, event.plan.result)


def _ends(dtype: DType) -> tuple[Any, Any]:
    """The smallest and the largest value of a dtype; of floats those of the widest."""
    if dtype.kind in INTEGERS:
        return bounds(dtype)
    if dtype.kind is Kind.BOOL:
        return False, True
    most = sys.float_info.max
    return (-most, most) if dtype.kind is Kind.FLOAT else (complex(-most), complex(most))


def _scalars(
    policies: tuple[Policy, ...], decisions: list[Decision | Refusal], event: OperationEvent
) -> tuple[ScalarChange, ...]:
    """The Python scalars of which some policies make another number of the same dtype."""
    if WEAK.keys().isdisjoint(map(type, event.operands)):
        return ()
    both = zip(policies, decisions, strict=True)
    decided = {policy: each for policy, each in both if not isinstance(each, Refusal)}
    found = []
    for index, (x, value, dtype) in enumerate(
        zip(event.operands, event.values, event.plan.inputs, strict=True)
    ):
        if type(x) not in WEAK:
            continue
        others = {p: d.values[index] for p, d in decided.items() if d.plan.inputs[index] is dtype}
        changes = scalar_differences(event.policy, x, value, dtype, others)
        found += [ScalarChange(WEAK[type(x)], dtype, change) for change in changes]
    return tuple(found)


def _signatures(policies: tuple[Policy, ...], event: OperationEvent) -> tuple[tuple[str, str], ...]:
    """The policies whose framework's function takes no such call, and why."""
    if event.form is not Form.FUNCTION or not any(type(x) in WEAK for x in event.operands):
        return ()
    refusals = ((p.name, p.signature_refusal(event.name, event.seen)) for p in policies)
    return tuple((name, refusal.reason) for name, refusal in refusals if refusal is not None)
