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
from promoarray.backends import backend_of
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import Site, sites
from promoarray.core.events import OperationEvent, RefusalEvent, SetitemEvent
from promoarray.core.refusals import spelled
from promoarray.diagnostics.ask.refusals import refused_of
from promoarray.diagnostics.diff.change import OPEN, REFUSES, Change, Values
from promoarray.diagnostics.diff.reasons import reasons_of
from promoarray.diagnostics.diff.recompute import (
    as_it_was,
    decided_on_the_same,
    may_differ,
    recomputed,
)
from promoarray.diagnostics.model.values import differs
from promoarray.diagnostics.run.task import Probe
from promoarray.promotion.plan import Decision, Refusal
from promoarray.promotion.registry import as_policy

_OVERWRITTEN = "values that it read were written over, so it was not carried out again"


@dataclass(eq=False)
class Changes(Probe):
    """Notes what changes at each place of a program under another policy.

    Attributes
    ----------
    after : str
        The other policy's name.
    """

    after: str
    _noted: dict[tuple[object, ...], Change] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with nothing noted."""
        self._noted = {}
        self._policy = as_policy(self.after)
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

    def on_operation(self, event: OperationEvent) -> None:
        """Compute it again if the other policy gives the same dtype and may have other bits."""
        given = self._as_it_was(event)
        decision = decided_on_the_same(self._policy, given or event)
        if isinstance(decision, Refusal) or not self._may_differ(decision, given or event):
            return
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
