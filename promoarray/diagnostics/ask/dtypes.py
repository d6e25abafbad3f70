"""Answers of policies about dtypes: defaults, and those that a program asks for or about.

It asks where it makes arrays, where it casts, and by ``result_type``. A dtype that it wrote is the
same everywhere, unless a policy lacks it: then that is a root, and the policy goes on with the
dtype that loses least. One that it read from an array, or from the policy, is each policy's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.core.array_base import Array, type_of
from promoarray.core.events import CastEvent, Decision, Question
from promoarray.core.proposed_casts import accepted_casts
from promoarray.core.read_dtype import ReadDType
from promoarray.core.refusals import cast_refusal
from promoarray.diagnostics.ask.operations import Verdict, others, words_of
from promoarray.diagnostics.model.divergence import (
    ASKED_DTYPE,
    DEFAULT_DTYPE,
    ENTRY,
    Answer,
    DefaultMade,
    Entered,
)
from promoarray.diagnostics.model.slots import as_held, as_seen_by, held, lacks, record, why_lacking
from promoarray.dtypes import DType, as_dtype
from promoarray.operations import Form
from promoarray.promotion.cast_rules import Given
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy import Policy

Policies = tuple[Policy, ...]

MadeAgain = Mapping[str, Array | Refusal]
"""From the names of policies to what they make of the same Python numbers."""

NOT_AGAIN: MadeAgain = MappingProxyType({})


class EntryEvent(NamedTuple):
    """Data that a recorded framework takes in as a narrower dtype, or makes in one."""

    policy: Policy
    result: Array  # what stands for them from here on; observers may change its type
    source: DType  # of the data, or asked for
    data: tuple[Any, ...]  # arrays of another library; none of what the framework makes itself
    # which operands of the call they are: none of them where the call makes an array of them;
    # None if it has them in no such way
    operands: tuple[int, ...] | None


def default_verdict(
    policies: Policies, run: Policy, made: DefaultMade, dtype: DType, again: MadeAgain = NOT_AGAIN
) -> Verdict:
    """Ask what the policies make of Python numbers with no dtype named; the run made ``dtype``."""
    seen = ((policy, again.get(policy.name)) for policy in policies)
    apart = (
        (policy.name, x.dtype)
        for policy, x in seen
        if isinstance(x, Array) and x.dtype is not made.dtype(policy)
    )
    made = made._replace(answers=tuple(apart))
    mine, dtypes = run.strong(dtype), {p.name: made.dtype(p) for p in policies}
    answers = {run.name: Answer(mine, "", "", ())}
    for policy in others(policies, run):
        own, refused = dtypes[policy.name], again.get(policy.name)
        answers[policy.name] = Answer(own, "", "" if own is mine else "root", ())
        if isinstance(refused, Refusal):
            answers[policy.name] = Answer(None, refused.reason, "root", ())
    stays = made.lone and made.weak is not dt.weak_bool  # JAX: a lone number, not a list
    kept = {p.name: made.weak if stays and p.weak_arrays else dtypes[p.name] for p in policies}
    slot = record(dtype, kept)
    noted = slot is not dtype or any(each.origin for each in answers.values())
    names = words_of((Operand(made.weak, Rank.SCALAR),))
    return Verdict(DEFAULT_DTYPE, names, answers, (slot,), made, noted=noted)


def made_verdict(
    policies: Policies, run: Policy, dtype: DType, asked: DType, again: MadeAgain = NOT_AGAIN
) -> Verdict:
    """Ask which policies lack the dtype of an array that is made, or have another."""
    names = words_of((Operand(dtype),))
    answers = {p: _would_make(p, asked, dtype, names) for p in others(policies, run)}
    for policy, answer in answers.items():
        refused = again.get(policy.name)
        if answer.dtype is not None and isinstance(refused, Refusal):
            answers[policy] = Answer(None, refused.reason, "root", names)
    name = DEFAULT_DTYPE if is_default(asked) else ASKED_DTYPE
    return _verdict(policies, name, names, run, dtype, answers, asked)


def entry_verdict(policies: Policies, entry: EntryEvent, rank: Rank) -> Verdict:
    """Ask which policies do not narrow what the run narrows: data, or what is asked for."""
    run, source, indices = entry.policy, entry.source, entry.operands
    target, names = type_of(entry.result._type), words_of((Operand(source, rank),))
    answers = {}
    for policy in others(policies, run):
        answer = _would_make(policy, source, target, names)
        apart = answer.dtype is not target and seen_dtype(policy, source) is as_dtype(source)
        answers[policy] = replace(answer, origin="root") if apart else answer
    name = ENTRY if entry.data else ASKED_DTYPE
    found = _verdict(policies, name, names, run, target, answers, source)
    if not entry.data or indices is None:
        return found
    return found._replace(event=Entered(source, target, indices))


def cast_verdict(policies: Policies, cast: CastEvent, asked: DType) -> Verdict:
    """Ask which policies refuse a cast, or make another dtype of it."""
    run, array, _, source, target, *_ = cast
    names = words_of((Operand(source), Operand(target)))
    seen = {p: p.strong(as_seen_by(p, array).type) for p in others(policies, run)}
    answers = {p: _would_cast(p, source, asked, target) for p, source in seen.items()}
    given = {} if cast.made else {p: _given(p, source, asked) for p, source in seen.items()}
    answers |= {
        policy: Answer(each.dtype, each.why, "root", names)
        for policy, each in given.items()
        if each is not None and each.dtype is not target
    }
    found = _verdict(policies, "astype", names, run, target, answers, asked, given)
    return found._replace(noted=True)  # an edit may have to hold here


def question_verdict(policies: Policies, question: Question) -> Verdict:
    """Ask every policy what it would have answered."""
    run, asked = question.policy, question.operands
    answers, carried = {}, {}
    for policy in others(policies, run):
        answers[policy], carried[policy.name] = _answer_to(question, policy)
    names = words_of(_seen_operands(run, asked))
    told = answers if asked else {}
    found = _verdict(policies, question.name, names, run, question.run, told, question.run)
    read = tuple(x for x in asked if isinstance(x, DType))
    return found._replace(carried=carried, held=read, lasting=bool(asked))


def decided(decision: Decision, policy: Policy) -> Any:
    """Return what a policy answers with its own dtypes; the error's class if that is an error."""
    asked = (_seen(policy, x) for x in decision.asked)
    try:
        return decision.ask(policy, *asked)
    except (TypeError, ValueError) as error:
        return type(error)


def seen_dtype(policy: Policy, dtype: DType) -> DType:
    """Return the dtype that a policy has where the run has one that the program read, or wrote."""
    theirs = dtype.answers.get(policy.name, dtype.plain) if type(dtype) is ReadDType else dtype
    return policy.strong(theirs)


def is_default(dtype: DType) -> bool:
    """Whether a program read a dtype from the policy itself: it is where policies part."""
    return type(dtype) is ReadDType and dtype.default


# -- parts ----------------------------------------------------------------------------------------


def _verdict(
    policies: Policies,
    name: str,
    operands: tuple[str, ...],
    run: Policy,
    dtype: DType,
    answers: dict[Policy, Answer],
    asked: DType,
    given: Mapping[Policy, Given | None] = MappingProxyType({}),
) -> Verdict:
    told = {run.name: Answer(dtype, "", "", operands)}
    told |= {policy.name: answer for policy, answer in answers.items()}
    goes_on = {p.name: held(p, seen_dtype(p, asked)) for p in policies}
    goes_on |= {policy.name: each.dtype for policy, each in given.items() if each is not None}
    slot = record(dtype, goes_on)
    noted = any(answer.dtype is not dtype for answer in answers.values())
    return Verdict(name, operands, told, (slot,), noted=noted, held=asked)


def _given(policy: Policy, source: DType, asked: DType) -> Given | None:
    """The dtype that a policy's ``astype`` gives in place of one; None where it gives that."""
    target = held(policy, seen_dtype(policy, asked))
    return None if source is target else policy.cast.gives.get(target)


def _would_cast(policy: Policy, source: DType, asked: DType, run: DType) -> Answer:
    """A policy's answer to ``x.astype(asked)`` with the types it has seen so far."""
    target = seen_dtype(policy, asked)
    names = words_of((Operand(source), Operand(target)))
    why = "" if lacks(policy, target) else cast_refusal(policy, source, target)
    return Answer(None, why, "root", names) if why else _would_make(policy, asked, run, names)


def _would_make(policy: Policy, asked: DType, run: DType, operands: tuple[str, ...]) -> Answer:
    """A policy's answer to a dtype that is asked for, as it was written or read."""
    theirs = seen_dtype(policy, asked)
    if lacks(policy, theirs):
        return Answer(None, why_lacking(policy, theirs), "root", operands)
    made = held(policy, theirs)
    begins = made is not theirs or is_default(asked) or type(asked) is not ReadDType
    return Answer(made, "", "" if made is run else "root" if begins else "inherits", operands)


def _answer_to(question: Question, policy: Policy) -> tuple[Answer, DType]:
    """What a policy answers with the dtypes it has seen so far, and the dtype it goes on with."""
    seen, run = _seen_operands(policy, question.operands), question.run
    names, found = words_of(seen), question.ask(policy, seen)
    answer, reason = None, ""
    if isinstance(found, Refusal):
        _, plan = accepted_casts(policy, "concat", seen, Form.FUNCTION) or (None, None)
        reason = found.reason
        carried = policy.strong(plan.result) if plan else held(policy, run)
    else:
        answer = carried = policy.strong(found)
    if answer is run:
        return Answer(run, "", "", names), run
    given = question.ask(policy, _as_in_the_run(policy, question.operands))
    own = None if isinstance(given, Refusal) else policy.strong(given)
    origin = "inherits" if own is held(policy, run) else "root"
    return Answer(answer, reason, origin, names), carried


def _seen_operands(policy: Policy, operands: tuple[Any, ...]) -> tuple[Operand, ...]:
    """Operands as a policy sees them by now, dtypes among them."""

    def seen(x: Any) -> Operand:
        if not isinstance(x, DType):
            return as_seen_by(policy, x)
        dtype = seen_dtype(policy, x)
        return Operand(policy.canonical.get(dtype, dtype))

    return tuple(map(seen, operands))


def _as_in_the_run(policy: Policy, operands: tuple[Any, ...]) -> tuple[Operand, ...]:
    """The run's operands; but of a dtype that the policy lacks what it goes on with."""
    return tuple(
        as_held(policy, x)
        if not isinstance(x, DType)
        else Operand(held(policy, seen_dtype(policy, x) if is_default(x) else x.plain))
        for x in operands
    )


def _seen(policy: Policy, x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(_seen(policy, each) for each in x)
    return seen_dtype(policy, x) if type(x) is ReadDType else x
