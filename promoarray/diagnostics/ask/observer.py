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
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import FrameType

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, is_lazy
from promoarray.context import single_use
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import current_site, outside, part_of, sites
from promoarray.core.escape import Escape
from promoarray.core.events import (
    Again,
    CastEvent,
    Decision,
    MadeEvent,
    Observer,
    OperationEvent,
    QuantizeEvent,
    Question,
    RefusalEvent,
    Repeat,
    Repeats,
    SetitemEvent,
    TakenEvent,
)
from promoarray.core.observers import notify_lock, observing
from promoarray.core.read_dtype import ReadDType
from promoarray.diagnostics.ask.dtypes import (
    cast_verdict,
    decided,
    default_verdict,
    made_verdict,
    question_verdict,
    seen_dtype,
)
from promoarray.diagnostics.ask.foreign import given_kind
from promoarray.diagnostics.ask.numbers import Known, made_again
from promoarray.diagnostics.ask.operations import (
    Verdict,
    assignment_verdict,
    key_of,
    kind_of,
    verdict_of,
    words_of,
)
from promoarray.diagnostics.ask.quantized import place_of, quantize_verdict
from promoarray.diagnostics.ask.refusals import refused_of
from promoarray.diagnostics.ask.taken import taken_verdict
from promoarray.diagnostics.ask.values import ComparedValues
from promoarray.diagnostics.findings.results import MAX_SITES
from promoarray.diagnostics.model.call_counts import Passes
from promoarray.diagnostics.model.divergence import DefaultMade, Divergence
from promoarray.diagnostics.model.noted import Call, Decided, NotExamined
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.model.values import Place, one_pass
from promoarray.diagnostics.report import Report
from promoarray.dtypes import WEAK, DType, as_dtype
from promoarray.errors import quoted
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


@dataclass(eq=False)
class ShadowObserver(Observer):
    """Asks the shadow policies about every operation, and fills a report."""

    report: Report  # which names the policies to ask
    _verdicts: dict[Hashable, Verdict] = field(default_factory=dict)
    _passes: Passes[Divergence] = field(default_factory=Passes)

    def __post_init__(self) -> None:
        self._refused: tuple[object, ...] = ()
        self._numbers: Known = {}
        self.policies = self.report.policies
        self._values = ComparedValues(self.policies, self.report)
        self._by_value = any(policy.by_value is not None for policy in self.policies)
        self.repeats = Repeats(scalar_class, self._by_value)

    # -- what is told -----------------------------------------------------------------------------

    def on_default(
        self, weak: DType, result: Array, lone: bool, function: str = "", again: Again | None = None
    ) -> None:
        """Note what default dtype each policy gives Python numbers."""
        self.report.operations += 1
        asked = result._policy or get_policy(), DefaultMade(weak, lone, function)
        given = *asked, type_of(result._type)
        found, key = made_again(self.report, given[0], again, result, None, self._numbers)
        ask = partial(default_verdict, self.policies, *given, found)
        verdict = self._asked(("default", *given, key), ask)
        (result._type,) = verdict.slots

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        """Ask every shadow policy what it would have done, or remember what it said."""
        self.report.operations += 1
        key = key_of(event, self._by_value)
        verdict = self._asked(key, lambda: verdict_of(self.policies, event))
        self.report.assumed |= {*verdict.assumes}
        for policy, reason in verdict.signatures:
            self.report.count(self.report.signatures, Call(current_site(), policy, reason))
        for source, target, change in verdict.scalars:
            place = Place(*sites(), event.name, str(Operand(source)), target.name)
            self.report.record_values(one_pass(place, 1, [change]))
        for result, slot in zip((event.result, *event.extra_results), verdict.slots, strict=True):
            result._type = slot
        return self._repeat(verdict)

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Ask whether every shadow policy would have written the value."""
        self.report.operations += 1
        run, target, value, source, dtype, given = assignment
        if dt.string in (source, dtype):
            return
        foreign = None if given is None else given_kind(given)
        key = "setitem", run, target._type, dtype, kind_of(value, self._by_value), foreign
        ask = partial(assignment_verdict, self.policies, assignment, self._by_value)
        self._asked(key, ask)
        if source is not dtype and isinstance(value, Array):
            self._values.stored(assignment)

    def on_cast(self, cast: CastEvent) -> None:
        """Note the policies that refuse an explicit cast, or make other values of it."""
        self.report.operations += 1
        if dt.string in (cast.source, cast.target):
            return
        asked = _asked_dtype(cast.asked, cast.target)
        of = cast.policy, cast.array._type, cast.source
        key = "astype", *of, id(asked), cast.target, cast.made
        verdict = self._asked(key, lambda: cast_verdict(self.policies, cast, asked))
        (cast.result._type,) = verdict.slots
        self._values.cast(cast)

    def on_quantize(self, event: QuantizeEvent) -> None:
        """Ask every shadow policy how it quantizes, and note other values."""
        self.report.operations += 1
        if is_lazy(backend_of(event.result._buffer)):  # which is not computed for it
            self.report.uncomputed += 1
            return
        place = place_of(event)
        verdict, found = quantize_verdict(self.policies, event)
        for policy, reason in verdict.signatures:
            self.report.count(self.report.signatures, Call(current_site(), policy, reason))
        if verdict.noted:
            self._note(verdict)
        (event.result._type,) = verdict.slots
        if found:
            self.report.record_values(one_pass(place, event.result.size, found))

    def on_made(self, made: MadeEvent) -> None:
        """Note the policies that lack the dtype that was asked for, or have another; and what is
        lost of the values if that is narrower."""
        run, result, given, again = made
        dtype, buffer = type_of(result._type), result._buffer
        if dtype is dt.string:
            return
        asked = _asked_dtype(given, dtype)
        found, of = made_again(self.report, run, again, result, asked, self._numbers)
        key = "made", run, id(asked), dtype, of
        verdict = self._asked(key, lambda: made_verdict(self.policies, run, dtype, asked, found))
        (result._type,) = verdict.slots
        for policy in self.policies:
            target = policy.canonical.get(dtype)
            if target is not None and isinstance(buffer, np.ndarray):
                self._values.narrowed((buffer,), policy, dtype, target, (policy.name,))

    def on_taken(self, event: TakenEvent) -> None:
        """Note the policies whose function takes no such arrays, or reads an index otherwise."""
        kinds = (kind_of(x, by_value=False) for x in event.operands)
        key = "taken", event.name, event.policy, *kinds
        self._asked(key, lambda: taken_verdict(self.policies, event))

    def on_question(self, question: Question) -> None:
        """Ask every policy for the dtype that the program asked for, and note where they differ."""
        operands = (kind_of(x, self._by_value) for x in question.operands)
        key = question.name, question.policy, question.run, *operands
        verdict = self._asked(key, lambda: question_verdict(self.policies, question))
        question.answers.update(verdict.carried)

    def on_decision(self, decision: Decision) -> None:
        """Note the policies whose dtypes decide otherwise."""
        read = tuple(x for x in decision.asked if type(x) is ReadDType)
        site, program = (replace(each, column=-1) for each in sites())
        for policy in self.policies:
            if decided(decision, policy) != decision.answer:
                other = words_of(seen_dtype(policy, x) for x in read)
                differing = Decided(site, program, words_of(read), policy.name, other)
                self.report.count(self.report.decisions, differing)

    def on_refusal(self, event: RefusalEvent) -> None:
        """Keep what every policy says of an operation that the run refuses: it may stop there."""
        types = (type(x) if type(x) in WEAK else x._type for x in event.operands)
        key = current_site(), event.name, event.form, event.refusal.reason, *types
        if key != self._refused:  # else a loop catches it each time
            self._refused = key
            self.report.refuse(refused_of(event, self.policies))

    def on_escape(self, escape: Escape) -> None:
        """Note data that leaves the policy: from there on it is not compared."""
        self.report.count(self.report.escapes, escape)

    # -- what is said, and where ------------------------------------------------------------------

    def _asked(self, key: Hashable, ask: Callable[[], Verdict]) -> Verdict:
        """Return what the policies say, from memory if they were asked before; note the place."""
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = ask()
            if verdict.lasting:
                if len(self._verdicts) >= MOST_VERDICTS:
                    self._verdicts.clear()
                self._verdicts[key] = verdict
        if verdict.noted:
            self._count(verdict)
        return verdict

    def _count(self, verdict: Verdict) -> bool:
        """Count a pass of the place where the program stands; answer whether it is a new one."""
        note = partial(self._note, verdict)
        if verdict.lasting:
            return self._passes.count(verdict, note)[1]
        note()
        return True

    def _note(self, verdict: Verdict) -> Divergence:
        """Note a place, or count it once more."""
        for policy, why in verdict.doubts:
            self.report.unanswered[NotExamined(verdict.name, why, *sites(), (policy,))] += 1
        place = self._place(verdict)
        noted = (self.report if place.differs else self.report.agreed).record(place)
        for each in verdict.also:
            self.report.record(self._place(each))
        return noted

    def _place(self, verdict: Verdict) -> Divergence:
        """The place where the program stands, with what is said there."""
        name, operands, answers, _, event, form, *_ = verdict
        place = Divergence(*sites(), name, operands, answers, form=form, event=event)
        frame = outside()
        if frame is not None and place.site == place.program:
            place.part = part_of(frame.f_code, frame.f_lasti)
            place.names = tuple(names_of(frame, MODULES[""]))
        return place

    def _repeat(self, verdict: Verdict) -> Repeat | None:
        """What to do with operations of the same verdict: count them, and their places."""
        if not verdict.lasting or verdict.signatures:
            return None
        return Repeat(verdict.slots, partial(self._again, verdict))

    def _again(self, verdict: Verdict) -> bool:
        """Count an operation that is like an earlier one; answer whether its place is a new one at
        which policies differ."""
        with notify_lock:
            self.report.operations += 1
            return self._count(verdict) and verdict.differs


def _asked_dtype(given: object, made: DType) -> DType:
    """The dtype that a program asks for, or that its data have, which the run's policy may have
    given another dtype for; one that was read as it is."""
    if type(given) is ReadDType:
        return given
    return made if given is None else as_dtype(given)


MOST_VERDICTS = 1 << 14
"""So many are remembered."""

MODULES = {name: name for name in ("torch", "paddle", "tensorflow", "numpy")}
MODULES |= {"": "promoarray", "jax": "jax.numpy"}
"""From a framework to the module that its programs compute with."""


def names_of(frame: FrameType, module: str) -> Iterator[str]:
    """Yield the names of a module among a frame's globals.

    Its locals are not looked at: until Python 3.13 that has the frame hold on to their values.
    """
    found, hidden = sys.modules.get(module), frame.f_code.co_varnames
    every = list(frame.f_globals.items())
    yield from (n for n, x in every if x is found and n.isidentifier() and n not in hidden)


@single_use
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
