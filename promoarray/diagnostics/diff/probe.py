"""The program's side of ``promoarray diff``: what a shadow run does not keep.

A shadow run tells which dtypes change and which casts have other values. Besides, while the
operands are at hand, this carries out again what a policy computes in another way, to find other
bits of the same dtype, and hears what the run itself refuses.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.array_base import Array, type_of
from promoarray.core.call_site import Site, sites
from promoarray.core.events import OperationEvent, RefusalEvent, SetitemEvent
from promoarray.diagnostics.ask.operations import key_of
from promoarray.diagnostics.ask.refusals import refused_of
from promoarray.diagnostics.diff.reasons import NO_REASONS, Reasons, reasons_of, reasons_of_event
from promoarray.diagnostics.diff.recompute import (
    as_it_was,
    decided_on_the_same,
    may_differ,
    recomputed,
)
from promoarray.diagnostics.model.values import differs
from promoarray.diagnostics.run.probe import Probe
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.plan import Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


class At(NamedTuple):
    """A place of the program, and what is computed there of which dtypes."""

    site: Site
    program: Site
    operation: str
    form: Form
    operands: tuple[str, ...]


@dataclass(slots=True)
class OtherBits:
    """A place whose results have the same dtype and other values.

    Attributes
    ----------
    at : At
    dtype : str
        Of the result.
    reasons : Reasons
    size, elements, passes : int
        How many elements were computed there, how many of them differ, and in how many passes.
    index : tuple of int
        Where the first of them is.
    before, after : str
        The first of them, under each policy.
    """

    at: At
    dtype: str
    reasons: Reasons
    index: tuple[int, ...]
    before: str
    after: str
    size: int = 0
    elements: int = 0
    passes: int = 0


@dataclass(slots=True)
class Refused:
    """What one of the policies refuses.

    Attributes
    ----------
    at : At
    reason : str
        Why.
    reasons : Reasons
    before, after : str or None
        The dtypes that the run's policy and the other have; None of one that refuses.
    count : int
    """

    at: At
    reason: str
    reasons: Reasons
    before: str | None
    after: str | None
    count: int = 0


@dataclass
class Noted:
    """What the probe has found.

    Attributes
    ----------
    other_bits, refused : dict
        From a place to what was found there.
    """

    other_bits: dict[At, OtherBits] = field(default_factory=dict)
    refused: dict[At, Refused] = field(default_factory=dict)


MOST_KNOWN = 1 << 14
"""So many are remembered."""


@dataclass(eq=False)
class Changes(Probe):
    """Notes what changes at each place of a program under another policy.

    Attributes
    ----------
    after : str
        The other policy's name.
    """

    after: str
    _noted: Noted = field(default_factory=Noted)
    _known: dict[Hashable, bool] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with nothing noted."""
        self._noted, self._known = Noted(), {}
        self._policy = as_policy(self.after)
        self._overwritten: dict[int, tuple[Array, Array]] = {}

    def ended(self, names: dict[str, Any]) -> Noted:
        """Return what was noted."""
        return self._noted

    def on_operation(self, event: OperationEvent) -> None:
        """Note whether the values differ."""
        key = key_of(event, self._by_value(event.policy))
        again = self._known.get(key)
        if again is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            again = self._known[key] = self._computes_otherwise(event)
        if again:
            self._compare(event)

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
        mine, other = place.answers[event.policy.name], place.answers.get(self.after)
        if other is None or other.dtype is None:
            return
        at = At(place.site, place.program, place.name, place.form, place.operands)
        if at not in self._noted.refused:
            why = NO_REASONS
            if event.name in OPERATIONS:
                asked = event.name, event.form, event.operands
                why = reasons_of(*asked, event.policy, self._policy)
            self._noted.refused[at] = Refused(at, mine.reason, why, None, other.dtype.name)
        self._noted.refused[at].count += 1

    def _by_value(self, run: Policy) -> bool:
        return run.by_value is not None or self._policy.by_value is not None

    def _computes_otherwise(self, event: OperationEvent) -> bool:
        """Whether the other policy gives the same dtype, and may have other bits."""
        decision = decided_on_the_same(self._policy, event)
        if isinstance(decision, Refusal):
            return False
        run = tuple(map(event.policy.strong, (event.plan.result, *event.plan.extra_results)))
        made = (decision.plan.result, *decision.plan.extra_results)
        if tuple(map(self._policy.strong, made)) != run or dt.string in run:
            return False
        return may_differ(self._policy, decision, event)

    def _compare(self, event: OperationEvent) -> None:
        """Compute it again, and note the elements that differ."""
        given = self._as_it_was(event)
        if given is None:
            return
        decision = decided_on_the_same(self._policy, given)  # of this pass's own scalars
        if isinstance(decision, Refusal):
            return
        try:
            others = recomputed(self._policy, decision, given)
        except Exception as error:  # as of integers divided by zero
            self._note_raised(event, f"{type(error).__name__}: {error}")
            return
        for mine, other in zip((event.result, *event.extra_results), others, strict=True):
            if mine.shape != other.shape:
                continue
            differ = differs(mine._decoded(), other._decoded())
            if not differ.any():
                continue
            at = _at(event)
            found = self._noted.other_bits.get(at)
            if found is None:
                index = tuple(map(int, np.unravel_index(int(np.argmax(differ)), differ.shape)))
                before, after = (str(x._decoded()[index].item()) for x in (mine, other))
                why = reasons_of_event(event, self._policy)
                found = OtherBits(at, mine.dtype.name, why, index, before, after)
                self._noted.other_bits[at] = found
            found.size += mine.size
            found.elements += int(np.count_nonzero(differ))
            found.passes += 1

    def _note_raised(self, event: OperationEvent, error: str) -> None:
        """Note an operation that the other policy has for these dtypes, and not for the values."""
        at, before = _at(event), event.policy.strong(event.plan.result).name
        why = reasons_of_event(event, self._policy)
        self._noted.refused.setdefault(at, Refused(at, error, why, before, None)).count += 1

    def _as_it_was(self, event: OperationEvent) -> OperationEvent | None:
        """An operation with the operands it had; None where they are not known any more."""
        if not event.inplace or event.result is not event.operands[0]:
            return event
        target, kept = self._overwritten.pop(threading.get_ident(), (None, None))
        if kept is None or target is not event.operands[0]:
            return None
        return as_it_was(event, target, kept)


def _at(event: OperationEvent) -> At:
    return At(*sites(), event.name, event.form, tuple(map(str, event.seen)))
