"""Shadow policies: one run, every policy's answer.

The program runs under one policy. Beside its own type, every array carries what each shadow policy
would have made of it; the record is kept in the array's type slot, so arrays on which all policies
agree carry nothing. At each operation every shadow policy is asked for its plan with the types *it*
has seen so far. Where the answers differ the place is noted, and for each policy whether it is a
root (it treats the operands it sees otherwise than the run's policy would) or inherits an earlier
divergence.

What a shadow run cannot see: branches on values, and code that reads ``x.dtype``, follow the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from promoarray import dtypes as dt
from promoarray.contextdecorator import one_block
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import current_site, program_site
from promoarray.core.escape import Escape
from promoarray.core.observers import Observer, OperationEvent, SetitemEvent, observing
from promoarray.core.operands import operand_of
from promoarray.core.proposed_casts import accepted_casts
from promoarray.diagnostics.shadow.divergence import DEFAULT_DTYPE, Answer, Divergence
from promoarray.diagnostics.shadow.report import Report
from promoarray.diagnostics.shadow.signatures import Call
from promoarray.dtypes import WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


class ShadowDTypes:
    """A type slot's record: the run's dtype, and what each shadow policy has instead."""

    __slots__ = ("answers", "dtype")

    def __init__(self, dtype: DType, answers: dict[str, DType]) -> None:
        self.dtype = dtype
        self.answers = answers


@dataclass(eq=False)
class ShadowObserver(Observer):
    """Asks the shadow policies about every operation, and fills a report.

    Attributes
    ----------
    report : Report
        Which names the policies to ask.
    """

    report: Report

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The shadow policies."""
        return self.report.policies

    def on_default(self, weak: DType, result: Array, lone: bool) -> None:
        """Note what default dtype each policy gives Python numbers."""
        self.report.operations += 1
        run = result._policy or get_policy()
        answers = {p.name: Answer(p.strong(weak), "", "", ()) for p in self.policies}
        mine = Answer(run.strong(weak), "", "", ())
        self._note(DEFAULT_DTYPE, run, mine, answers, (str(Operand(weak, Rank.SCALAR)),))
        stays = lone and weak is not dt.weak_bool  # JAX: a lone number stays weak, a list does not
        kept = {p.name: weak if stays and p.weak_arrays else p.strong(weak) for p in self.policies}
        self._label(result, type_of(result._type), kept)

    def on_operation(self, event: OperationEvent) -> None:
        """Ask every shadow policy what it would have done."""
        self.report.operations += 1
        self._note_signatures(event)
        noted = False
        for which, label in enumerate((event.plan.result, *event.plan.extra_results)):
            answers, kept = {}, {}
            for policy in self.policies:
                answers[policy.name], kept[policy.name] = _ask(policy, event, which)
            mine = Answer(event.policy.strong(label), "", "", tuple(map(str, event.seen)))
            # A place is noted once, for the first result that differs.
            noted = noted or self._note(
                event.name, event.policy, mine, answers, mine.operands, event.form
            )
            self._label((event.result, *event.extra_results)[which], label, kept)

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Ask whether every shadow policy would have written the value.

        It takes the dtype of its target everywhere, so that no dtype differs here.
        """
        self.report.operations += 1
        run, target, value, source, dtype = assignment
        if dt.string in (source, dtype):
            return
        answers = {p.name: _would_store(p, target, value) for p in self.policies}
        if any(answer.dtype is None for answer in answers.values()):
            operands = str(Operand(dtype)), str(Operand(source))
            self._note("setitem", run, Answer(dtype, "", "", operands), answers, operands)

    def on_escape(self, escape: Escape) -> None:
        """Note data that leaves the policy: from there on it is not compared."""
        self.report.escapes[escape] += 1

    def _note(
        self,
        name: str,
        run: Policy,
        mine: Answer,
        answers: dict[str, Answer],
        operands: tuple[str, ...],
        form: Form = Form.OPERATOR,
    ) -> bool:
        """Note a place if the answers differ there; return whether they do."""
        if all(answer.dtype is mine.dtype for answer in answers.values()):
            return False
        if name == DEFAULT_DTYPE:
            answers = {
                n: a if a.dtype is mine.dtype else replace(a, origin="root")
                for n, a in answers.items()
            }
        everyone = {run.name: mine, **{n: a for n, a in answers.items() if n != run.name}}
        self.report.record(
            Divergence(current_site(), program_site(), name, operands, everyone, form=form)
        )
        return True

    def _note_signatures(self, event: OperationEvent) -> None:
        """Note the policies whose framework's function takes no such call."""
        if event.form is not Form.FUNCTION or not any(type(x) in WEAK for x in event.operands):
            return
        for policy in self.policies:
            refusal = policy.signature_refusal(event.name, event.seen)
            if refusal is not None:
                self.report.signatures[Call(current_site(), policy.name, refusal.reason)] += 1

    def _label(self, result: Array, label: DType, kept: dict[str, DType]) -> None:
        """Let an array carry the answers, if any differs from the run's."""
        differing = {name: dtype for name, dtype in kept.items() if dtype is not label}
        result._type = ShadowDTypes(label, differing) if differing else label


def _would_store(policy: Policy, target: Array, value: Any) -> Answer:
    """A policy's answer to ``target[key] = value`` with the types it has seen so far."""
    seen, given = _as_seen_by(policy, target), _as_seen_by(policy, value)
    dtype, scalar = policy.strong(seen.type), type(value) in WEAK
    source = given.type if scalar else policy.strong(given.type)
    why = ""
    if scalar:
        try:
            policy.assigned(value, dtype)
        except (TypeError, OverflowError, ValueError) as error:
            why = str(error)
    else:
        why = policy.assigns(source, dtype) or ""
    return Answer(None if why else dtype, why, "root" if why else "", (str(seen), str(given)))


def _ask(policy: Policy, event: OperationEvent, which: int) -> tuple[Answer, DType]:
    """A policy's answer with the types it has seen, and the type it carries on with.

    ``which`` of the results is meant, where the operation has several.
    """
    seen = tuple(_as_seen_by(policy, x) for x in event.operands)
    decided = _decide(policy, event, seen, which)
    run = event.policy.strong((event.plan.result, *event.plan.extra_results)[which])
    names = tuple(map(str, seen))
    if isinstance(decided, Refusal):
        reason, answer = decided.reason, None
        carried = _after_refusal(policy, event, seen, which)
    else:
        reason, answer, carried = "", policy.strong(decided), decided
    origin = "" if answer is run else _origin(policy, answer, event, which)
    return Answer(answer, reason, origin, names), carried or run


def _origin(policy: Policy, answer: DType | None, event: OperationEvent, which: int) -> str:
    """Whether the run's own rule would answer the same, given the operands this policy sees."""
    seen = tuple(_as_seen_by(policy, x, event.policy) for x in event.operands)
    decided = _decide(event.policy, event, seen, which)
    agreed = None if isinstance(decided, Refusal) else event.policy.strong(decided)
    return "inherits" if agreed is answer else "root"


def _decide(
    policy: Policy, event: OperationEvent, operands: tuple[Operand, ...], which: int
) -> DType | Refusal:
    asked = event.name, operands, event.operands
    decided = policy.decide(*asked, event.form, options=event.options)
    if isinstance(decided, Refusal):
        return decided
    return (decided.plan.result, *decided.plan.extra_results)[which]


def _after_refusal(
    policy: Policy, event: OperationEvent, seen: tuple[Operand, ...], which: int
) -> DType | None:
    """What the result would be had the user cast as the error message says."""
    _, plan = accepted_casts(policy, event.name, seen, event.form) or (None, None)
    return (plan.result, *plan.extra_results)[which] if plan else None


def _as_seen_by(policy: Policy, x: Any, asked: Policy | None = None) -> Operand:
    """An operand with the type ``policy`` has given it so far, described to ``asked``."""
    asked = asked or policy
    operand = operand_of(x, asked)
    if type(x) in WEAK:
        return operand
    label = x._type
    dtype = operand.type
    if type(label) is ShadowDTypes:
        dtype = label.answers.get(policy.name, label.dtype)
    dtype = asked.canonical.get(dtype, dtype)  # what it would have made in the first place
    if dtype.weak and not asked.weak_arrays:
        dtype = policy.strong(dtype)
    return operand._replace(type=dtype)


@one_block
def shadow(*policies: str | Policy) -> Iterator[Report]:
    """Run a block under the policy in force, and record what the others would have done.

    Parameters
    ----------
    *policies : str or Policy
        The shadow policies; by default the editions of every framework that people have
        installed: numpy@2, numpy@1, jax@x64, torch@2.13, tensorflow, paddle@3.3, aclnn@8.5
        and onnx@25.

    Yields
    ------
    Report
        Filled as the block runs; print it, or ask ``divergences``, ``to_dict()``,
        ``to_html()``.

    Notes
    -----
    After a refusal a shadow policy goes on as if the user had cast as its error message says, so
    that later roots still show. Threads started in the block are not observed, as they have a
    context of their own; ``promoarray compare`` observes a program with all its threads. Each block
    has a ``shadow()`` of its own, and functions are not decorated with it.
    """
    with shadowed(tuple(as_policy(p) for p in policies or DEFAULT)) as report:
        yield report


@contextmanager
def shadowed(policies: tuple[Policy, ...], *, everywhere: bool = False) -> Iterator[Report]:
    """``shadow`` of this context, or of every thread of the process."""
    report = Report(get_policy(), policies)
    with observing(ShadowObserver(report), everywhere=everywhere):
        yield report


DEFAULT = (
    *("numpy@2", "numpy@1", "jax@x64", "torch@2.13"),
    *("tensorflow", "paddle@3.3", "aclnn@8.5", "onnx@25"),
)
"""The policies asked when none are named: the editions that people have installed."""
