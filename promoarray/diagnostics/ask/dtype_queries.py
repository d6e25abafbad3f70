"""What policies answer where a program asks about dtypes: ``result_type``, ``isdtype``, ``==``."""

from __future__ import annotations

from typing import Any, NamedTuple

from promoarray.core.events import Decision, Question
from promoarray.core.proposed_casts import accepted_casts
from promoarray.core.read_dtype import ReadDType
from promoarray.diagnostics.model.divergence import Answer
from promoarray.diagnostics.model.fallback_dtype import held
from promoarray.diagnostics.model.slots import as_held, as_seen_by
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy


class Answered(NamedTuple):
    """A policy's answer to a question, and the dtype it goes on with."""

    answer: Answer
    carried: DType


def seen_dtype(policy: Policy, dtype: DType) -> DType:
    """Return the dtype that a policy has where the run has one that the program read, or wrote."""
    theirs = dtype.answers.get(policy.name, dtype.plain) if type(dtype) is ReadDType else dtype
    return policy.strong(theirs)


def seen_operands(policy: Policy, operands: tuple[Any, ...]) -> tuple[Operand, ...]:
    """Return operands as a policy sees them by now, dtypes among them."""
    return tuple(
        Operand(_canonical(policy, seen_dtype(policy, x)))
        if isinstance(x, DType)
        else as_seen_by(policy, x)
        for x in operands
    )


def _as_in_the_run(policy: Policy, operands: tuple[Any, ...]) -> tuple[Operand, ...]:
    """The run's operands; but of a dtype that the policy lacks what it goes on with."""
    return tuple(
        as_held(policy, x)
        if not isinstance(x, DType)
        else Operand(held(policy, seen_dtype(policy, x) if is_default(x) else x.plain))
        for x in operands
    )


def is_default(dtype: DType) -> bool:
    """Whether a program read a dtype from the policy itself: it is where policies part."""
    return type(dtype) is ReadDType and dtype.default


def _canonical(policy: Policy, dtype: DType) -> DType:
    return policy.canonical.get(dtype, dtype)


def answer_to(question: Question, policy: Policy) -> Answered:
    """Ask a policy what it answers, with the dtypes it has seen so far."""
    seen = seen_operands(policy, question.operands)
    names, run = tuple(map(str, seen)), question.run
    found = question.ask(policy, seen)
    if isinstance(found, Refusal):
        _, plan = accepted_casts(policy, "concat", seen, Form.FUNCTION) or (None, None)
        reason, answer = found.reason, None
        carried = policy.strong(plan.result) if plan else held(policy, run)
    else:
        reason, answer = "", policy.strong(found)
        carried = answer
    if answer is run:
        return Answered(Answer(run, "", "", names), run)
    given = question.ask(policy, _as_in_the_run(policy, question.operands))
    own = None if isinstance(given, Refusal) else policy.strong(given)
    origin = "inherits" if own is held(policy, run) else "root"
    return Answered(Answer(answer, reason, origin, names), carried)


def answer_of(decision: Decision, policy: Policy) -> Any:
    """Return what a policy answers with its own dtypes; the error's class if that is an error."""
    asked = (_seen(policy, x) for x in decision.asked)
    try:
        return decision.ask(policy, *asked)
    except (TypeError, ValueError) as error:
        return type(error)


def _seen(policy: Policy, x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(_seen(policy, each) for each in x)
    return seen_dtype(policy, x) if type(x) is ReadDType else x
