"""Policies asked about a run that was recorded with its flow.

Each operation is told to a ``ShadowObserver`` once for each combination of what a policy may have
in place of its operands, which follows from the operations that feed it. So the answers, roots and
edits are found as they are while a program runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from promoarray.console import listed
from promoarray.core.array_base import type_of
from promoarray.core.call_site import Site, recorded_at, sites
from promoarray.core.events import CastEvent, MadeEvent, OperationEvent, SetitemEvent
from promoarray.core.observers import notify_lock
from promoarray.core.operands import UNKNOWN, operand_of
from promoarray.diagnostics.ask.dtypes import EntryEvent, entry_verdict
from promoarray.diagnostics.ask.observer import ShadowObserver
from promoarray.diagnostics.ask.operations import Verdict, words_of
from promoarray.diagnostics.calls.examined import (
    asked_on_a_cpu_alone,
    defined_otherwise,
    doubtful,
    examined,
    keywords_lacking,
    refused,
)
from promoarray.diagnostics.model.abstract_array import AbstractArray, abstract_arrays_of
from promoarray.diagnostics.model.divergence import Answer, Divergence
from promoarray.diagnostics.model.final import final_dtypes
from promoarray.diagnostics.model.flow import (
    ASSIGNMENT,
    CAST,
    COMPARED,
    COMPARISONS,
    ENTRY,
    Flow,
    Given,
    RecordedOperation,
    Source,
    family,
)
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.model.slots import ShadowDTypes, as_seen_by, pending_of
from promoarray.diagnostics.model.values import Difference, Example, one_pass
from promoarray.diagnostics.model.values import Place as PlaceOfValues
from promoarray.diagnostics.report import Report
from promoarray.dtypes import BY_CODE, INEXACT, WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.cast_losses import gravity
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

MOST = 64
"""Combinations of states that one operation is asked for."""

Slot = Any
"""What a type slot bears: a dtype, or a ``ShadowDTypes``."""


Asked = Callable[[Policy], tuple[Policy, ...]]
"""From the policy of what carried an operation out to those that are asked about it."""


def replay(flow: Flow, report: Report, asked_of: Asked | None = None) -> dict[Source, Slot]:
    """Ask the policies of a report about a recorded run, and fill it; return what the type slot of
    each result bears then, after the last pass. ``asked_of`` has those to ask about what one of
    several libraries did."""
    asked = _Replay(flow, report, asked_of)
    asked.run()
    return {source: [*states][-1] for source, states in asked.states.items()}


class _Replay:
    def __init__(self, flow: Flow, report: Report, asked_of: Asked | None) -> None:
        self._flow, self._report = flow, report
        self._observer = _Observer(report, asked_of)
        self.states: dict[Source, dict[Slot, None]] = {}
        self._done: list[set[tuple[Slot, ...]]] = [set() for _ in flow.operations]
        self._open: set[int] = set()

    def run(self) -> None:
        """Ask about each operation, in as many sweeps as bring up a new state."""
        report, before = self._report, self._report.operations
        new = True
        while new:
            new = False
            for number, operation in enumerate(self._flow.operations):
                new |= self._ask(number, operation)
        for number in sorted(self._open):  # of which not every state was asked about
            for policy in report.policies:
                if policy is not report.run:
                    why = f"only {MOST} combinations of earlier answers"
                    self._observer.leave_open(self._flow.operations[number], policy, why)
        counted = (each.count for each in self._flow.operations if each.kind in COMPARED)
        report.operations = before + sum(counted)
        report.finals = report.finals or final_dtypes(self._finals(), report.policies)
        for change in self._flow.values:
            if (left := change.of(self._observer.answering(change.place))) is not None:
                report.record_values(left)

    def _finals(self) -> dict[str, Any]:
        """The program's globals, each with the last state that came up; without what containers
        hold, and weak ones, of which the dtype stored is not known."""
        found = {}
        for name, source in self._flow.finals.items():
            *_, slot = self.states.get(source) or (None,)
            if name.isidentifier() and slot is not None and not type_of(slot).weak:
                found[name] = abstract_arrays_of(self._report.run).of(slot, 1)
        return found

    def _ask(self, number: int, operation: RecordedOperation) -> bool:
        """Ask about an operation on new states of its operands; answer whether it has new ones."""
        done, new = self._done[number], False
        for count, slots in enumerate(self._combined(operation)):
            if count == MOST:
                self._open.add(number)
                break
            if slots in done:
                continue
            done.add(slots)
            for which, slot in enumerate(self._observer.told(operation, slots)):
                states = self.states.setdefault((operation.makes, which), {})
                new |= slot not in states
                states[slot] = None
        return new

    def _combined(self, operation: RecordedOperation) -> Iterator[tuple[Slot, ...]]:
        """Yield the slots that operands may bear, as far as those are known; None of a scalar."""
        each: list[list[Slot]] = []
        for given, sources in zip(operation.operands, operation.sources, strict=True):
            own = BY_CODE[given.code] if given.code else None
            found = [s for source in sorted(sources) for s in self.states.get(source, ())]
            each.append(list(dict.fromkeys(found)) if sources else [own])
        return product(*each)


class _Observer(ShadowObserver):
    """Asks about one recorded operation after the other, each in the place where it stood."""

    def __init__(self, report: Report, asked_of: Asked | None) -> None:
        super().__init__(report)
        self._asked_of = asked_of and cache(asked_of)  # which looks through the whole recording
        self._homes: dict[tuple[Site, Site], Policy] = {}
        self._operation: RecordedOperation

    def told(self, operation: RecordedOperation, slots: tuple[Slot, ...]) -> list[Slot]:
        """Hear of an operation; return what its results bear then."""
        self._operation, place, run = operation, operation.place, self.report.run
        home = run if operation.policy == run.name else as_policy(operation.policy)
        if self._asked_of is not None:
            self.policies = self._asked_of(home)
            if operation.kind in (CAST, ASSIGNMENT, ENTRY):
                self._homes[place.site, place.program] = home
        abstract = abstract_arrays_of(home)
        made = [abstract.of(dtype, 0 if operation.flat else 1) for dtype in operation.dtypes()]
        pairs = zip(operation.operands, slots, strict=True)
        operands = tuple(_operand(abstract, given, slot) for given, slot in pairs)
        with notify_lock, recorded_at(place.site, place.program):
            getattr(self, operation.kind)(operation, home, operands, made)
        return [x._type for x in made]

    def _count(self, verdict: Verdict) -> bool:
        self._note(verdict)  # nothing is passed again
        return True

    def answering(self, at: PlaceOfValues) -> set[str]:
        """The policies that are asked about what was done at a place."""
        home = self._homes.get((at.site, at.program))
        every = self._asked_of(home) if self._asked_of and home else self.report.policies
        return {policy.name for policy in every if policy in self.report.policies}

    def _place(self, verdict: Verdict) -> Divergence:
        place, known = self._operation.place, {policy.name for policy in self.report.policies}
        stand_ins = {each.name for each in self.policies if each not in self.report.policies}
        answers = {
            name: answer
            for name, answer in verdict.answers.items()
            if answer.origin or name not in stand_ins or name not in known
        }
        framework = family(self._operation.policy) if self._asked_of else ""
        what = *place[:2], verdict.name, verdict.operands, answers, self._operation.count
        found = Divergence(*what, verdict.form, framework, place.part_of, event=verdict.event)
        found.part, found.edited, found.names = place.part, place.edited, place.names
        return found

    def leave_open(self, each: RecordedOperation, policy: Policy, why: str) -> None:
        """Note that a policy was not asked about an operation, or does not answer."""
        if policy not in self.report.policies:  # one that stands in for it, as that is not asked
            return
        self.report.unanswered[NotExamined(each.name, why, *each.place[:2], (policy.name,))] += 1

    # -- kinds of operations, by their names ------------------------------------------------------

    def operation(self, each: RecordedOperation, home: Policy, operands: Any, made: Any) -> None:
        """Hear of an operation, with the dtypes that the framework gave."""
        seen, results = tuple(operand_of(x, home) for x in operands), each.dtypes()
        decided = home.decide(each.name, seen, operands, each.form, options=each.options)
        if isinstance(decided, Refusal):
            inputs = tuple(home.strong(operand.type) for operand in seen)
            plan, values = Plan(inputs, None, results[0]), operands
        else:
            plan, values = decided.plan, decided.values
        if each.name in COMPARISONS:
            self._compared(each, home, operands, plan)
        plan = plan._replace(result=results[0], extra_results=results[1:])
        event = OperationEvent(
            each.name, home, operands, seen, plan, values, made[0], tuple(made[1:]),
            each.options, each.form,
        )  # fmt: skip
        self.on_operation(event)

    def _compared(self, each: RecordedOperation, home: Policy, operands: Any, plan: Plan) -> None:
        """Note a comparison that a policy carries out in dtypes in which a number is another one:
        a bool is made of it all the same."""
        for policy in self.policies:
            if policy.name == home.name:
                continue
            seen = tuple(as_seen_by(policy, x) for x in operands)
            decided = policy.decide(each.name, seen, operands, each.form, options=each.options)
            if isinstance(decided, Refusal):
                continue
            mine, theirs = map(home.strong, plan.inputs), map(policy.strong, decided.plan.inputs)
            dtypes = [*zip(operands, mine, theirs, strict=True)]
            if self._outcomes(each, policy, dtypes):
                continue
            number = any(_another(x, mine, theirs) for x, mine, theirs in dtypes)
            if number or any(_may_round(home, *row) for row in dtypes):
                why = _ANOTHER if number else _ROUNDED
                self.leave_open(each, policy, why)

    def _outcomes(
        self, each: RecordedOperation, policy: Policy, dtypes: list[tuple[Any, DType, DType]]
    ) -> bool:
        """Note that a comparison of known numbers has another answer under a policy, if it has;
        answer whether that is all there is to say: of one pass, as others have other numbers."""
        every = [x for x, *_ in dtypes]
        if any(map(_is_unknown, every)) or not all(_is_alike(policy, x) for x in every):
            return False
        numbers = [x._buffer.item() if isinstance(x, AbstractArray) else x for x in every]
        run = _outcome(each.name, numbers, [mine for _, mine, _ in dtypes])
        other = _outcome(each.name, numbers, [theirs for *_, theirs in dtypes])
        if run is None or other is None:
            return False
        if run is not other:
            example = Example((), " and ".join(map(str, numbers)), str(run), str(other))
            words = ", ".join(words_of(tuple(operand_of(x, self.report.run) for x in every)))
            place = PlaceOfValues(*sites(), each.name, words, "bool")
            change = one_pass(place, 1, [Difference((policy.name,), 1, example)])
            self.report.record_values(change)
        return each.count == 1

    def default(self, each: RecordedOperation, home: Policy, operands: Any, made: Any) -> None:
        """Hear of an array of Python numbers."""
        weak, lone, function = (each.options[key] for key in ("weak", "lone", "function"))
        self.on_default(BY_CODE[weak], made[0], lone, function)

    def assignment(self, each: RecordedOperation, home: Policy, operands: Any, made: Any) -> None:
        """Hear of a value written into an array."""
        target, value = operands
        source = WEAK[type(value)] if type(value) in WEAK else BY_CODE[each.operands[1].code]
        dtype = BY_CODE[each.operands[0].code]
        self.on_setitem(SetitemEvent(home, target, value, source, dtype))

    def cast(self, each: RecordedOperation, home: Policy, operands: Any, made: Any) -> None:
        """Hear of an explicit cast."""
        source, target = BY_CODE[each.operands[0].code], each.dtypes()[0]
        named = each.options.get("made", False)
        self.on_cast(CastEvent(home, operands[0], made[0], source, target, made=named))

    def made(self, each: RecordedOperation, home: Policy, operands: Any, made: Any) -> None:
        """Hear of an array of a dtype that the program named."""
        if not each.options.get("inner"):
            self.on_made(MadeEvent(home, made[0], None))

    def entry(self, each: RecordedOperation, home: Policy, operands: Any, made: Any) -> None:
        """Hear of data that the framework narrows."""
        (result,), given, source = made, each.options["operands"], BY_CODE[each.options["source"]]
        if operands and type(slot := operands[0]._type) is ShadowDTypes:  # another library's
            source = slot.read(source)
        indices, data = None if given is None else tuple(given), (None,) * each.options["data"]
        entry = EntryEvent(home, result, source, data, indices)
        rank = Rank.ARRAY if result.ndim or not data else Rank.ZERO_D
        key = "entry", home, id(source), rank, indices, bool(data)
        verdict = self._asked(key, lambda: entry_verdict(self.policies, entry, rank))
        (result._type,) = verdict.slots

    def call(self, each: RecordedOperation, home: Policy, operands: Any, made: Any) -> None:
        """Hear of a call by its name: note the frameworks that have no such function for a dtype,
        and those that were not asked."""
        given = None if each.options["ruled"] or not operands else operands[0]
        dtype = None if given is None else type_of(given._type)
        seen = () if dtype is None else words_of((Operand(dtype),))
        answers = {home.name: Answer(dtype, "", "", seen)}
        for policy in self.policies:
            if policy.name == home.name:
                continue
            answer = None if given is None else _lacking(policy, each.name, given)
            answers[policy.name] = answer or Answer(dtype, "", "", seen)
            if answer is None and (why := _unasked(each, home, policy, operands)):
                self.leave_open(each, policy, why)
        if dtype is not None:
            self._note(Verdict(each.name, seen, answers, form=Form.FUNCTION))

    def node(self, each: RecordedOperation, home: Policy, operands: Any, made: Any) -> None:
        """Hear of an operator of a model file that no rule of promotion is about: its schema says
        which editions of ONNX take it, of other policies nobody knows."""
        arrays = (*made, *operands)
        if not arrays:
            return
        dtype, moves = type_of(arrays[0]._type), each.options["moves"]
        seen = words_of(Operand(type_of(x._type)) for x in operands)
        answers = {home.name: Answer(dtype, "", "", seen)}
        for policy in self.policies:
            why = each.options["refuses"].get(policy.name.partition("+")[0], "")
            answers[policy.name] = Answer(None if why else dtype, why, "root" if why else "", seen)
            if not moves and family(policy.name) != family(home.name):
                self.leave_open(each, policy, _OF_ONNX)
        self._note(Verdict(each.name, seen, answers, form=Form.FUNCTION))
        if moves and made and operands:
            made[0]._type = operands[0]._type


_OF_ONNX = "an operator of ONNX of which only its own editions are asked"


def _unasked(each: RecordedOperation, home: Policy, policy: Policy, operands: Any) -> str:
    """Why a policy does not answer for a function; "" if it does.

    Of a NumPy program the functions are recorded that frameworks define otherwise, and no others.
    """
    if not home.name.startswith("numpy") and not examined(each.name, policy):
        return "the framework was not asked what it answers"
    dtypes = {policy.strong(as_seen_by(policy, x).type) for x in operands[:1]}
    for dtype in dtypes:
        if asked_on_a_cpu_alone(each.name, dtype, policy):
            return f"its kernels for the CPU have no {dtype.name}, and no GPU was asked"
        if not each.options["ruled"] and (why := doubtful(each.name, dtype, policy)):
            return why
    keywords, own = each.options["keywords"], each.place.site == each.place.program
    why = defined_otherwise(each.name, home, policy, keywords, dtypes)
    if own and not why and (lacking := keywords_lacking(each.name, home, policy, keywords)):
        why = f"the function there takes no {listed(f'{name}=' for name in lacking)}"
    return why


def _lacking(policy: Policy, name: str, x: AbstractArray) -> Answer | None:
    """The refusal of a policy whose framework has no function for the dtype that it has there."""
    own = policy.strong(as_seen_by(policy, x).type)
    reason = refused(name, own, policy)
    if not reason:
        return None
    origin = "root" if refused(name, policy.strong(type_of(x._type)), policy) else "inherits"
    pending = pending_of((x,)).get(policy.name, frozenset())
    return Answer(None, reason, origin, words_of((Operand(own),)), None, pending)


_ANOTHER = "it compares a number that is another one in the dtype there"
_ROUNDED = "it compares an array's numbers in a dtype that may round them, and another there"


def _another(x: Any, mine: DType, theirs: DType) -> bool:
    """Whether a number whose value is known has another value in one dtype than in the other."""
    if mine is theirs or INEXACT.isdisjoint((mine.kind, theirs.kind)) or _is_unknown(x):
        return False  # integers compare as they are, whatever they fit
    value = x._buffer.item() if isinstance(x, AbstractArray) else x
    with np.errstate(all="ignore"):
        try:
            first, second = (np.asarray(value).astype(d.storage).item() for d in (mine, theirs))
        except (OverflowError, TypeError, ValueError):  # such as a value that nobody reads
            return True
    return bool(first != second and (first == first or second == second))


def _is_alike(policy: Policy, x: Any) -> bool:
    """Whether an operand has the run's dtype under a policy, and so the run's number."""
    own = x if not isinstance(x, AbstractArray) else type_of(x._type)
    return own is x or policy.strong(as_seen_by(policy, x).type) is policy.strong(own)


def _outcome(name: str, numbers: list[Any], dtypes: list[DType]) -> bool | None:
    """What a comparison of numbers in some dtypes answers; None if these do not hold them.

    Integers compare as they are, whatever they fit.
    """
    inexact = [d.kind in INEXACT for d in dtypes]
    if not any(inexact):
        return bool(getattr(operator, _BY_OPERATOR[name])(*numbers))
    if not all(inexact):
        return None
    with np.errstate(all="ignore"):
        try:
            a, b = (np.asarray(x).astype(d.storage) for x, d in zip(numbers, dtypes, strict=True))
        except (OverflowError, TypeError, ValueError):
            return None
    return bool(getattr(np, name)(a, b))


_BY_OPERATOR = {"equal": "eq", "not_equal": "ne", "less": "lt", "greater": "gt"}
_BY_OPERATOR |= {"less_equal": "le", "greater_equal": "ge"}


def _may_round(home: Policy, x: Any, mine: DType, theirs: DType) -> bool:
    """Whether an array is compared in two dtypes of which one may not hold its numbers."""
    if mine is theirs or not _is_unknown(x):
        return False
    own = home.strong(type_of(x._type))
    return any(gravity(own, dtype)[0] for dtype in (mine, theirs))


def _is_unknown(x: Any) -> bool:
    return isinstance(x, AbstractArray) and (x.ndim > 0 or not x._buffer.known)


def _operand(abstract: type[AbstractArray], given: Given, slot: Slot) -> Any:
    if not given.code:
        return given.value
    if not given.flat:
        return abstract.of(slot, 1)
    known = given.value is not None
    value = given.value if known else UNKNOWN[BY_CODE[given.code].kind]
    return abstract.of_value(slot, value, known)
