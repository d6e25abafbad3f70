"""Shadow policies: one run, every policy's answer.

The program runs under one policy. Beside its own type, every array carries what each shadow policy
would have made of it; the record is kept in the array's type slot, so arrays on which all policies
agree carry nothing. At each operation every shadow policy is asked for its plan with the types *it*
has seen so far. Where the answers differ the place is noted, and for each policy whether it is a
root (it answers otherwise for the run's own operands, too) or inherits an earlier divergence.

A dtype that the program reads from an array carries what every policy has in its place
(``core/read_dtype.py``), so that they go on with their own where it is given to a function. What a
shadow run cannot see: branches on values and on dtypes follow the run; the latter are told.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.core._fast_path import Tally
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import current_site, outside, part_of, sites
from promoarray.core.escape import Escape
from promoarray.core.events import (
    CastEvent,
    Decision,
    EntryEvent,
    MadeEvent,
    Observer,
    OperationEvent,
    Question,
    RefusalEvent,
    Repeat,
    Repeats,
    SetitemEvent,
)
from promoarray.core.observers import notify_lock, observing
from promoarray.core.operands import looked_on
from promoarray.core.passes import Passes
from promoarray.diagnostics.ask.compared_values import ComparedValues
from promoarray.diagnostics.ask.comparison import Verdict, key_of, verdict_of
from promoarray.diagnostics.ask.narrowing import kept_by, lost_by
from promoarray.diagnostics.ask.refusals import refused_of
from promoarray.diagnostics.ask.requested_dtypes import AskedDtypes
from promoarray.diagnostics.calls.examined import defined_otherwise, examined, refused
from promoarray.diagnostics.findings.results import MAX_SITES
from promoarray.diagnostics.model.answers import without_data
from promoarray.diagnostics.model.default_dtypes import DefaultMade, Defaults, defaults
from promoarray.diagnostics.model.divergence import (
    DEFAULT_DTYPE,
    Answer,
    Divergence,
)
from promoarray.diagnostics.model.fallback_dtype import held
from promoarray.diagnostics.model.noted import Call, Unanswered
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.model.slots import SeenByAll, as_seen_by, pending_of
from promoarray.diagnostics.model.value_changes import Place, one_pass
from promoarray.diagnostics.report import Report
from promoarray.dtypes import WEAK, DType
from promoarray.errors import quoted
from promoarray.one_block import one_block
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


@dataclass(eq=False)
class ShadowObserver(Observer):
    """Asks the shadow policies about every operation, and fills a report.

    Attributes
    ----------
    report : Report
        Which names the policies to ask.
    framework : str
        The framework of a program that is recorded.
    edited : bool
        Whether the operations that it is told of stand in the source as they are, so that their
        operands can be cast there.
    part_of : str
        The function of the framework of which they are steps.
    notes : int
        How often it noted that answers differ.
    """

    report: Report
    framework: str = ""
    edited: bool = True
    part_of: str = ""
    notes: int = 0
    _verdicts: dict[Hashable, Verdict] = field(default_factory=dict)
    _passes: Passes[Divergence] = field(default_factory=Passes)

    def __post_init__(self) -> None:
        self._refused: tuple[object, ...] = ()
        self.policies = self.report.policies
        self._asked = AskedDtypes(self.report, self._note, self._passes)
        self._stored: dict[Hashable, Stored] = {}
        self._values = ComparedValues(self.report)
        self._seen_by_all = SeenByAll(self.policies)
        self._by_value = any(policy.by_value is not None for policy in self.policies)
        self.repeats = Repeats(scalar_class, self._by_value)
        self._defaults: dict[Hashable, Defaults] = {}

    def on_default(self, weak: DType, result: Array, lone: bool) -> None:
        """Note what default dtype each policy gives Python numbers."""
        self.default(weak, result, lone)

    def default(self, weak: DType, result: Array, lone: bool, function: str = "") -> Tally | None:
        """Note it; answer what counts arrays that are like this one, where they were noted."""
        self.report.operations += 1
        made = DefaultMade(weak, lone, function)
        key = result._policy or get_policy(), made, type_of(result._type)
        known = self._defaults.get(key)
        if known is None:
            known = self._defaults[key] = defaults(self.policies, *key)
        result._type = known.slot
        if not known.differs:
            return self._passes.tally(report=self.report)
        note = partial(self._note, DEFAULT_DTYPE, known.answers, known.operands, event=known.event)
        self._passes.count(known, note)
        return self._passes.tally(known, self.report)

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        """Ask every shadow policy what it would have done, or remember what it said."""
        self.report.operations += 1
        key = key_of(event, self._by_value)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = verdict_of(self._seen_by_all, event)
            if verdict.lasting:
                if len(self._verdicts) >= MOST_VERDICTS:
                    self._verdicts.clear()
                self._verdicts[key] = verdict
        self.report.assumed |= {*verdict.assumes}
        for policy, reason in verdict.signatures:
            self.report.count(self.report.signatures, Call(current_site(), policy, reason))
        for source, target, change in verdict.scalars:
            place = Place(*sites(), event.name, str(Operand(source)), target.name)
            self.report.record_values(one_pass(place, 1, [change]))
        note = partial(self._note, event.name, verdict.answers, verdict.operands, event.form)
        if verdict.lasting:
            self._passes.count(verdict, note)
        else:
            note()
        for result, slot in zip((event.result, *event.extra_results), verdict.slots, strict=True):
            result._type = slot
        return self._repeat(event, verdict)

    def _repeat(self, event: OperationEvent, verdict: Verdict) -> Repeat | None:
        """What to do with operations of the same verdict: count them, and their places."""
        if not verdict.lasting or verdict.signatures:
            return None
        note = partial(self._note, event.name, verdict.answers, verdict.operands, event.form)
        tally = self._passes.tally(verdict, self.report)
        return Repeat(verdict.slots, PassCounter(self, verdict, note, verdict.differs), tally)

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Ask whether every shadow policy would have written the value.

        It takes the dtype of its target everywhere, so that no dtype differs here.
        """
        self.assign(assignment)

    def assign(self, assignment: SetitemEvent) -> PassCounter | None:
        """Ask it; answer what counts assignments that are like this one, where they are alike."""
        self.report.operations += 1
        run, target, value, source, dtype = assignment
        if dt.string in (source, dtype):
            return None
        key: Hashable = run, target._type, dtype, _stored_as(value, self._by_value)
        known = self._stored.get(key)
        if known is None:
            known = self._would_store(assignment)
            if not known.differs:  # else a reason may name the value
                if len(self._stored) >= MOST_VERDICTS:
                    self._stored.clear()
                self._stored[key] = known
        operands = str(Operand(dtype)), str(Operand(source))
        note = partial(self._note, "setitem", known.answers, operands, event=known.event)
        if known.differs:
            note()
        else:
            self._passes.count(known, note)
        if source is not dtype and isinstance(value, Array):
            self._values.stored(assignment)
        return None if known.differs else PassCounter(self, known, note, False)

    def _would_store(self, assignment: SetitemEvent) -> Stored:
        run, target, value, source, dtype = assignment
        operands = str(Operand(dtype)), str(Operand(source))
        answers = {run.name: Answer(dtype, "", "", operands)}
        others = (p for p in self.policies if p.name != run.name)
        answers |= {p.name: _would_store(p, target, value) for p in others}
        differs = any(answer.dtype is None for answer in answers.values())
        given = value if type(value) in WEAK else without_data(value, self._by_value)
        event = assignment._replace(target=without_data(target, False), value=given)
        return Stored(answers, differs, event)

    def on_cast(self, cast: CastEvent) -> None:
        """Note the policies that refuse an explicit cast, or make other values of it."""
        self.report.operations += 1
        if dt.string not in (cast.source, cast.target):
            self._asked.cast(cast)
            self._values.cast(cast)

    def may_cast_otherwise(self, run: Policy, array: Array, target: DType) -> bool:
        """Whether some policy may make other values of an array's cast than the run's."""
        return dt.string is not target and self._values.may_differ(run, array, target)

    def on_made(self, made: MadeEvent) -> None:
        """Note the policies that lack the dtype that was asked for, or have another; and what is
        lost of the values if that is narrower."""
        dtype, buffer = type_of(made.result._type), made.result._buffer
        self._asked.made(made)
        for policy in self.policies:
            target = policy.canonical.get(dtype)
            if target is not None and isinstance(buffer, np.ndarray):
                self._values.narrowed((buffer,), policy, dtype, target, lost_by((policy.name,)))

    def on_entry(self, entry: EntryEvent) -> None:
        """Note the policies that do not narrow the data, and what is lost of their values."""
        run, result, source, data, _ = entry
        target = type_of(result._type)
        self._asked.entered(entry)
        keep = tuple(p.name for p in self.policies if held(p, source) is source)
        self._values.narrowed(data, run, source, target, kept_by(keep))

    def on_question(self, question: Question) -> None:
        """Ask every policy for the dtype that the program asked for, and note where they differ."""
        self._asked.question(question)

    def on_decision(self, decision: Decision) -> None:
        """Note the policies whose dtypes decide otherwise."""
        self._asked.decision(decision)

    def on_call(
        self, name: str, home: Policy, operands: tuple[Array, ...], keywords: Collection[str]
    ) -> None:
        """Note the frameworks that have no such function for a dtype, and those not asked."""
        seen = tuple(str(Operand(type_of(x._type))) for x in operands)
        dtype = type_of(operands[0]._type) if operands else None
        answers = {home.name: Answer(dtype, "", "", seen)}
        for policy in self.policies:
            if policy.name == home.name:
                continue
            answers[policy.name] = answer = self._answer_by_name(
                policy, name, operands, dtype, seen
            )
            if answer.dtype is None and dtype is not None:
                continue
            why = _UNASKED if not examined(name, policy) else ""
            why = why or defined_otherwise(name, home, policy, keywords)
            if why:
                self.report.unanswered[Unanswered(name, why, sites()[1], policy.name)] += 1
        if dtype is not None:
            self._note(name, answers, seen, Form.FUNCTION)

    def _answer_by_name(
        self,
        policy: Policy,
        name: str,
        operands: tuple[Array, ...],
        dtype: DType | None,
        seen: tuple[str, ...],
    ) -> Answer:
        """Whether a policy's framework has a function for the dtype that it has there."""
        if dtype is None:
            return Answer(None, "", "", seen)
        own = policy.strong(as_seen_by(policy, operands[0]).type)
        reason = refused(name, own, policy)
        if not reason:
            return Answer(dtype, "", "", seen)
        origin = "root" if refused(name, policy.strong(dtype), policy) else "inherits"
        pending = pending_of(operands).get(policy.name, frozenset())
        return Answer(None, reason, origin, (str(Operand(own)),), None, pending)

    def on_refusal(self, event: RefusalEvent) -> None:
        """Keep what every policy says of an operation that the run refuses: it may stop there."""
        types = (type(x) if type(x) in WEAK else x._type for x in event.operands)
        key = current_site(), event.name, event.form, event.refusal.reason, *types
        if key != self._refused:  # else a loop catches it each time
            self._refused = key
            self.report.refused = refused_of(event, self.policies)

    def on_refused_by_framework(self, event: RefusalEvent, error: Exception) -> None:
        """Keep what every policy says of an operation that raised in a recorded program."""
        refused = refused_of(event, self.policies, self.framework, error)
        self.report.refused = refused if self.edited else replace(refused, edit="")

    def on_escape(self, escape: Escape) -> None:
        """Note data that leaves the policy: from there on it is not compared."""
        self.report.count(self.report.escapes, escape)

    def _note(
        self,
        name: str,
        answers: Mapping[str, Answer],
        operands: tuple[str, ...],
        form: Form = Form.OPERATOR,
        event: object = None,
    ) -> Divergence:
        """Note a place, or count it once more."""
        place = Divergence(*sites(), name, operands, answers, form=form, framework=self.framework)
        place.part_of, place.event, place.edited = self.part_of, event, self.edited
        if place.site == place.program:
            place.part, place.names = self._detail()
        if place.differs:
            self.notes += 1
            return self.report.record(place)
        return self.report.agreed.record(place)

    def _detail(self) -> tuple[int, tuple[str, ...]]:
        """Which operation of its expression this is, and the names of the namespace there."""
        frame = outside()
        if frame is None:
            return 0, ()
        names = tuple(names_of(frame, MODULES[self.framework]))
        return part_of(frame.f_code, frame.f_lasti), names


@dataclass(frozen=True)
class PassCounter:
    """Counts one more operation that is like an earlier one, and the pass of its place.

    Attributes
    ----------
    observer : ShadowObserver
    said : Verdict or Stored
        What the policies say of it.
    note : callable
        Notes the place, where it is a new one.
    differs : bool
        Whether some policy differs.
    """

    observer: ShadowObserver
    said: Verdict | Stored
    note: Callable[[], Divergence]
    differs: bool

    def __call__(self) -> bool:
        """Count it; answer whether the place is a new one at which policies differ."""
        with notify_lock:
            self.observer.report.operations += 1
            new = self.observer._passes.count(self.said, self.note)[1]
        return new and self.differs


class Stored(NamedTuple):
    """What the policies say of an assignment, and the assignment without its data."""

    answers: Mapping[str, Answer]
    differs: bool
    event: SetitemEvent


def _stored_as(value: Any, by_value: bool) -> Hashable:
    """What values have in common that all policies store alike."""
    if type(value) in WEAK:
        return scalar_class(value)
    flat = not value._buffer.ndim
    return value._type, flat, scalar_class(looked_on(value)) if flat and by_value else None


_UNASKED = "the framework was not asked what it answers"

MODULES = {
    "": "promoarray",
    "torch": "torch",
    "paddle": "paddle",
    "jax": "jax.numpy",
    "numpy": "numpy",
}
"""From a framework to the module that its programs compute with."""


def names_of(frame: FrameType, module: str) -> Iterator[str]:
    """Yield the names of a module among a frame's globals.

    Its locals are not looked at: until Python 3.13 that has the frame hold on to their values.
    """
    found, hidden = sys.modules.get(module), frame.f_code.co_varnames
    every = list(frame.f_globals.items())
    yield from (n for n, x in every if x is found and n.isidentifier() and n not in hidden)


MOST_VERDICTS = 1 << 14
"""So many are remembered."""


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
def shadow(*policies: str | Policy, max_sites: int = MAX_SITES) -> Iterator[Report]:
    """Run a block under the policy in force, and record what the others would have done.

    Parameters
    ----------
    *policies : str or Policy
        The shadow policies; by default the editions of every framework that people have
        installed: numpy@2, numpy@1, jax@x64, torch@2.13, tensorflow, paddle@3.3, aclnn@8.5
        and onnx@25.
    max_sites : int
        At most so many places are kept; the report says whether there were more.

    Yields
    ------
    Report
        Filled as the block runs; print it, or ask ``divergences``, ``to_dict()``,
        ``to_html()``.

    Raises
    ------
    ValueError
        If ``max_sites`` is not an int from 1 on.

    Notes
    -----
    After a refusal a shadow policy goes on as if the user had cast as its error message says, so
    that later roots still show. A dtype that the program reads from an array, ``x.dtype``, is each
    policy's own where it is given to a function; where the program may branch on it, ``decisions``
    has the place. A dtype that a policy lacks is a root where it enters.

    Threads started in the block are not observed, as they have a context of their own;
    ``promoarray compare`` observes a program with all its threads. Each block has a ``shadow()`` of
    its own, and functions are not decorated with it.

    Examples
    --------
    >>> with shadow("torch", "jax") as report:
    ...     y = asarray([1, 2], dtype=int8) / 2
    >>> for name, answer in report.divergences[0].answers.items():
    ...     print(name, answer.dtype)
    numpy@2 float64
    torch@2.13 float32
    jax@x64 float32
    """
    if type(max_sites) is not int or max_sites < 1:
        raise ValueError(f"max_sites is an int from 1 on, not {quoted(max_sites)}")
    asked = tuple(as_policy(p) for p in policies or DEFAULT)
    with shadowed(asked, max_sites=max_sites) as report:
        yield report


@contextmanager
def shadowed(
    policies: tuple[Policy, ...], *, everywhere: bool = False, max_sites: int = MAX_SITES
) -> Iterator[Report]:
    """``shadow`` of this context, or of every thread of the process."""
    report = Report(get_policy(), policies, max_sites=max_sites)
    with observing(ShadowObserver(report), everywhere=everywhere):
        yield report


DEFAULT = (
    *("numpy@2", "numpy@1", "jax@x64", "torch@2.13"),
    *("tensorflow", "paddle@3.3", "aclnn@8.5", "onnx@25"),
)
"""The policies asked when none are named: the editions that people have installed."""
