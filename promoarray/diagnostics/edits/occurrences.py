"""Occurrences for the planner of edits: every pass of a run, with what each policy answers."""

from __future__ import annotations

import linecache
import os
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple, Protocol

from promoarray.core import host
from promoarray.core.call_site import Site
from promoarray.core.cast import scalar
from promoarray.core.events import OperationEvent, SetitemEvent
from promoarray.core.operands import operand_of
from promoarray.core.refusals import cast_refusal
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.model.divergence import DefaultMade, Divergence, Entered, Operations
from promoarray.diagnostics.model.slots import adopted, as_given, as_seen_by, not_stored
from promoarray.diagnostics.model.values import ValueChange, ValueChanges
from promoarray.dtypes import BY_NAME, INTEGERS, WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import bounds

DEFAULT_DTYPE, SETITEM, ASTYPE, ENTRY = "default dtype", "setitem", "astype", "entry"
"""What is recorded besides operations."""


class Span(NamedTuple):
    """From where to where in a file an expression goes; columns are in bytes, as Python counts."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    stores: bool = False  # an assignment to an element, of which this is the target
    part: int = 0  # which comparison of a chain, or of a copy of it that Python has made


def span_of(site: Site, part: int = 0) -> Span:
    """Return the expression at a place, or its line where the code does not say more."""
    named = site.file.startswith("<") or site.file in linecache.cache  # as a notebook's cells are
    file = site.file if named else os.path.join(os.getcwd(), site.file)
    line, column, end_line, end = site.extent or (site.line, -1, -1, -1)
    return Span(file, line, column, end_line, end, site.stores, part)


class Asked(NamedTuple):
    """An operation of the run, without its data."""

    name: str
    form: Form
    operands: tuple[Operand, ...]  # as the run had them; scalars and 0-d arrays with their values
    inputs: tuple[DType, ...]  # what the run made of them
    wanted: DType  # what the run answered
    lacking: str = ""  # the run's policy, if it computed what its framework has no kernel for
    # the arrays that policies hold weakly which do so, and the run does not
    weak: tuple[int, ...] = ()

    @property
    def scalars(self) -> tuple[int, ...]:
        """The operands that are Python scalars, which become arrays where they are cast."""
        return tuple(i for i, o in enumerate(self.operands) if o.rank is Rank.SCALAR)


DTYPE, REFUSED, VALUES, HELD_WEAKLY, COMPUTED = "dtype", "refused", "values", "weak", "computed"
"""How a policy differs at an operation."""

SAME = (HELD_WEAKLY, COMPUTED)
"""The dtype is the same: the policy holds the array weakly, which the run does not; or it computes
with other numbers, or by another kernel."""


class Differs(NamedTuple):
    """What a policy does otherwise at an operation."""

    how: str
    dtype: DType | None = None  # what it answers; None where it refuses
    words: str = ""  # why it refuses; how many values of an explicit cast are others


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An operation at a place of the program, on operands of some dtypes."""

    span: Span
    asked: Asked
    # from the policies that do something else here to what
    others: dict[str, Differs] = field(default_factory=dict)
    # the dtypes by way of which an explicit cast gives the same values under all policies
    routes: tuple[DType, ...] = ()
    wrapped: tuple[int, ...] = ()  # the Python scalars that the run made another number of
    names: tuple[str, ...] = ()  # the names by which the namespace is known there
    inside: bool = False  # whether the operation is one of a library, which the program called here
    framework: str = ""  # that of a program that was recorded; "" of promoarray's own
    # whether its operands are those of the call there, so that they can be cast in the
    # source
    edited: bool = True
    # whether an operand is another library's, which policies take in otherwise
    foreign: bool = False
    # the operands that the framework narrows as they come in; none where it makes an array
    entering: tuple[int, ...] = ()

    @property
    def place(self) -> tuple[Span, str]:
        """What the passes through one operation of the source have in common."""
        return self.span, self.asked.name


def fits(operand: Operand, to: DType) -> bool:
    """Whether an array of a dtype can be made of a Python number, of which a float is cut."""
    value = operand.value
    if operand.rank is not Rank.SCALAR or to.weak or to.kind not in INTEGERS:
        return True
    if type(value) is not int and not (type(value) is float and isfinite(value)):
        return True
    low, high = bounds(to)
    return low <= int(value) <= high


def grouped(occurrences: Iterable[Occurrence]) -> Iterator[list[Occurrence]]:
    """Yield the passes through each operation of the source."""
    found: dict[tuple[Span, str], list[Occurrence]] = {}
    for each in occurrences:
        found.setdefault(each.place, []).append(each)
    yield from found.values()


_BY_VALUE = as_policy("numpy@1")
"""A policy that looks at the values of scalars and of 0-d arrays."""


class Recorded(Protocol):
    """The part of a report that edits are planned from (``results.Results``)."""

    run: Policy
    policies: tuple[Policy, ...]
    value_changes: ValueChanges
    agreed: Operations

    @property
    def found(self) -> list[Divergence]:
        """The places as they were recorded."""


def occurrences(
    report: Recorded, policies: tuple[Policy, ...] = (), wanted: Policy | None = None
) -> list[Occurrence]:
    """Return the operations of a run, each with what the policies answer for the run's operands:
    all that were compared, unless some are named. ``wanted`` is the policy whose dtypes the program
    shall keep, if that is not the run's."""
    asked = policies or report.policies
    run = wanted or report.run
    others = tuple(p for p in asked if p is not run)
    return [*_Occurrences(report, run, others, ported=wanted is not None).all()]


@dataclass
class _Occurrences:
    report: Recorded
    run: Policy
    policies: tuple[Policy, ...]
    ported: bool = False

    def all(self) -> Iterator[Occurrence]:
        """Yield them, those that are alike once."""
        changes = {
            (c.place.site, c.place.source, c.place.target): c
            for c in self.report.value_changes
            if c.place.operation == ASTYPE
        }
        known: set[Hashable] = set()
        for place in (*self.report.found, *self.report.agreed.found.values()):
            own = place.framework or next(iter(place.answers)) == self.run.name
            if self.ported and not own:  # which has a policy of its own, whatever the program's
                continue
            for each in self._of(place, changes):
                if (each.span, each.asked) not in known:
                    known.add((each.span, each.asked))
                    yield each

    def _of(self, place: Divergence, changes: dict[Any, ValueChange]) -> Iterator[Occurrence]:
        if isinstance(place.event, DefaultMade):
            yield self._default(place, place.event)
        elif isinstance(place.event, SetitemEvent):
            yield self._stored(place, place.event)
        elif isinstance(place.event, Entered):
            yield self._entered(place, place.event)
        elif place.name == ASTYPE and {*place.operands} <= {*BY_NAME}:
            yield self._cast(place, changes.get((place.site, *place.operands)))
        for event in (place.event, *place.passes):
            if isinstance(event, OperationEvent):
                # A 0-d array whose value is not known may have any.
                known = all(
                    x._buffer.ndim or x.has_value
                    for x in event.operands
                    if isinstance(x, AbstractArray)
                )
                every = (False,) if known else (False, True)
                for assumed in every:
                    found = self._operation(place, event, assumed=assumed)
                    if found is not None:
                        yield found

    def _occurrence(self, place: Divergence, asked: Asked, **more: Any) -> Occurrence:
        """What was recorded at a place."""
        more |= {"names": place.names, "inside": place.site != place.program}
        more |= {"framework": place.framework.partition(" ")[0], "edited": place.edited}
        return Occurrence(span_of(place.program, place.part), asked, **more)

    # -- kinds of operations ----------------------------------------------------------------------

    def _operation(
        self, place: Divergence, event: OperationEvent, *, assumed: bool = False
    ) -> Occurrence | None:
        """One operation; None where the policy whose dtypes are kept refuses it.

        Values that are not known are those that the report ``assumed``, or of the whole range.
        """
        run, given = self.run, event.operands
        alone = assumed or all(type(x) in WEAK or not x._buffer.ndim for x in given)
        operands = tuple(self._operand(x, alone=alone) for x in given)
        done = event.policy.name == run.name
        weak = () if run.weak_arrays else self._weak(given)
        mine = _decided(run, event, operands)
        lacking = ""
        if done and isinstance(mine, Refusal):  # what the run has done all the same
            lacking, mine = run.name, _decided(run, event, operands, kernels=False)
        if isinstance(mine, Refusal):
            return None
        plan = event.plan if done else mine.plan  # which the policy may not know
        results = _results(run, plan)
        others: dict[str, Differs] = {}
        if not self._stays(event, operands, results[0]):
            weakly = Differs(HELD_WEAKLY, results[0])
            others = {policy.name: weakly for policy in self.policies}
        for policy in self.policies:
            theirs = _decided(policy, event, operands, weak=weak)
            if isinstance(theirs, Refusal):
                others[policy.name] = Differs(REFUSED, None, theirs.reason)
            elif (made := _results(policy, theirs.plan)) != results:
                others[policy.name] = Differs(DTYPE, made[0])
            elif not place.framework:
                own = _computation(run, event, plan, mine.values)
                if own != _computation(policy, event, theirs.plan, theirs.values):
                    others[policy.name] = Differs(COMPUTED, results[0])
        pairs = enumerate(zip(given, mine.values, strict=True))
        return self._occurrence(
            place,
            Asked(event.name, event.form, operands, plan.inputs, results[0], lacking, weak),
            others=others,
            foreign=bool(event.given),
            wrapped=tuple(i for i, (x, y) in pairs if type(x) is int is type(y) and x != y),
        )

    def _stays(self, event: OperationEvent, operands: tuple[Operand, ...], made: DType) -> bool:
        """Whether the run answers the same where an array that it holds weakly is cast."""
        if not any(o.rank is not Rank.SCALAR and o.type.weak for o in event.seen):
            return True
        held = self.run.plan(event.name, operands, event.form)
        return isinstance(held, Plan) and self.run.strong(held.result) is made

    def _weak(self, given: tuple[Any, ...]) -> tuple[int, ...]:
        """The arrays that some policy holds weakly."""
        holding = [policy for policy in self.policies if policy.weak_arrays]
        return tuple(
            i
            for i, x in enumerate(given)
            if type(x) not in WEAK and any(as_seen_by(p, x).type.weak for p in holding)
        )

    def _default(self, place: Divergence, made: DefaultMade) -> Occurrence:
        """An array of Python numbers with no dtype named."""
        mine = place.answers.get(self.run.name)
        weak, wanted = made.weak, (mine and mine.dtype) or made.dtype(self.run)
        stays = made.lone and weak.code != "b*" and not self.run.weak_arrays
        others = {}
        for policy in self.policies:
            if (dtype := made.dtype(policy)) is not wanted:
                others[policy.name] = Differs(DTYPE, dtype)
            elif stays and policy.weak_arrays:
                others[policy.name] = Differs(HELD_WEAKLY, wanted)
        return self._occurrence(
            place,
            Asked(DEFAULT_DTYPE, Form.FUNCTION, (Operand(weak, Rank.SCALAR),), (wanted,), wanted),
            others=others,
        )

    def _cast(self, place: Divergence, change: ValueChange | None) -> Occurrence:
        """An explicit cast, and by which ways its values are the same everywhere."""
        source, target = (BY_NAME[name] for name in place.operands)
        refusals = {p.name: cast_refusal(p, p.strong(source), target) for p in self.policies}
        values = change.by_policy(refusals) if change else {}
        others = {name: Differs(VALUES, target, words) for name, words in values.items()}
        others |= {n: Differs(REFUSED, None, why) for n, why in refusals.items() if why}
        return self._occurrence(
            place,
            Asked(ASTYPE, Form.FUNCTION, (Operand(source), Operand(target)), (source,), target),
            others=others,
            routes=change.routes if change and values else (),
        )

    def _stored(self, place: Divergence, event: SetitemEvent) -> Occurrence:
        """A value written into an array."""
        _, target, value, _, dtype, _ = event
        operands = self._operand(target), self._operand(value)
        reasons = {}
        for policy in self.policies:
            seen = as_given(policy, target), as_given(policy, value)
            if why := not_stored(policy, seen, value):
                reasons[policy.name] = why
        return self._occurrence(
            place,
            Asked(SETITEM, Form.INPLACE, operands, (dtype, dtype), dtype),
            others={name: Differs(REFUSED, None, why) for name, why in reasons.items()},
            wrapped=() if fits(operands[1], dtype) else (1,),
        )

    def _entered(self, place: Divergence, event: Entered) -> Occurrence:
        """Data that the framework narrows as they come in."""
        source, target, operands = event
        answers = [(p.name, place.answers[p.name].dtype) for p in self.policies]
        return self._occurrence(
            place,
            Asked(ENTRY, Form.FUNCTION, (Operand(source),), (target,), target),
            others={name: Differs(DTYPE, to) for name, to in answers if to is not target},
            entering=operands,
        )

    # -- parts ------------------------------------------------------------------------------------

    def _operand(self, x: Any, *, alone: bool = False) -> Operand:
        """An operand, of arrays with the dtype that they have under the policy to keep.

        Where 0-d arrays are ``alone``, their values are not recorded, as none matters.
        """
        operand = operand_of(x, _BY_VALUE)
        if operand.rank is Rank.SCALAR:
            return operand
        known = operand.rank is Rank.ZERO_D and isinstance(x, AbstractArray) and x.has_value
        dtype = self.run.strong(as_seen_by(self.run, x).type)
        return Operand(dtype, operand.rank, operand.value if known or alone else None)


def _decided(
    policy: Policy,
    event: OperationEvent,
    operands: tuple[Operand, ...],
    *,
    kernels: bool = True,
    weak: tuple[int, ...] = (),
) -> Any:
    """What a policy does with the operands, of which it holds some weakly if it holds arrays so."""
    held = weak if policy.weak_arrays else ()
    seen = tuple(adopted(policy, o, weak=i in held) for i, o in enumerate(operands))
    decide = policy.carried_out if kernels else policy.decide
    return decide(event.name, seen, event.operands, event.form, options=event.options)


def _results(policy: Policy, plan: Plan) -> tuple[DType, ...]:
    return tuple(map(policy.strong, (plan.result, *plan.extra_results)))


def _computation(
    policy: Policy, event: OperationEvent, plan: Plan, values: tuple[Any, ...]
) -> Hashable:
    """The dtypes and numbers that a policy computes with, and its kernel."""
    inputs = tuple(
        repr(host.decoded(scalar(policy, value, dtype), dtype)) if type(x) in WEAK else dtype
        for x, value, dtype in zip(event.operands, values, plan.inputs, strict=True)
    )
    return inputs, plan.decomposition, policy.kernel(event.name, plan)
