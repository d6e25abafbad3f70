"""Recorder of operations with their flow: no policy is asked before the run is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from types import CodeType
from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of, is_lazy
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import instructions, outside, sites
from promoarray.core.call_site import part_of as expression_part
from promoarray.core.events import (
    Again,
    CastEvent,
    MadeEvent,
    Observer,
    OperationEvent,
    QuantizeEvent,
    RefusalEvent,
    SetitemEvent,
    TakenEvent,
)
from promoarray.core.operands import is_left_lazy, looked_on
from promoarray.diagnostics.ask.foreign import entering_otherwise
from promoarray.diagnostics.ask.numbers import made_otherwise
from promoarray.diagnostics.ask.observer import MODULES, names_of
from promoarray.diagnostics.ask.quantized import place_of, quantize_verdict
from promoarray.diagnostics.ask.refusals import refused_of
from promoarray.diagnostics.ask.taken import taken_verdict
from promoarray.diagnostics.ask.values import ComparedValues
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.model.divergence import DefaultMade
from promoarray.diagnostics.model.flow import (
    ASSIGNMENT,
    CAST,
    COMPARISONS,
    DEFAULT,
    ENTRY,
    MADE,
    OPERATION,
    Flow,
    Given,
    Place,
    RecordedOperation,
    family,
)
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.model.slots import held
from promoarray.diagnostics.model.values import one_pass
from promoarray.diagnostics.report import Report
from promoarray.dtypes import BY_CODE, WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy import NO_OPTIONS, Policy
from promoarray.promotion.registry import as_policy, list_policies

Context = tuple[int, ...]

DEPTH = 4
"""Operations are told apart by what feeds them, and what feeds that, in so many steps: layers of a
network at one line of a library are, and the passes of a loop come to an end."""

NOT_ASKED = "it was not asked as the program ran"

_NOTHING: Context = (-1,) * DEPTH


class Produced:
    """Type slot of an array that a recorded operation made."""

    __slots__ = ("__weakref__", "context", "dtype", "flow", "source")

    def __init__(self, dtype: DType, source: tuple[int, int], context: Context, flow: Flow) -> None:
        self.dtype = dtype
        self.source = source  # ``RecordedOperation.makes``, and which of the results it is
        self.context = context  # stands for the operation, for that and what feeds it, and so on
        self.flow = flow  # that the operation is one of

    def read(self, dtype: DType) -> DType:
        """Return what a program reads, which nothing tells from a dtype that it names."""
        self.flow.unread[sites()] += 1
        return dtype


class Heard(threading.local):
    """What the call in hand of a thread has told the recorder, for those that are like it."""

    def __init__(self) -> None:
        # what was noted last of an operation of NumPy's that made a tensor, and a reference to that
        self.wrapped: tuple[NotExamined, Any] | None = None
        self.begin()

    def begin(self) -> None:
        """Hear of another call."""
        self.recorded: list[RecordedOperation] = []  # the operations that it was recorded as
        self.tells: list[Callable[..., object]] = []  # each hears how often calls like it come
        self.arrays: set[int] = set()  # the addresses of arrays of which is known what they carry
        self.lasting = True  # whether calls that are alike tell the same
        # between which all values of the array that is cast have to be for that
        self.within: tuple[int, int] | None = None
        self.call: Any = None  # the call itself


class FlowRecorder(Observer):
    """Records the operations of a process, and which result feeds which operand.

    It stands in the place of a ``ShadowObserver``.

    Parameters
    ----------
    report : Report
        Whose policies' casts are compared by value as the program runs, and which counts.
    framework : str
        The framework of a program that is recorded.
    heard : Heard, optional
        What hears of the operations that the call in hand is recorded as.
    """

    def __init__(self, report: Report, framework: str = "", heard: Heard | None = None) -> None:
        self.report, self._framework, self._heard = report, framework, heard
        self.flow = Flow()
        report.flows.append(self.flow)
        self._by_value = [policy for policy in report.policies if policy.by_value is not None]
        self.compared = ComparedValues(report.policies, self.flow)
        self.passes = 0  # of operations that were recorded, by which what feeds them may have grown
        self._written: dict[Hashable, int] = {}
        self._answers: dict[Hashable, Hashable] = {}
        self._known: dict[Hashable, RecordedOperation] = {}
        self._made: dict[Context, int] = {}
        self._places: dict[Hashable, tuple[tuple[CodeType, ...], Place]] = {}
        self._slots: dict[tuple[int, int], Produced] = {}

    # -- what observers are told ------------------------------------------------------------------

    def on_operation(self, event: OperationEvent) -> None:
        """Record an operation, with operands of other libraries as the run took them in."""
        if event.given:
            self._leave_open(event.name, entering_otherwise(self._every, event))
        made = event.result, *event.extra_results
        dtypes = event.plan.result, *event.plan.extra_results
        what = OPERATION, event.name, event.policy, event.operands, dtypes, not event.result.ndim
        slots = self.record(*what, form=event.form, options=event.options)
        for x, slot in zip(made, slots, strict=True):
            x._type = slot

    def on_default(
        self,
        weak: DType,
        result: Array,
        lone: bool,
        function: str = "",
        again: Again | None = None,
    ) -> None:
        """Record an array of Python numbers."""
        if again is not None:
            made = again, result, DefaultMade(weak, lone, function)
            run = result._policy or self.report.run
            self._leave_open(again.function, made_otherwise(self._every, run, *made))
        options = {"weak": weak.code, "lone": lone, "function": function}
        self._give(DEFAULT, "", result._policy or self.report.run, (), result, options)

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Record an assignment."""
        policy, target, value, source, dtype, _ = assignment
        what = ASSIGNMENT, "setitem", policy, (target, value), (), False
        self.record(*what, form=Form.INPLACE)
        if source is not dtype and isinstance(value, Array) and dt.string not in (source, dtype):
            self.compared.stored(assignment)

    def on_cast(self, cast: CastEvent) -> None:
        """Record an explicit cast, and compare its values."""
        if dt.string in (cast.source, cast.target):
            return
        result = cast.result
        given = (cast.array,), (cast.target,), not result.ndim
        made = {"made": True} if cast.made else NO_OPTIONS
        (slot,) = self.record(CAST, "astype", cast.policy, *given, options=made)
        self.compared.cast(cast)
        result._type = slot

    def on_made(self, made: MadeEvent) -> None:
        """Record an array of a dtype that the program named."""
        if made.again is not None:
            given = made.again, made.result, None
            self._leave_open(made.again.function, made_otherwise(self._every, made.policy, *given))
        if type_of(made.result._type) is not dt.string:
            self._give(MADE, "", made.policy, (), made.result, {})

    def on_quantize(self, event: QuantizeEvent) -> None:
        """Record an array of a dtype that the program named, compare its values, and note the
        policies that make none of it."""
        if not is_lazy(backend_of(event.result._buffer)):
            verdict, found = quantize_verdict(self.report.policies, event)
            if found:
                self.flow.record_values(one_pass(place_of(event), event.result.size, found))
            other = "it gives {}, which is not carried on in a recording"
            answered = (
                (name, answer.reason or other.format(answer.dtype))
                for name, answer in verdict.answers.items()
                if answer.origin
            )
            later = ((p.name, NOT_ASKED) for p in self._every if p not in self.report.policies)
            self._leave_open(event.name, (*verdict.signatures, *answered, *later))
        self._give(MADE, event.name, event.policy, event.arrays, event.result, {})

    def on_taken(self, event: TakenEvent) -> None:
        """Note the policies whose function takes no such arrays, or reads an index otherwise."""
        verdict = taken_verdict(self._every, event)
        refused = ((n, each.reason) for n, each in verdict.answers.items() if each.dtype is None)
        self._leave_open(verdict.name, (*verdict.doubts, *refused))

    @cached_property
    def _every(self) -> tuple[Policy, ...]:
        """All policies that a saved run may be asked about."""
        others = (as_policy(name) for name in list_policies())
        return tuple(dict.fromkeys((*self.report.policies, *others)))

    def _leave_open(self, what: str, policies: Iterable[tuple[str, str]]) -> None:
        """Note policies whose answer is not carried on in a recording, each with the reason."""
        by_reason: dict[str, list[str]] = {}
        for name, why in policies:
            by_reason.setdefault(why, []).append(name)
        for why, names in by_reason.items():
            self.report.unexamined[NotExamined(what, why, *sites(), tuple(names))] += 1

    def on_refusal(self, event: RefusalEvent) -> None:
        """Note what the run refuses: it may stop there."""
        self.report.refuse(refused_of(event, self.report.policies))

    def on_escape(self, escape: Any) -> None:
        """Note data that leaves the policy."""
        self.report.count(self.report.escapes, escape)

    # -- what a recorder of a framework tells -----------------------------------------------------

    def entered(
        self,
        policy: Policy,
        result: Array,
        source: DType,
        data: tuple[Any, ...],
        operands: tuple[int, ...] | None,
        given: tuple[Array, ...] = (),
    ) -> None:
        """Record data that the framework takes in as a narrower dtype; see ``EntryEvent``.

        Of what another library of the run has made, that is given, with what it carries.
        """
        dtype = type_of(result._type)
        places = None if operands is None else list(operands)
        options = {"source": source.code, "data": len(data), "operands": places}
        self._give(ENTRY, "", policy, given, result, options)
        keep = tuple(p.name for p in self.report.policies if held(p, source) is source)
        self.compared.narrowed(data, policy, source, dtype, keep, kept=True)

    def begin_again(self, report: Report) -> None:
        """Fill another report, with what arrays carry, and nothing counted."""
        self.report = report
        report.flows[:] = [self.flow]
        for operation in self.flow.operations:
            operation.count = 0
        self.flow.values.found.clear()
        self.flow.unread.clear()

    def ended(self, names: Mapping[str, Any]) -> None:
        """Note which results the program's globals are."""
        self.flow.finals = {
            name: slot.source
            for name, x in tuple(names.items())
            # Not isinstance, which asks the value for its class: anything may answer.
            if not name.startswith("_") and issubclass(type(x), Array)
            if isinstance(slot := x._type, Produced)
        }

    # -- parts ------------------------------------------------------------------------------------

    def _give(
        self,
        kind: str,
        name: str,
        policy: Policy,
        operands: tuple[Any, ...],
        result: Array,
        options: dict[str, Any],
    ) -> None:
        """Record what makes one array of the dtype that it has."""
        what = kind, name, policy, operands, (type_of(result._type),), not result.ndim
        (result._type,) = self.record(*what, options=options)

    def record(
        self,
        kind: str,
        name: str,
        policy: Policy,
        operands: tuple[Any, ...],
        results: tuple[DType, ...],
        flat: bool,
        *,
        form: Form = Form.FUNCTION,
        options: Mapping[str, Any] = NO_OPTIONS,
        edited: bool = True,
        part_of: str = "",
    ) -> list[Any]:
        """Count an operation, and note what feeds it.

        Parameters
        ----------
        kind, name, policy, results, flat, form, options
            As ``RecordedOperation`` has them.
        edited, part_of
            As ``Place`` has them.

        Returns
        -------
        list of Produced
            What its results bear: one object of each, in every pass.
        """
        place = self._place(edited, part_of, family(policy.name) if self._framework else "")
        codes = tuple(dtype.code for dtype in results)
        slots = [None if type(x) in WEAK else x._type for x in operands]
        given = self._given(name, operands)
        if kind == OPERATION:
            options = _looked_upon(options)
        said = tuple((key, str(value)) for key, value in options.items())
        key = place, kind, name, form, policy.name, codes, flat, said
        values = tuple(map(_class_of, given))
        answers = self._looked_at(name, form, given, options) if kind == OPERATION else ()
        what = key, answers, *((g.code, g.flat, type(g.value)) for g in given)
        first = self._written.setdefault(what, len(self._written))
        fed = [slot.context if type(slot) is Produced else _NOTHING for slot in slots]
        deeper = (hash((first, *(each[depth] for each in fed))) for depth in range(DEPTH - 1))
        context = first, *deeper
        operation = self._known.get((context, values))
        if operation is None:
            operation = self._known[context, values] = RecordedOperation(
                *(kind, name, form, policy.name, given, codes, flat, dict(options), place),
                sources=[set() for _ in operands],
                makes=self._made.setdefault(context, len(self._made)),
            )
            self.flow.operations.append(operation)
            self.flow.makers.setdefault(operation.makes, operation)
            for which, dtype in enumerate(results):
                source = operation.makes, which
                self._slots.setdefault(source, Produced(dtype, source, context, self.flow))
        operation.count += 1
        self.passes += 1
        if self._heard is not None:
            self._heard.recorded.append(operation)
        for found, slot in zip(operation.sources, slots, strict=True):
            if type(slot) is Produced:
                found.add(slot.source)
        return [self._slots[operation.makes, which] for which in range(len(results))]

    def _looked_at(
        self, name: str, form: Form, given: Sequence[Given], options: Mapping[str, Any]
    ) -> Hashable:
        """What the policies that look at values answer for these."""
        if not self._by_value or all(each.value is None for each in given):
            return ()
        key = name, form, *((each.code, each.flat, _class_of(each)) for each in given)
        if key not in self._answers:
            self._answers[key] = tuple(
                _dtype_of(policy, name, form, given, options) for policy in self._by_value
            )
        return self._answers[key]

    def _place(self, edited: bool, part_of: str, framework: str) -> Place:
        at, codes = instructions()
        key = at, part_of, edited, framework
        known = self._places.get(key)
        if known is not None:
            return known[1]
        site, program = sites()
        frame, part = outside(), 0
        names: tuple[str, ...] = ()
        if frame is not None and site == program:
            part = expression_part(frame.f_code, frame.f_lasti)
            names = tuple(names_of(frame, MODULES[framework]))
        place = Place(site, program, part, names, part_of, edited)
        self._places[key] = codes, place  # the code is held, so that no other has its id
        return place

    def _given(self, name: str, operands: tuple[Any, ...]) -> tuple[Given, ...]:
        """The operands; 0-d arrays with their values, where a policy looks at them.

        None does where all are 0-d, but at an exponent; comparisons may answer otherwise.
        """
        beside = name == "pow" or any(type(x) not in WEAK and x._buffer.ndim for x in operands)
        looks = bool(self._by_value) and (beside or name in COMPARISONS)
        return tuple(_given(x, looks) for x in operands)


def _looked_upon(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of an operation that policies look at."""
    said = {name: options[name] for name in ("real", "default") if name in options}
    return said | {"low": bool(options["low"]), "high": True} if "low" in options else said


def _given(x: Any, looks: bool) -> Given:
    if type(x) in WEAK:
        return Given("", True, x)
    flat = not x._buffer.ndim
    known = (
        looks and flat and (x.has_value if isinstance(x, AbstractArray) else not is_left_lazy(x))
    )
    return Given(type_of(x._type).code, flat, looked_on(x) if known else None)


def _class_of(given: Given) -> Hashable:
    """What values have in common that no policy tells apart."""
    return None if given.value is None else scalar_class(given.value)


def _dtype_of(
    policy: Policy, name: str, form: Form, given: Sequence[Given], options: Mapping[str, Any]
) -> Hashable:
    """A policy's dtype for operands of the run."""
    operands = tuple(
        Operand(BY_CODE[g.code], Rank.ZERO_D if g.flat else Rank.ARRAY, g.value)
        if g.code
        else Operand(WEAK[type(g.value)], Rank.SCALAR, g.value)
        for g in given
    )
    values = tuple(None if g.code else g.value for g in given)
    decided = policy.carried_out(name, operands, values, form, options=options)
    return None if isinstance(decided, Refusal) else decided.plan.result
