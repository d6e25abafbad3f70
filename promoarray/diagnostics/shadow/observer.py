"""Shadow policies: one run, every policy's answer.

The program runs under one policy. Beside its own type, every array carries what each shadow policy
would have made of it; the record is kept in the array's type slot, so arrays on which all policies
agree carry nothing. At each operation every shadow policy is asked for its plan with the types *it*
has seen so far. Where the answers differ the place is noted, and for each policy whether it is a
root (it answers otherwise for the run's own operands, too) or inherits an earlier divergence.

What a shadow run cannot see: branches on values, and code that reads ``x.dtype``, follow the run.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from promoarray import dtypes as dt
from promoarray.contextdecorator import one_block
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import current_site, sites
from promoarray.core.escape import Escape
from promoarray.core.observers import (
    CastEvent,
    Observer,
    OperationEvent,
    RefusalEvent,
    SetitemEvent,
    observing,
)
from promoarray.core.refusals import cast_refusal
from promoarray.diagnostics.shadow.divergence import DEFAULT_DTYPE, Answer, Divergence
from promoarray.diagnostics.shadow.fixes import Fix
from promoarray.diagnostics.shadow.report import Report
from promoarray.diagnostics.shadow.signatures import Call
from promoarray.diagnostics.shadow.stopped import refused_of
from promoarray.diagnostics.shadow.value_changes import Place, differences
from promoarray.diagnostics.shadow.verdict import (
    Verdict,
    as_seen_by,
    key_of,
    record,
    verdict_of,
)
from promoarray.dtypes import WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


@dataclass(eq=False)
class ShadowObserver(Observer):
    """Asks the shadow policies about every operation, and fills a report.

    Attributes
    ----------
    report : Report
        Which names the policies to ask.
    """

    report: Report
    _verdicts: dict[Hashable, Verdict] = field(default_factory=dict)
    _places: dict[Hashable, Divergence] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._refused: tuple[object, ...] = ()
        self.policies = self.report.policies
        self._by_value = any(policy.by_value is not None for policy in self.policies)

    def on_default(self, weak: DType, result: Array, lone: bool) -> None:
        """Note what default dtype each policy gives Python numbers."""
        self.report.operations += 1
        run = result._policy or get_policy()
        mine = Answer(run.strong(weak), "", "", ())
        answers = {p.name: Answer(p.strong(weak), "", "", ()) for p in self.policies}
        if any(answer.dtype is not mine.dtype for answer in answers.values()):
            other: Any = {"origin": "root", "fix": Fix(made=mine.dtype)}
            others = {
                name: answer if answer.dtype is mine.dtype else replace(answer, **other)
                for name, answer in answers.items()
                if name != run.name
            }
            self._note(
                DEFAULT_DTYPE, {run.name: mine, **others}, (str(Operand(weak, Rank.SCALAR)),)
            )
        stays = lone and weak is not dt.weak_bool  # JAX: a lone number stays weak, a list does not
        kept = {p.name: weak if stays and p.weak_arrays else p.strong(weak) for p in self.policies}
        result._type = record(type_of(result._type), kept)

    def on_operation(self, event: OperationEvent) -> None:
        """Ask every shadow policy what it would have done, or remember what it said."""
        self.report.operations += 1
        key = key_of(event, self._by_value)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = verdict_of(self.policies, event)
            if verdict.lasting:
                if len(self._verdicts) >= MOST_VERDICTS:
                    self._verdicts.clear()
                    self._places.clear()
                self._verdicts[key] = verdict
        for policy, reason in verdict.signatures:
            self.report.signatures[Call(current_site(), policy, reason)] += 1
        for source, target, change in verdict.scalars:
            place = Place(*sites(), event.name, str(Operand(source)), target.name)
            self.report.value_changes.note(place, 1, [change])
        if verdict.answers is not None:
            self._pass(event, verdict, verdict.answers)
        for result, slot in zip((event.result, *event.extra_results), verdict.slots, strict=True):
            result._type = slot

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
            others = {name: answer for name, answer in answers.items() if name != run.name}
            mine = Answer(dtype, "", "", operands)
            self._note("setitem", {run.name: mine, **others}, operands)
        if source is not dtype and isinstance(value, Array):
            self._note_values(run, "setitem", value, source, dtype)

    def on_cast(self, cast: CastEvent) -> None:
        """Note the policies that refuse an explicit cast, or make other values of it."""
        self.report.operations += 1
        run, array, result, source, target = cast
        if dt.string in (source, target):
            return
        operands = str(Operand(source)), str(Operand(target))
        answers = {p.name: _would_cast(p, as_seen_by(p, array).type, target) for p in self.policies}
        if any(answer.dtype is None for answer in answers.values()):
            others = {name: answer for name, answer in answers.items() if name != run.name}
            self._note("astype", {run.name: Answer(target, "", "", operands), **others}, operands)
        self._note_values(run, "astype", array, source, target)
        kept = {p.name: p.canonical.get(target, target) for p in self.policies}
        result._type = record(target, kept)

    def _note_values(
        self, run: Policy, operation: str, array: Array, source: DType, target: DType
    ) -> None:
        """Note the policies that cast an array of the run's dtype to other values."""
        same = tuple(p for p in self.policies if as_seen_by(p, array).type is type_of(array._type))
        found = differences(run, same, array._buffer, source, target)
        if found:
            place = Place(*sites(), operation, source.name, target.name)
            self.report.value_changes.note(place, array.size, found)

    def on_refusal(self, event: RefusalEvent) -> None:
        """Keep what every policy says of an operation that the run refuses: it may stop there."""
        types = (type(x) if type(x) in WEAK else x._type for x in event.operands)
        key = current_site(), event.name, event.form, event.refusal.reason, *types
        if key != self._refused:  # else a loop catches it each time
            self._refused = key
            self.report.refused = refused_of(event, self.policies)

    def on_escape(self, escape: Escape) -> None:
        """Note data that leaves the policy: from there on it is not compared."""
        self.report.escapes[escape] += 1

    def _pass(self, event: OperationEvent, verdict: Verdict, answers: dict[str, Answer]) -> None:
        """Note a place, or count it once more."""
        if not verdict.lasting:
            self._note(event.name, answers, verdict.operands, event.form)
            return
        site, program = sites()
        key = id(verdict), site, program  # the verdict is remembered, so that its id stays its own
        place = self._places.get(key)
        if place is None:
            found = Divergence(
                site, program, event.name, verdict.operands, answers, form=event.form
            )
            self._places[key] = self.report.record(found)
        else:
            place.count += 1

    def _note(
        self,
        name: str,
        answers: dict[str, Answer],
        operands: tuple[str, ...],
        form: Form = Form.OPERATOR,
    ) -> None:
        """Note a place at which the answers differ."""
        self.report.record(Divergence(*sites(), name, operands, answers, form=form))


MOST_VERDICTS = 1 << 14
"""So many are remembered."""


def _would_cast(policy: Policy, source: DType, target: DType) -> Answer:
    """A policy's answer to ``x.astype(target)`` with the type it has seen so far."""
    why = cast_refusal(policy, policy.strong(source), target)
    names = str(Operand(source)), str(Operand(target))
    return Answer(None if why else target, why, "root" if why else "", names)


def _would_store(policy: Policy, target: Array, value: Any) -> Answer:
    """A policy's answer to ``target[key] = value`` with the types it has seen so far."""
    seen, given = as_seen_by(policy, target), as_seen_by(policy, value)
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
