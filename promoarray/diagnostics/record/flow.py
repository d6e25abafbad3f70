"""Recorder of operations with their flow: no policy is asked before the run is over."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from types import CodeType
from typing import Any

from promoarray import dtypes as dt
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import instructions, outside, part_of, sites
from promoarray.core.events import (
    CastEvent,
    EntryEvent,
    MadeEvent,
    Observer,
    OperationEvent,
    RefusalEvent,
    SetitemEvent,
)
from promoarray.core.operands import is_left_lazy, looked_on
from promoarray.diagnostics.ask.observer import MODULES, names_of
from promoarray.diagnostics.ask.refusals import refused_of
from promoarray.diagnostics.ask.values import ComparedValues
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.model.fallback_dtype import held
from promoarray.diagnostics.model.flow import (
    ASSIGNMENT,
    CALL,
    CAST,
    DEFAULT,
    ENTRY,
    MADE,
    OPERATION,
    Flow,
    Given,
    Place,
    RecordedOperation,
)
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.record.call_record import Heard
from promoarray.diagnostics.report import Report
from promoarray.dtypes import BY_CODE, WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Rank, Refusal
from promoarray.promotion.policy import Policy

Context = tuple[int, ...]

DEPTH = 4
"""Operations are told apart by what feeds them, and what feeds that, in so many steps: layers of a
network at one line of a library are, and the passes of a loop come to an end."""

_NOTHING: Context = (-1,) * DEPTH


class Produced:
    """Type slot of an array that a recorded operation made.

    Attributes
    ----------
    dtype : DType
    source : tuple of int
        What made it (``RecordedOperation.makes``), and which of the results it is.
    context : tuple of int
        Stands for the operation, for that and what feeds it, and so on.
    """

    __slots__ = ("__weakref__", "_flow", "context", "dtype", "source")

    def __init__(self, dtype: DType, source: tuple[int, int], context: Context, flow: Flow) -> None:
        self.dtype, self.source, self.context, self._flow = dtype, source, context, flow

    def read(self, dtype: DType) -> DType:
        """Return what a program reads, which nothing tells from a dtype that it names."""
        self._flow.unread[sites()] += 1
        return dtype


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
        self.report, self.framework, self._heard = report, framework, heard
        self.flow = Flow()
        report.flows.append(self.flow)
        self.edited, self.part_of = True, ""
        self._by_value = [policy for policy in report.policies if policy.by_value is not None]
        self._values = ComparedValues(report.policies, self.flow)
        self._written: dict[Hashable, int] = {}
        self._answers: dict[Hashable, Hashable] = {}
        self._known: dict[Hashable, RecordedOperation] = {}
        self._made: dict[Context, int] = {}
        self._places: dict[Hashable, tuple[tuple[CodeType, ...], Place]] = {}
        self._slots: dict[tuple[int, int], Produced] = {}

    # -- what observers are told ------------------------------------------------------------------

    def on_operation(self, event: OperationEvent) -> None:
        """Record an operation."""
        made = event.result, *event.extra_results
        dtypes = (event.plan.result, *event.plan.extra_results)
        said = {key: event.options[key] for key in ("low", "real") if key in event.options}
        if "low" in said:
            said["low"] = bool(said["low"])
        options = {**said, **({"high": True} if "low" in said else {})}
        given = event.operands, dtypes, not event.result.ndim, options
        number = self._record(OPERATION, event.name, event.form, event.policy, *given)
        for which, x in enumerate(made):
            x._type = self._slot(number, which)

    def on_default(self, weak: DType, result: Array, lone: bool, function: str = "") -> None:
        """Record an array of Python numbers."""
        policy = result._policy or self.report.run
        made = type_of(result._type)
        options = {"weak": weak.code, "lone": lone, "function": function}
        number = self._record(
            DEFAULT, "", Form.FUNCTION, policy, (), (made,), not result.ndim, options
        )
        result._type = self._slot(number, 0)

    def on_setitem(self, assignment: SetitemEvent) -> None:
        """Record an assignment."""
        policy, target, value, source, dtype = assignment
        self._record(ASSIGNMENT, "setitem", Form.INPLACE, policy, (target, value), (), False, {})
        if source is not dtype and isinstance(value, Array) and dt.string not in (source, dtype):
            self._values.stored(assignment)

    def on_cast(self, cast: CastEvent) -> None:
        """Record an explicit cast, and compare its values."""
        if dt.string in (cast.source, cast.target):
            return
        flat = not cast.result.ndim
        given: Any = (cast.array,), (cast.target,), flat, {}
        number = self._record(CAST, "astype", Form.FUNCTION, cast.policy, *given)
        self._values.cast(cast)
        cast.result._type = self._slot(number, 0)

    def on_made(self, made: MadeEvent) -> None:
        """Record an array of a dtype that the program named."""
        dtype = type_of(made.result._type)
        if dtype is not dt.string:
            given: Any = (), (dtype,), not made.result.ndim, {}
            number = self._record(MADE, "", Form.FUNCTION, made.policy, *given)
            made.result._type = self._slot(number, 0)

    def on_entry(self, entry: EntryEvent) -> None:
        """Record data that the framework takes in as a narrower dtype."""
        dtype = type_of(entry.result._type)
        options = {"source": entry.source.code, "data": len(entry.data)}
        options["operands"] = None if entry.operands is None else list(entry.operands)
        given: Any = (), (dtype,), not entry.result.ndim, options
        number = self._record(ENTRY, "", Form.FUNCTION, entry.policy, *given)
        keep = tuple(p.name for p in self.report.policies if held(p, entry.source) is entry.source)
        self._values.narrowed(entry.data, entry.policy, entry.source, dtype, keep, kept=True)
        entry.result._type = self._slot(number, 0)

    def on_call(
        self,
        name: str,
        policy: Policy,
        given: tuple[AbstractArray, ...],
        keywords: Collection[str],
        ruled: bool,
    ) -> None:
        """Record a call by its name."""
        options = {"keywords": sorted(keywords), "ruled": ruled}
        self._record(CALL, name, Form.FUNCTION, policy, given, (), True, options)

    def on_refusal(self, event: RefusalEvent) -> None:
        """Note what the run refuses: it may stop there."""
        self.report.refused = refused_of(event, self.report.policies)

    def on_refused_by_framework(self, event: RefusalEvent, error: Exception) -> None:
        """Note an operation that raised in a recorded program."""
        self.report.refused = refused_of(event, self.report.policies, self.framework, error)

    def on_escape(self, escape: Any) -> None:
        """Note data that leaves the policy."""
        self.report.record_escape(escape)

    def may_cast_otherwise(self, run: Policy, array: Array, target: DType) -> bool:
        """Whether some policy may make other values of an array's cast than the run's."""
        return dt.string is not target and self._values.may_differ(run, array, target)

    # -- parts ------------------------------------------------------------------------------------

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

    def _record(
        self,
        kind: str,
        name: str,
        form: Form,
        policy: Policy,
        operands: Iterable[Any],
        results: tuple[DType, ...],
        flat: bool,
        options: dict[str, Any],
    ) -> int:
        """Count an operation, and note what feeds it; return what its results are made by."""
        place, every = self._place(), tuple(operands)
        codes = tuple(dtype.code for dtype in results)
        slots = [None if type(x) in WEAK else x._type for x in every]
        given = self._given(name, every)
        said = tuple((key, str(value)) for key, value in options.items())
        key = place, kind, name, form, policy.name, codes, flat, said
        values = tuple(map(_class_of, given))
        answers = self._looked_at(name, form, given, options) if kind == OPERATION else ()
        first = self._number((key, answers, *((g.code, g.flat, type(g.value)) for g in given)))
        fed = [slot.context if type(slot) is Produced else _NOTHING for slot in slots]
        deeper = (hash((first, *(each[depth] for each in fed))) for depth in range(DEPTH - 1))
        context = first, *deeper
        operation = self._known.get((context, values))
        if operation is None:
            made = RecordedOperation(
                kind, name, form, policy.name, given, codes, flat, options, place
            )
            made.sources = [set() for _ in every]
            made.makes = self._made.setdefault(context, len(self._made))
            operation = self._known[context, values] = made
            self.flow.operations.append(made)
            for which, dtype in enumerate(results):
                source = made.makes, which
                self._slots.setdefault(source, Produced(dtype, source, context, self.flow))
        operation.count += 1
        if self._heard is not None:
            self._heard.recorded.append(operation)
        for found, slot in zip(operation.sources, slots, strict=True):
            if type(slot) is Produced:
                found.add(slot.source)
        return operation.makes

    def _number(self, what: Hashable) -> int:
        return self._written.setdefault(what, len(self._written))

    def _slot(self, makes: int, which: int) -> Any:
        """What an array bears that an operation made: one object of each result."""
        return self._slots[makes, which]

    def _looked_at(
        self, name: str, form: Form, given: tuple[Given, ...], options: Mapping[str, Any]
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

    def _place(self) -> Place:
        at, codes = instructions()
        key = at, self.part_of, self.edited
        known = self._places.get(key)
        if known is not None:
            return known[1]
        site, program = sites()
        frame, part = outside(), 0
        names: tuple[str, ...] = ()
        if frame is not None and site == program:
            part = part_of(frame.f_code, frame.f_lasti)
            names = tuple(names_of(frame, MODULES[self.framework]))
        place = Place(site, program, part, names, self.part_of, self.edited)
        self._places[key] = codes, place  # the code is held, so that no other has its id
        return place

    def _given(self, name: str, operands: tuple[Any, ...]) -> tuple[Given, ...]:
        """The operands; 0-d arrays with their values, where a policy looks at them.

        None does where all are 0-d, but at an exponent.
        """
        beside = name == "pow" or any(type(x) not in WEAK and x._buffer.ndim for x in operands)
        looks = bool(self._by_value) and beside
        return tuple(_given(x, looks) for x in operands)


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
    policy: Policy, name: str, form: Form, given: tuple[Given, ...], options: Mapping[str, Any]
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
