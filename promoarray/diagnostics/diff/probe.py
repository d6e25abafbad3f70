"""The program's side of ``promoarray diff``: what a shadow run does not keep.

A shadow run tells which dtypes change and which casts have other values. Besides, while the
operands are at hand, this carries out again what a policy computes in another way, to find other
bits of the same dtype, and hears what the run itself refuses.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, common_backend
from promoarray.core.array_base import Array, storage_dtype, type_of
from promoarray.core.call_site import Site, sites
from promoarray.core.events import OperationEvent, RefusalEvent, Repeat, Repeats, SetitemEvent
from promoarray.core.executable import among_floats, compiled, is_beyond
from promoarray.core.operands import scalar_buffer
from promoarray.core.refusals import spelled
from promoarray.diagnostics.ask.refusals import refused_of
from promoarray.diagnostics.diff.change import OPEN, REFUSES, Change, Values, reasons_of
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.model.slots import as_given
from promoarray.diagnostics.model.values import differs
from promoarray.diagnostics.run.task import Probe
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.plan import Decision, Plan, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

_OVERWRITTEN = "values that it read were written over, so it was not carried out again"


@dataclass(eq=False)
class Changes(Probe):
    """Notes what changes at each place of a program under another policy."""

    after: str  # the other policy's name
    _noted: dict[tuple[object, ...], Change] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with nothing noted."""
        self._noted = {}
        self._policy = as_policy(self.after)
        self.repeats = Repeats(scalar_class, by_value=True)
        self._overwritten: dict[int, tuple[Array, Array]] = {}

    def ended(self, names: dict[str, Any]) -> list[Change]:
        """Return what was noted."""
        return list(self._noted.values())

    def on_write(self, event: OperationEvent | SetitemEvent) -> None:
        """Keep what an operation in place is about to overwrite."""
        if isinstance(event, SetitemEvent):
            return
        target = event.operands[0]
        copied = backend_of(target._buffer).copy(target._buffer)
        kept = target._wrap(copied, type_of(target._type))
        self._overwritten[threading.get_ident()] = target, kept

    def on_refusal(self, event: RefusalEvent) -> None:
        """Note what the run refuses and the other policy does not."""
        place = refused_of(event, (self._policy,)).place
        other = place.answers.get(self.after)
        if other is not None and other.dtype is not None:
            change = Change.of(place, event, event.policy, self._policy)
            known = self._noted.get(change.place)
            self._noted[change.place] = known.again(change) if known else change

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        """Compute it again if the other policy gives the same dtype and may have other bits; need
        not hear of those that are like one that cannot."""
        given = self._as_it_was(event)
        decision = decided_on_the_same(self._policy, given or event)
        if isinstance(decision, Refusal):
            return None
        if self._may_differ(decision, given or event):
            self._carry_out_again(event, given, decision)
            return None
        # Where numbers become others, alike ones may become others that differ.
        every = zip(event.operands, event.values, decision.values, strict=True)
        as_given = all(type(x) not in WEAK or (x is mine and x is its) for x, mine, its in every)
        types = tuple(x._type for x in (event.result, *event.extra_results))
        return Repeat(types, lambda: False) if as_given else None

    def _carry_out_again(
        self, event: OperationEvent, given: OperationEvent | None, decision: Decision
    ) -> None:
        """Note the values that differ; ``given`` is the operation as it was, if that is known."""
        if given is None:
            self._note(event, Change(OPEN, *_at(event), "", "unknown", refusal=_OVERWRITTEN))
            return
        try:
            others = recomputed(self._policy, decision, given)
        except Exception as error:  # as of integers divided by zero
            made = event.policy.strong(event.plan.result).name
            why = f"{type(error).__name__}: {error}"
            self._note(event, Change("refusal", *_at(event), made, REFUSES, refusal=why))
            return
        for mine, other in zip((event.result, *event.extra_results), others, strict=True):
            if mine.shape == other.shape:
                self._compare(event, mine, other)

    def _may_differ(self, decision: Decision, event: OperationEvent) -> bool:
        plan = decision.plan
        run = [event.policy.strong(t) for t in (event.plan.result, *event.plan.extra_results)]
        made = [self._policy.strong(t) for t in (plan.result, *plan.extra_results)]
        return made == run and dt.string not in run and may_differ(self._policy, decision, event)

    def _compare(self, event: OperationEvent, mine: Array, other: Array) -> None:
        """Note the elements that differ."""
        a, b = mine._decoded(), other._decoded()
        differ = differs(a, b)
        elements = int(np.count_nonzero(differ))
        if elements:
            first = tuple(map(int, np.unravel_index(int(np.argmax(differ)), differ.shape)))
            said = str(a[first].item()), str(b[first].item())
            values = Values(mine.size, elements, first)
            at = _at(event, f": {mine.dtype.name}")
            self._note(event, Change("value", *at, *said, values=values))

    def _note(self, event: OperationEvent, change: Change) -> None:
        known = self._noted.get(change.place)
        if known is None:
            change = replace(change, reasons=reasons_of(event, event.policy, self._policy))
        self._noted[change.place] = known.again(change) if known else change

    def _as_it_was(self, event: OperationEvent) -> OperationEvent | None:
        """An operation with the operands it had; None where they are not known any more."""
        if not event.inplace or event.result is not event.operands[0]:
            return event
        target, kept = self._overwritten.pop(threading.get_ident(), (None, None))
        if kept is None or target is not event.operands[0]:
            return None
        return as_it_was(event, target, kept)


def _at(event: OperationEvent, made: str = "") -> tuple[Site, Site, str, str]:
    """Where an operation stands, its name, and how it is written with dtypes."""
    return *sites(), event.name, spelled(event.name, event.seen, event.form) + made


# -- operations carried out again --------------------------------------------------------------


def decided_on_the_same(policy: Policy, event: OperationEvent) -> Decision | Refusal:
    """What a policy decides on the very operands of the run."""
    seen = tuple(as_given(policy, x) for x in event.operands)
    return policy.decide(event.name, seen, event.operands, event.form, options=event.options)


def may_differ(policy: Policy, decision: Decision, event: OperationEvent) -> bool:
    """Whether a policy carries the operation out in another way, which may have other bits.

    It does if it casts the operands, computes or rounds otherwise than the run's policy.
    """
    own = _way(event.policy, Decision(event.plan, event.values), event)
    return bool(own != _way(policy, decision, event))


def as_it_was(event: OperationEvent, target: Array, before: Array) -> OperationEvent | None:
    """An operation in place with its target as it was; None if that was another operand, too."""
    others = [x for x in event.operands[1:] if type(x) not in WEAK and x is not target]
    own, given = target._buffer, [x._buffer for x in others]
    held = isinstance(own, np.ndarray)
    if held and any(isinstance(x, np.ndarray) and np.may_share_memory(x, own) for x in given):
        return None
    operands, values = (
        tuple(before if x is target else x for x in given)
        for given in (event.operands, event.values)
    )
    return event._replace(operands=operands, values=values)


def recomputed(policy: Policy, decision: Decision, event: OperationEvent) -> tuple[Array, ...]:
    """Compute an operation of the run as a policy has decided it; return all of its results."""
    plan, values, options = _obeyed(decision, event), decision.values, event.options
    arrays = tuple(x if type(x) in WEAK else x._wrap(x._buffer, type_of(x._type)) for x in values)
    backend = common_backend(
        *(None if type(x) in WEAK else x._buffer for x in arrays), *options.values()
    )
    bounds = (options["low"], options["high"]) if "low" in options else ()
    first = as_given(policy, event.operands[0]).type
    executable = compiled(backend, event.name, policy, plan, arrays, first, bounds)
    buffers = (
        scalar_buffer(policy.cast, x, dtype) if type(x) in WEAK else x._buffer
        for x, dtype in zip(arrays, plan.inputs, strict=True)
    )
    with np.errstate(all="ignore"):  # of which the program has not asked
        out = executable.run(*buffers, **options)
    outs = out if plan.extra_results else (out,)
    dtypes = (plan.result, *plan.extra_results)
    return tuple(event.result._wrap(*each) for each in zip(outs, dtypes, strict=True))


def _obeyed(decision: Decision, event: OperationEvent) -> Plan:
    """The plan; of a comparison with an int beyond the dtype that of the numbers themselves."""
    plan, values = decision
    is_far = any(map(is_beyond, event.operands, values, plan.inputs))
    return among_floats(plan) if is_far else plan


def _way(policy: Policy, decision: Decision, event: OperationEvent) -> Any:
    """All that the bits of the results hang on: what is cast how, and which kernel computes."""
    plan, values = _obeyed(decision, event), decision.values
    results = tuple(map(policy.strong, (plan.result, *plan.extra_results)))
    computed = plan.compute or plan.inputs[0]
    held = (dtype if type(x) in WEAK else storage_dtype(x)
            for x, dtype in zip(values, plan.inputs, strict=True))  # fmt: skip
    casts = [(*each, computed) for each in zip(held, plan.inputs, strict=True)]
    casts += [(computed, computed, result) for result in results]
    ways = tuple((_cast(policy, a, b), _cast(policy, b, c)) for a, b, c in casts)
    scalars = tuple(repr(x) for x in values if type(x) in WEAK)
    kernel = policy.kernel(event.name, plan)
    return plan.inputs, plan.compute, results, plan.decomposition, kernel, ways, scalars


def _cast(policy: Policy, source: DType, target: DType) -> Any:
    return None if source is target else policy.cast.plan(source, target)
