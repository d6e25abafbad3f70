"""Answers of policies about an operation, and the dtypes that its results carry on with."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from promoarray.core.array_base import type_of
from promoarray.core.events import OperationEvent, SetitemEvent
from promoarray.core.operands import is_left_lazy, looked_on
from promoarray.diagnostics.ask.foreign import (
    as_entered,
    entered,
    given_kind,
    has_axes,
    other_numbers,
)
from promoarray.diagnostics.ask.values import scalar_differences, wrapped_ints
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.model.divergence import Answer
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.model.slots import (
    Pending,
    RefusedOperation,
    ShadowDTypes,
    as_held,
    as_seen_by,
    ask,
    held,
    not_stored,
    pending_of,
    record,
    result_of,
)
from promoarray.diagnostics.model.values import Difference
from promoarray.dtypes import INTEGERS, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.answers import Grade
from promoarray.promotion.plan import Decision, Operand, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds


class ScalarChange(NamedTuple):
    """A Python scalar of which some policies make another number than the run."""

    source: DType
    target: DType
    difference: Difference


class Verdict(NamedTuple):
    """What the policies say of one thing that a program does."""

    name: str  # the operation
    operands: tuple[str, ...]  # the operands' dtypes in the run
    # from policy name to Answer, the run's first; of the first result that differs
    answers: Mapping[str, Answer]
    slots: tuple[DType | ShadowDTypes, ...] = ()  # for each result what its type slot bears
    event: Any = None  # what was done, without data (``Divergence.event``)
    form: Form = Form.OPERATOR
    noted: bool = True  # whether its place is noted
    # whether it holds for scalars of the same class: a reason may name the value
    lasting: bool = True
    # the policies whose framework's function takes no such call, and why
    signatures: tuple[tuple[str, str], ...] = ()
    # the policies of which it is doubtful that they carry it out, and why
    doubts: tuple[tuple[str, str], ...] = ()
    # the Python scalars of which some policies make another number
    scalars: tuple[ScalarChange, ...] = ()
    # the policies that answer otherwise of other values of a lazy 0-d array
    assumes: tuple[str, ...] = ()
    carried: Mapping[str, DType] = {}  # of a dtype that is asked for: what the policies go on with
    held: object = None  # what has to live as long, for it is known by its address
    also: tuple[Verdict, ...] = ()  # of further results, of which other policies differ

    @property
    def differs(self) -> bool:
        """Whether some policy gives another dtype, or refuses."""
        return len({answer.dtype for answer in self.answers.values()}) > 1


def kind_of(x: Any, by_value: bool) -> Hashable:
    """Return what operands have in common of which every policy says the same, if some policy looks
    at the values of 0-d arrays ``by_value``."""
    if isinstance(x, DType):
        return id(x)  # one that was read equals the run's, whatever the policies have
    if type(x) in WEAK:
        return scalar_class(x)
    flat = not x._buffer.ndim
    return x._type, flat, scalar_class(looked_on(x)) if flat and by_value else None


def words_of(operands: Iterable[object]) -> tuple[str, ...]:
    """Return operands in words."""
    return tuple(map(str, operands))


def others(policies: tuple[Policy, ...], run: Policy) -> list[Policy]:
    """Return the policies but the run's."""
    return [policy for policy in policies if policy.name != run.name]


def without_data(x: Any, by_value: bool) -> Any:
    """Return what stands for an operand; of a 0-d array with its value, if that is looked at."""
    if type(x) in WEAK:
        return x
    ndim = x._buffer.ndim
    if ndim or not by_value:
        return AbstractArray.of(x._type, ndim)
    known = x.has_value if isinstance(x, AbstractArray) else not is_left_lazy(x)
    return AbstractArray.of_value(x._type, looked_on(x), known)


def assignment_verdict(
    policies: tuple[Policy, ...], assignment: SetitemEvent, by_value: bool
) -> Verdict:
    """Ask every policy whether it would have written a value.

    It takes the dtype of its target everywhere, so that no dtype differs here.
    """
    run, target, value, source, dtype, _ = assignment
    names = words_of((Operand(dtype), Operand(source)))
    answers = {run.name: Answer(dtype, "", "", names)}
    for policy in others(policies, run):
        theirs, seen, why = _stored_by(policy, assignment)
        why = why or not_stored(policy, seen, theirs)
        made = None if why else policy.strong(seen[0].type)
        answers[policy.name] = Answer(made, why, "root" if why else "", words_of(seen))
    lasting = all(answer.dtype for answer in answers.values())  # else a reason may name the value
    given = without_data(target, False), without_data(value, by_value)
    event = assignment._replace(target=given[0], value=given[1], given=None)
    return Verdict("setitem", names, answers, event=event, lasting=lasting)


def _stored_by(policy: Policy, event: SetitemEvent) -> tuple[Any, tuple[Operand, ...], str]:
    """A value that is written as it enters under a policy, what that sees, and why not."""
    pair, given = (event.target, event.value), (None, event.given)
    if event.given is None:
        return event.value, tuple([as_seen_by(policy, x) for x in pair]), ""
    found = entered(policy, "setitem", Form.INPLACE, pair, given)
    return found.operands[1], found.seen, found.refusal.reason if found.refusal else ""


# -- operations --------------------------------------------------------------------------------


Decided = dict[Policy, tuple[OperationEvent, tuple[Operand, ...], Decision | Refusal]]
"""From each policy to the operation with the operands as it takes them in, those with the types it
has seen so far, and what it does then."""

WEAK_REASON = "an operand is weakly typed there: it was made of Python numbers alone"


def key_of(event: OperationEvent, by_value: bool) -> Hashable:
    """Return what operations of one verdict have in common; see ``kind_of``."""
    said = event.options.get("low", True), *map(event.options.get, ("real", "default"))
    operands = [kind_of(x, by_value) for x in event.operands]
    operands += [None if x is None else given_kind(x) for x in event.given]
    return event.name, event.form, event.policy, event.plan.result, *said, *operands


def verdict_of(policies: tuple[Policy, ...], event: OperationEvent) -> Verdict:
    """Ask every policy what it would have done."""
    run, words = event.policy, words_of(event.seen)
    decided: Decided = {}
    unknown = []
    for policy in policies:
        decided[policy] = theirs, seen, found = as_entered(policy, event)
        if isinstance(found, Refusal) and found.unknown and policy is not run:  # as in the run
            unknown.append((policy.name, found.why))
            decided[policy] = theirs, seen, Decision(event.plan, event.values)
    given = pending_of(event.operands)
    made = event.plan.result, *event.plan.extra_results
    pending = _with_refusals(given, decided, run, RefusedOperation(event.name, words))
    slots = [record(each, _carried(decided, run, i, each), pending) for i, each in enumerate(made)]
    differing: dict[int, set[str]] = {}
    for i, dtype in enumerate(made):
        known = set[str]().union(*differing.values())
        if new := {*_differing(decided, run, i, dtype)} - known:
            differing[i] = new
    which, *further = differing or [0]
    scalars = _scalars(decided, event)
    decisions = [decision for _, _, decision in decided.values()]
    by_value = any(isinstance(each, Refusal) and each.error is not None for each in decisions)
    lazy = any(map(_is_left_lazy, event.operands))
    return Verdict(
        event.name,
        words,
        _answers(decided, event, which, given),
        tuple(slots),
        _without_data(event, any(policy.by_value is not None for policy in policies)),
        event.form,
        lasting=not by_value and not scalars and not any(map(has_axes, event.given)),
        signatures=tuple(_signatures(decided)),
        doubts=(*unknown, *_doubts(decided, event)),
        scalars=scalars,
        assumes=tuple(p.name for p in policies if lazy and p.by_value and _assumes(p, event)),
        also=tuple(
            Verdict(event.name, words, _answers(decided, event, i, given), form=event.form)
            for i in further
        ),
    )


def _with_refusals(
    pending: Pending, decided: Decided, run: Policy, refused: RefusedOperation
) -> Pending:
    """The refusals that the results hang on: those of the operands, and this one."""
    found = dict(pending)
    for policy, (_, _, decision) in decided.items():
        if isinstance(decision, Refusal) and policy is not run:
            found[policy.name] = found.get(policy.name, frozenset()) | {refused}
    return found


def _carried(decided: Decided, run: Policy, which: int, made: DType) -> dict[str, DType]:
    """The dtypes that the policies go on with.

    After a refusal that is what the edit there gives: the run's.
    """
    kept = {}
    for policy, (_, _, decision) in decided.items():
        dtype = result_of(decision, which, run.strong(made))
        if isinstance(dtype, Refusal):
            dtype = held(policy, run.strong(made))
        kept[policy.name] = dtype
    return kept


def _differing(decided: Decided, run: Policy, which: int, made: DType) -> Iterator[str]:
    """Yield the policies that give another dtype of a result, or refuse."""
    mine = run.strong(made)
    for policy, (_, _, decision) in decided.items():
        theirs = _dtype(policy, result_of(decision, which, mine))
        if policy.name != run.name and theirs is not mine:
            yield policy.name


def _dtype(policy: Policy, result: DType | Refusal) -> DType | None:
    """The dtype in memory; None of a refusal."""
    return None if isinstance(result, Refusal) else policy.strong(result)


def _without_data(event: OperationEvent, by_value: bool) -> OperationEvent:
    """An event that keeps no array alive, but values of 0-d arrays if they are asked for."""
    given = tuple([without_data(x, by_value) for x in event.operands])
    looked_at = ("low", "real", "default")
    options = {name: event.options[name] for name in looked_at if name in event.options}
    nothing: Any = None
    foreign = tuple([x is not None for x in event.given])
    bare = event._replace(
        operands=given, values=(), result=nothing, extra_results=(), given=foreign
    )
    return bare._replace(options=options)


# -- answers --------------------------------------------------------------------------------------


def _answers(
    decided: Decided, event: OperationEvent, which: int, pending: Pending
) -> dict[str, Answer]:
    """What is said of one result, the run's first."""
    run, words = event.policy, words_of(event.seen)
    mine = run.strong((event.plan.result, *event.plan.extra_results)[which])
    answers = {run.name: Answer(mine, "", "", words)}
    for policy, (theirs, seen, decision) in decided.items():
        if policy.name == run.name:
            continue
        result = result_of(decision, which, mine)
        reason = result.reason if isinstance(result, Refusal) else ""
        dtype, origin = _dtype(policy, result), ""
        if dtype is not mine:
            origin = _origin(policy, seen, result, theirs, which)
            if origin == "inherits" and dtype is not None and _only_weak(policy, theirs, seen):
                origin, reason = "root", WEAK_REASON
        names = words if seen == event.seen else words_of(seen)
        hangs_on = pending.get(policy.name, frozenset())
        answers[policy.name] = Answer(dtype, reason, origin, names, None, hangs_on)
    return answers


def _origin(
    policy: Policy,
    seen: tuple[Operand, ...],
    result: DType | Refusal,
    event: OperationEvent,
    which: int,
) -> str:
    """Whether the policy answers otherwise for the run's own operands, too, or an earlier line did.

    So roots are what has to be edited, and with their edits nothing is left to inherit; but for a
    dtype that the policy never holds, which differs from where it comes up.
    """
    run = event.policy.strong((event.plan.result, *event.plan.extra_results)[which])
    given = tuple([_as_stored(policy, event.policy, x) for x in event.operands])
    if given != seen:
        result = result_of(ask(policy, event, given), which, run)
    answer = _dtype(policy, result)
    never_held = answer is held(policy, run) and any(_told(policy, x) for x in event.operands)
    return "inherits" if answer is run or never_held else "root"


def _told(policy: Policy, x: Any) -> bool:
    """Whether a policy has another dtype than the run for an array."""
    label = None if type(x) in WEAK else x._type
    return type(label) is ShadowDTypes and policy.name in label.answers


def _as_stored(policy: Policy, run: Policy, x: Any) -> Operand:
    """An operand of the run as a policy sees it; a weakly typed array as the run stores it.

    Where defaults differ, as of JAX with and without x64, it was told where the array was made.
    """
    operand = as_held(policy, x)
    if type(x) in WEAK or not type_of(x._type).weak:
        return operand
    stored, seen = run.strong(type_of(x._type)), policy.strong(as_seen_by(policy, x).type)
    differs = seen is not stored and (_told(policy, x) or policy.weak_arrays)
    return operand._replace(type=stored) if differs else operand


def _only_weak(policy: Policy, event: OperationEvent, seen: tuple[Operand, ...]) -> bool:
    """Whether the operands have the run's dtypes under a policy, but some are weak there alone.

    No line before has another dtype then, from which this one could inherit it.
    """
    if not policy.weak_arrays:
        return False
    pairs = [(as_held(policy, x).type, o.type) for x, o in zip(event.operands, seen, strict=True)]
    alike = all(policy.strong(a) is policy.strong(b) for a, b in pairs)
    return alike and any(theirs.weak > mine.weak for mine, theirs in pairs)


# -- Python scalars, signatures, lazy values ------------------------------------------------------


def _scalars(decided: Decided, event: OperationEvent) -> tuple[ScalarChange, ...]:
    """The Python scalars of which some policies make another number of the same dtype."""
    found = []
    every = zip(event.operands, event.values, event.plan.inputs, strict=True)
    for index, (x, value, dtype) in enumerate(every):
        if type(x) not in WEAK or (event.given and event.given[index] is not None):
            continue
        others = {
            policy: decision.values[index]
            for policy, (_, _, decision) in decided.items()
            if not isinstance(decision, Refusal) and decision.plan.inputs[index] is dtype
        }
        changes = scalar_differences(event.policy, x, value, dtype, others)
        changes += wrapped_ints(event, index, x, value, _in_other_dtypes(decided, event, index))
        found += [ScalarChange(WEAK[type(x)], dtype, change) for change in changes]
    return tuple(found)


def _in_other_dtypes(
    decided: Decided, event: OperationEvent, index: int
) -> dict[Policy, tuple[Any, DType]]:
    """What policies make of a scalar that enter it in another dtype than the run, and whose result
    is of the run's dtype all the same, as of a comparison."""
    return {
        policy: (decision.values[index], decision.plan.inputs[index])
        for policy, (_, _, decision) in decided.items()
        if not isinstance(decision, Refusal)
        and decision.plan.inputs[index] is not event.plan.inputs[index]
        and decision.plan.result is event.plan.result
    }


def _doubts(decided: Decided, event: OperationEvent) -> Iterator[tuple[str, str]]:
    """Yield the policies that take an operand for another number, and those whose device may have
    no kernel for it, as lists do not agree."""
    for policy, (theirs, seen, decision) in decided.items():
        if policy.name == event.policy.name or isinstance(decision, Refusal):
            continue
        for number in other_numbers(event, theirs):
            yield policy.name, f"{policy.title} takes {number} for another number"
        support = policy.support(event.name, seen, decision.plan)
        if support is not None and support.grade is Grade.DOUBTFUL:
            yield policy.name, str(support)


def _signatures(decided: Decided) -> Iterator[tuple[str, str]]:
    """Yield the policies whose framework's function takes no such call, and why."""
    for policy, (event, seen, _) in decided.items():
        own = [i for i, x in enumerate(event.operands) if type(x) in WEAK]
        if event.given:  # what the program did not give as a Python scalar
            own = [i for i in own if event.given[i] is None]
        if own and event.form is Form.FUNCTION:
            refusal = policy.signature_refusal(event.name, seen)
            if refusal is not None:
                yield policy.name, f"{refusal.reason}; pass an array"


def _is_left_lazy(x: Any) -> bool:
    """Whether a value is not computed for policies that look at those of 0-d arrays."""
    return type(x) not in WEAK and not x._buffer.ndim and is_left_lazy(x)


def _assumes(policy: Policy, event: OperationEvent) -> bool:
    """Whether a policy would answer otherwise of other values of lazy 0-d arrays."""
    event, seen, decided = as_entered(policy, event)
    answers = {result_of(decided)}
    for end in (0, 1):
        others = (
            o._replace(value=_ends(o.type)[end]) if _is_left_lazy(x) else o
            for o, x in zip(seen, event.operands, strict=True)
        )
        answers.add(result_of(ask(policy, event, tuple(others))))
    return len(answers) > 1


def _ends(dtype: DType) -> tuple[Any, Any]:
    """The smallest and the largest value of a dtype; of floats those of the widest."""
    if dtype.kind in INTEGERS:
        return bounds(dtype)
    if dtype.kind is Kind.BOOL:
        return False, True
    most = sys.float_info.max
    return (-most, most) if dtype.kind is Kind.FLOAT else (complex(-most), complex(most))
