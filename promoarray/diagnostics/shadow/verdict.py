"""What the shadow policies say of one operation, and what its results carry on with.

A verdict hangs on the operation, on the types and ranks of its operands, and on the magnitude of
Python scalars; so it is asked for once for all operations that are alike in these (``key_of``).
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from promoarray.core.array_base import type_of
from promoarray.core.observers import OperationEvent, RefusalEvent
from promoarray.core.operands import is_left_lazy, looked_on
from promoarray.core.read_dtype import read_dtype
from promoarray.core.recovery import dtypes_after
from promoarray.diagnostics.shadow.common_fixes import as_given, fix_of
from promoarray.diagnostics.shadow.divergence import Answer
from promoarray.diagnostics.shadow.held import held, lacks
from promoarray.diagnostics.shadow.magnitude import magnitude
from promoarray.diagnostics.shadow.value_changes import Difference, scalar_differences
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.plan import Decision, Operand, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds


class ShadowDTypes:
    """A type slot's record: the run's dtype, and what each shadow policy has instead.

    ``record`` makes one object of all that are alike, so that they are told by identity.
    """

    __slots__ = ("__weakref__", "answers", "dtype")

    def __init__(self, dtype: DType, answers: dict[str, DType]) -> None:
        self.dtype = dtype
        self.answers = answers

    def __reduce__(self) -> tuple[Any, ...]:
        return record, (self.dtype, self.answers)  # with a lazy array, to where it is computed

    def read(self, dtype: DType) -> DType:
        """Return what a program reads as the dtype of an array that is stored in ``dtype``."""
        return read_dtype(dtype, self.answers)


def record(dtype: DType, kept: dict[str, DType]) -> DType | ShadowDTypes:
    """Return what a type slot bears: the dtype itself where no policy has another."""
    differing = {name: each for name, each in kept.items() if each is not dtype}
    if not differing:
        return dtype
    key = dtype, *differing.items()
    return _RECORDS.get(key) or _RECORDS.setdefault(key, ShadowDTypes(dtype, differing))


_RECORDS: WeakValueDictionary[tuple[object, ...], ShadowDTypes] = WeakValueDictionary()
"""Those in use: the names of policies that are gone are kept no longer."""


class ScalarChange(NamedTuple):
    """A Python scalar of which some policies make another number than the run."""

    source: DType
    target: DType
    difference: Difference


class Verdict(NamedTuple):
    """What the policies say of an operation on operands of some types.

    Attributes
    ----------
    answers : dict or None
        From policy name to Answer, the run's first; None where all agree.
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
        Whether it holds for scalars of the same magnitude: a reason may name the value.
    assumes : tuple of str
        The policies that answer otherwise of other values of a lazy 0-d array.
    """

    answers: dict[str, Answer] | None
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
            operands.append(magnitude(x))
            continue
        flat = not x._buffer.shape
        value = magnitude(looked_on(x)) if flat and by_value else None
        operands.append((x._type, flat, value))
    low = event.options.get("low", True)
    return event.name, event.form, event.policy, event.plan.result, low, *operands


def verdict_of(policies: tuple[Policy, ...], event: OperationEvent) -> Verdict:
    """Ask every policy what it would have done."""
    operands = tuple(map(str, event.seen))
    noted: dict[str, Answer] | None = None
    theirs = [_decided(policy, event) for policy in policies]
    slots, lasting = [], True
    for which, made in enumerate((event.plan.result, *event.plan.extra_results)):
        asked = {each.policy.name: _ask(each, event, operands, which) for each in theirs}
        run = event.policy.strong(made)
        # A place is noted once, for the first result that differs.
        if noted is None and any(each.answer.dtype is not run for each in asked.values()):
            mine = {event.policy.name: Answer(run, "", "", operands)}
            noted = mine | {n: a.answer for n, a in asked.items() if n not in mine}
        slots.append(record(made, {name: each.carried for name, each in asked.items()}))
        lasting = lasting and not any(each.by_value for each in asked.values())
    scalars = _scalars(theirs, event)
    lasting = lasting and not scalars  # which name the value
    signatures = _signatures(policies, event)
    assumes = tuple(p.name for p in policies if p.by_value and _assumes(p, event))
    return Verdict(noted, operands, tuple(slots), signatures, scalars, lasting, assumes)


def _assumes(policy: Policy, event: OperationEvent) -> bool:
    """Whether a policy would answer otherwise of other values of lazy 0-d arrays."""
    seen = tuple(as_seen_by(policy, x) for x in event.operands)
    lazily = [
        o.rank is Rank.ZERO_D and is_left_lazy(x) for o, x in zip(seen, event.operands, strict=True)
    ]
    if not any(lazily):
        return False
    answers = {_decide(policy, event, seen, 0)}
    for end in (0, 1):
        others = (
            o._replace(value=_ends(o.type)[end]) if is_lazy else o
            for o, is_lazy in zip(seen, lazily, strict=True)
        )
        answers.add(_decide(policy, event, tuple(others), 0))
    return len(answers) > 1


def _ends(dtype: DType) -> tuple[Any, Any]:
    """The smallest and the largest value of a dtype; of floats those of the widest."""
    if dtype.kind in INTEGERS:
        return bounds(dtype)
    if dtype.kind is Kind.BOOL:
        return False, True
    most = sys.float_info.max
    return (-most, most) if dtype.kind is Kind.FLOAT else (complex(-most), complex(most))


class Decided(NamedTuple):
    """What a policy decides for the operands with the types it has seen so far."""

    policy: Policy
    seen: tuple[Operand, ...]
    decision: Decision | Refusal


def _decided(policy: Policy, event: OperationEvent) -> Decided:
    seen = tuple([as_seen_by(policy, x) for x in event.operands])
    asked = event.name, seen, event.operands
    return Decided(policy, seen, policy.decide(*asked, event.form, options=event.options))


def _scalars(theirs: list[Decided], event: OperationEvent) -> tuple[ScalarChange, ...]:
    """The Python scalars of which some policies make another number of the same dtype."""
    if not any(type(x) in WEAK for x in event.operands):
        return ()
    decided = {
        each.policy: each.decision for each in theirs if not isinstance(each.decision, Refusal)
    }
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


class Asked(NamedTuple):
    """A policy's answer with the types it has seen.

    Attributes
    ----------
    answer : Answer
    carried : DType
        The type it carries on with.
    by_value : bool
        Whether it refuses a scalar for its value, which the reason names.
    """

    answer: Answer
    carried: DType
    by_value: bool


def _ask(theirs: Decided, event: OperationEvent, operands: tuple[str, ...], which: int) -> Asked:
    """A policy's answer with the types it has seen, and the type it carries on with.

    ``which`` of the results is meant, where the operation has several; ``operands`` are the run's
    in words.
    """
    policy, seen, decision = theirs
    decided = _result(decision, which)
    run = event.policy.strong((event.plan.result, *event.plan.extra_results)[which])
    names = operands if seen == event.seen else tuple(map(str, seen))
    if isinstance(decided, Refusal):
        reason, answer, by_value = decided.reason, None, decided.error is not None
        carried = _after_refusal(policy, event, seen, decided, which)
    else:
        reason, answer, by_value, carried = "", policy.strong(decided), False, decided
    origin = "" if answer is run else _origin(theirs, event, which, run)
    weak = origin == "inherits" and answer is not None and _only_weak(policy, event, seen)
    if weak:
        origin, reason = "root", WEAK_REASON
    as_weak = seen if weak else None
    fix = fix_of(policy, event, run, as_weak) if origin == "root" and which == 0 else None
    carried = carried or held(policy, run)
    return Asked(Answer(answer, reason, origin, names, fix), carried, by_value)


def _origin(theirs: Decided, event: OperationEvent, which: int, run: DType) -> str:
    """Whether the policy answers otherwise for the run's own operands, too, or an earlier line did.

    So roots are what has to be edited, and with their edits nothing is left to inherit; but for a
    dtype that the policy never holds, which differs from where it comes up.
    """
    policy, seen, decision = theirs
    given = tuple([_as_stored(policy, event.policy, x) for x in event.operands])
    decided = _result(decision, which) if given == seen else _decide(policy, event, given, which)
    answer = None if isinstance(decided, Refusal) else policy.strong(decided)
    never_held = answer is held(policy, run) and any(
        type(x) not in WEAK and type(x._type) is ShadowDTypes and policy.name in x._type.answers
        for x in event.operands
    )
    return "inherits" if answer is run or never_held else "root"


def _as_stored(policy: Policy, run: Policy, x: Any) -> Operand:
    """An operand of the run as a policy sees it; a weakly typed array as the run stores it.

    Where defaults differ, as of JAX with and without x64, it was told where the array was made.
    """
    operand = as_held(policy, x)
    label = None if type(x) in WEAK else x._type
    if label is None or not type_of(label).weak:
        return operand
    told = type(label) is ShadowDTypes and policy.name in label.answers
    stored, seen = run.strong(type_of(label)), policy.strong(as_seen_by(policy, x).type)
    differs = seen is not stored and (told or policy.weak_arrays)
    return operand._replace(type=stored) if differs else operand


WEAK_REASON = "an operand is weakly typed there: it was made of Python numbers alone"


def _only_weak(policy: Policy, event: OperationEvent, seen: tuple[Operand, ...]) -> bool:
    """Whether the operands have the run's dtypes under a policy, but some are weak there alone.

    No line before has another dtype then, from which this one could inherit it.
    """
    if not policy.weak_arrays:
        return False
    held = [as_held(policy, x).type for x in event.operands]
    theirs = [operand.type for operand in seen]
    alike = all(policy.strong(a) is policy.strong(b) for a, b in zip(held, theirs, strict=True))
    return alike and any(a.weak > b.weak for a, b in zip(theirs, held, strict=True))


def _decide(
    policy: Policy, event: OperationEvent, operands: tuple[Operand, ...], which: int
) -> DType | Refusal:
    asked = event.name, operands, event.operands
    return _result(policy.decide(*asked, event.form, options=event.options), which)


def _result(decided: Decision | Refusal, which: int) -> DType | Refusal:
    """The dtype of one of the results."""
    if isinstance(decided, Refusal):
        return decided
    return (decided.plan.result, *decided.plan.extra_results)[which]


def _after_refusal(
    policy: Policy,
    event: OperationEvent,
    seen: tuple[Operand, ...],
    refusal: Refusal,
    which: int,
) -> DType | None:
    """What the result would be had the user cast as the error message says."""
    asked = event.name, event.form, policy, event.operands, seen, refusal, event.options
    made = dtypes_after(RefusalEvent(*asked))
    return made[which] if made else None


def as_seen_by(policy: Policy, x: Any) -> Operand:
    """An operand with the type that a policy has given it so far."""
    label = None if type(x) in WEAK else x._type
    given = label.answers.get(policy.name) if type(label) is ShadowDTypes else None
    return as_given(policy, x, given)


def as_held(policy: Policy, x: Any) -> Operand:
    """An operand of the run as a policy sees it; as it goes on with it where it lacks the dtype."""
    given = as_given(policy, x)
    return as_seen_by(policy, x) if lacks(policy, given.type) else given
