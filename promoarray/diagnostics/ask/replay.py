"""Policies asked about a run that was recorded with its flow.

Each operation is told to a ``ShadowObserver`` once for each combination of what a policy may have
in place of its operands, which follows from the operations that feed it. So the answers, roots and
edits are found as they are while a program runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from promoarray.core.call_site import recorded_at
from promoarray.core.events import (
    CastEvent,
    EntryEvent,
    MadeEvent,
    OperationEvent,
    SetitemEvent,
)
from promoarray.core.observers import notify_lock
from promoarray.core.operands import UNKNOWN, operand_of
from promoarray.diagnostics.ask.observer import ShadowObserver
from promoarray.diagnostics.model.abstract_array import AbstractArray, abstract_arrays_of
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.final_dtypes import final_dtypes
from promoarray.diagnostics.model.flow import (
    ASSIGNMENT,
    CALL,
    CAST,
    COMPARED,
    DEFAULT,
    ENTRY,
    MADE,
    OPERATION,
    Flow,
    Given,
    RecordedOperation,
    Source,
)
from promoarray.diagnostics.model.noted import Unanswered
from promoarray.diagnostics.report import Report
from promoarray.dtypes import BY_CODE, WEAK
from promoarray.promotion.plan import Plan, Refusal
from promoarray.promotion.registry import as_policy

MOST = 64
"""Combinations of states that one operation is asked for."""

Slot = Any
"""What a type slot bears: a dtype, or a ``ShadowDTypes``."""


def replay(flow: Flow, report: Report, framework: str = "") -> dict[Source, Slot]:
    """Ask the policies of a report about a recorded run, and fill it.

    Parameters
    ----------
    flow : Flow
    report : Report
    framework : str
        The framework of a program that was recorded.

    Returns
    -------
    dict
        From each result to what its type slot bears then, after the last pass.
    """
    asked = _Replay(flow, report, framework)
    asked.run()
    return {source: [*states][-1] for source, states in asked.states.items()}


class _Passes:
    """Stands in the place of ``Passes``: nothing is passed again."""

    def count(self, said: object, note: Callable[[], Divergence]) -> tuple[Divergence, bool]:
        return note(), True

    def tally(self, said: object = None, report: object = None) -> None:
        return None


class _Observer(ShadowObserver):
    """Asks about the operation in hand, which stands where it was recorded."""

    operation: RecordedOperation

    def _note(self, *said: Any, **event: Any) -> Divergence:
        place = super()._note(*said, **event)
        place.count = max(place.count - 1, 0) + self.operation.count
        return place

    def _detail(self) -> tuple[int, tuple[str, ...]]:
        return self.operation.place.part, self.operation.place.names


class _Replay:
    def __init__(self, flow: Flow, report: Report, framework: str) -> None:
        self._flow, self._report = flow, report
        self._observer = _Observer(report, framework)
        self._observer._passes = _Passes()  # type: ignore[assignment]
        self._observer._asked.passes = _Passes()  # type: ignore[assignment]
        self.states: dict[Source, dict[Slot, None]] = {}
        self._done: dict[int, set[tuple[Slot, ...]]] = {}
        self._readers: dict[int, set[int]] = {}
        for number, each in enumerate(flow.operations):
            for found in each.sources:
                for made, _ in found:
                    self._readers.setdefault(made, set()).add(number)

    def run(self) -> None:
        """Ask about each operation until no new state comes up."""
        self._operations = self._report.operations
        waiting = deque(range(len(self._flow.operations)))
        queued = set(waiting)
        while waiting:
            number = waiting.popleft()
            queued.discard(number)
            if self._ask(number):
                made = self._flow.operations[number].makes
                later = sorted(self._readers.get(made, set()) - queued)
                waiting += later
                queued |= {*later}
        counted = (each for each in self._flow.operations if each.kind in COMPARED)
        report, names = self._report, {policy.name for policy in self._report.policies}
        report.operations = self._operations + sum(each.count for each in counted)
        report.finals = report.finals or final_dtypes(self._finals(), report.policies)
        for change in self._flow.values:
            if (left := change.of(names)) is not None:
                report.record_values(left)

    def _finals(self) -> dict[str, Any]:
        """The program's globals, each with the last state that came up."""
        found = {}
        for name, source in self._flow.finals.items():
            *_, slot = self.states.get(source) or (None,)
            if slot is not None:
                found[name] = abstract_arrays_of(self._report.run).of(slot, 1)
        return found

    def _ask(self, number: int) -> bool:
        """Ask about an operation on new states of its operands; answer whether it has new ones."""
        operation, new = self._flow.operations[number], False
        done = self._done.setdefault(number, set())
        for count, slots in enumerate(self._combined(operation)):
            if count == MOST:
                self._leave_open(operation)
                break
            if slots in done:
                continue
            done.add(slots)
            for which, slot in enumerate(self._told(operation, slots)):
                states = self.states.setdefault((operation.makes, which), {})
                new |= slot not in states
                states[slot] = None
        return new

    def _leave_open(self, operation: RecordedOperation) -> None:
        """Note that policies are not asked about more combinations of what came before."""
        why = f"policies are asked about the first {MOST} combinations of earlier answers"
        for policy in self._report.policies:
            if policy is not self._report.run:
                left = Unanswered(operation.name, why, operation.place.program, policy.name)
                self._report.unanswered[left] += 1

    def _combined(self, operation: RecordedOperation) -> Iterator[tuple[Slot, ...]]:
        """Yield the slots that operands may bear, as far as those are known; None of a scalar."""
        each: list[list[Slot]] = []
        for given, sources in zip(operation.operands, operation.sources, strict=True):
            own = BY_CODE[given.code] if given.code else None
            found = [s for source in sorted(sources) for s in self.states.get(source, ())]
            each.append(list(dict.fromkeys(found)) if sources else [own])
        return product(*each)

    def _told(self, operation: RecordedOperation, slots: tuple[Slot, ...]) -> list[Slot]:
        """Tell of an operation; return what its results bear then."""
        place, observer = operation.place, self._observer
        observer.operation, observer.edited = operation, place.edited
        observer.part_of = place.part_of
        run = self._report.run
        home = run if operation.policy == run.name else as_policy(operation.policy)
        abstract = abstract_arrays_of(home)
        ndim = 0 if operation.flat else 1
        made = [abstract.of(dtype, ndim) for dtype in operation.dtypes()]
        operands = tuple(
            _operand(abstract, given, slot)
            for given, slot in zip(operation.operands, slots, strict=True)
        )
        with notify_lock, recorded_at(place.site, place.program):
            _TELL[operation.kind](observer, operation, home, operands, made)
        return [x._type for x in made]


def _operand(abstract: type[AbstractArray], given: Given, slot: Slot) -> Any:
    if not given.code:
        return given.value
    if not given.flat:
        return abstract.of(slot, 1)
    known = given.value is not None
    value = given.value if known else UNKNOWN[BY_CODE[given.code].kind]
    return abstract.of_value(slot, value, known)


def _operation(
    observer: ShadowObserver, operation: RecordedOperation, home: Any, operands: Any, made: Any
) -> None:
    seen = tuple(operand_of(x, home) for x in operands)
    asked = operation.name, seen, operands, operation.form
    decided = home.decide(*asked, options=operation.options)
    results = operation.dtypes()
    if isinstance(decided, Refusal):
        plan, values = Plan(tuple(home.strong(o.type) for o in seen), None, results[0]), operands
    else:
        plan, values = decided.plan, decided.values
    plan = plan._replace(result=results[0], extra_results=results[1:])
    event = OperationEvent(
        operation.name, home, operands, seen, plan, values, made[0], tuple(made[1:]),
        operation.options, operation.form,
    )  # fmt: skip
    observer.on_operation(event)


def _default(observer: ShadowObserver, operation: Any, home: Any, operands: Any, made: Any) -> None:
    weak, lone = BY_CODE[operation.options["weak"]], operation.options["lone"]
    observer.default(weak, made[0], lone, operation.options["function"])


def _assignment(
    observer: ShadowObserver, operation: Any, home: Any, operands: Any, made: Any
) -> None:
    target, value = operands
    source = WEAK[type(value)] if type(value) in WEAK else BY_CODE[operation.operands[1].code]
    dtype = BY_CODE[operation.operands[0].code]
    observer.assign(SetitemEvent(home, target, value, source, dtype))


def _cast(observer: ShadowObserver, operation: Any, home: Any, operands: Any, made: Any) -> None:
    source, target = BY_CODE[operation.operands[0].code], operation.dtypes()[0]
    observer.on_cast(CastEvent(home, operands[0], made[0], source, target))


def _made(observer: ShadowObserver, operation: Any, home: Any, operands: Any, made: Any) -> None:
    observer.on_made(MadeEvent(home, made[0], None))


def _entry(observer: ShadowObserver, operation: Any, home: Any, operands: Any, made: Any) -> None:
    given, source = operation.options["operands"], BY_CODE[operation.options["source"]]
    indices = None if given is None else tuple(given)
    data = (None,) * operation.options["data"]
    observer._asked.entered(EntryEvent(home, made[0], source, data, indices))


def _call(observer: ShadowObserver, operation: Any, home: Any, operands: Any, made: Any) -> None:
    options = operation.options
    given = () if options["ruled"] else operands
    observer.on_call(operation.name, home, given, options["keywords"])


_TELL = {
    OPERATION: _operation,
    DEFAULT: _default,
    ASSIGNMENT: _assignment,
    CAST: _cast,
    ENTRY: _entry,
    MADE: _made,
    CALL: _call,
}
