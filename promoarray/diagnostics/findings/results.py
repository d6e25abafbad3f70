"""Results of a shadow run, as data: what reports are made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeVar

from promoarray.core.escape import Escape
from promoarray.diagnostics.model.divergence import Divergence, Operations, settled
from promoarray.diagnostics.model.final import FinalDType
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.model.noted import Call, Decided, Refused, Stopped, Unanswered
from promoarray.diagnostics.model.values import ValueChange, ValueChanges
from promoarray.promotion.policy import Policy

T = TypeVar("T")

MAX_SITES = 10_000
"""So many places are kept, unless somebody asks for another number: some 20 MiB."""


@dataclass(eq=False, repr=False)
class Results:
    """The places at which policies differ, and what else a report counts.

    Attributes
    ----------
    run : Policy
        The policy the program ran under.
    policies : tuple of Policy
        The policies it was compared with.
    operations : int
        How many operations were compared.
    escapes : Counter
        What left the policy, so that no policy was asked about it any more, and how often.
    signatures : Counter
        The calls that a framework's own function does not take, and how often.
    decisions : Counter
        The places that the run's dtype decides, where other policies have another.
    value_changes : ValueChanges
        The casts whose values differ by policy; iterate over its places.
    inherited : bool
        Whether printing shows the places that only inherit, too.
    refused : Refused or None
        The operation that the run refused last.
    stopped : Stopped or None
        What stopped the program; of ``promoarray compare``.
    finals : tuple of FinalDType
        The program's globals at its end whose dtype differs; of ``promoarray compare``.
    max_sites : int
        At most so many places are kept, of all sorts together.
    max_sites_reached : bool
        Whether places were left out for it.
    uncomputed : int
        Casts of lazy arrays by rules that differ: values are not computed to compare them.
    assumed : set of str
        Policies whose answer hung on the value of a lazy 0-d array, which was not computed either.
    script : str
        The file that the program was started as, if that is known; what is said of the lines of
        others names them.
    agreed : Operations
        The operations at which all policies agree.
    unanswered : Counter
        The calls of which policies of other frameworks were not asked.
    flows : list of Flow
        The operations of the processes of a recorded run, of which policies are asked when somebody
        reads the report.
    """

    run: Policy
    policies: tuple[Policy, ...]
    operations: int = 0
    _found: dict[tuple[object, ...], Divergence] = field(default_factory=dict)
    escapes: Counter[Escape] = field(default_factory=Counter)
    signatures: Counter[Call] = field(default_factory=Counter)
    decisions: Counter[Decided] = field(default_factory=Counter)
    value_changes: ValueChanges = field(default_factory=ValueChanges)
    inherited: bool = False
    refused: Refused | None = None
    stopped: Stopped | None = None
    finals: tuple[FinalDType, ...] = ()
    max_sites: int = MAX_SITES
    max_sites_reached: bool = False
    uncomputed: int = 0
    assumed: set[str] = field(default_factory=set)
    script: str = ""
    agreed: Operations = field(default_factory=Operations)
    unanswered: Counter[Unanswered] = field(default_factory=Counter)
    flows: list[Flow] = field(default_factory=list)
    _planned: tuple[Any, Any] = None, None

    def record(self, divergence: Divergence) -> Divergence:
        """Add a place, or count it once more; return what is kept of it."""
        key = divergence.key
        known = self._found.get(key)
        if known is not None:
            known.add(divergence)
            return known
        if self._has_room():
            self._found[key] = divergence
        return divergence

    def count(self, counts: Counter[T], what: T, times: int = 1) -> None:
        """Count something in ``escapes``, ``signatures`` or ``decisions``."""
        if what in counts or self._has_room():
            counts[what] += times

    def record_values(self, change: ValueChange) -> None:
        """Add a place at which the values of a cast differ, or what differs in one more pass."""
        if change.place in self.value_changes.found or self._has_room():
            self.value_changes.add(change)

    def _has_room(self) -> bool:
        """Whether one more place can be kept."""
        room = self.places < self.max_sites
        self.max_sites_reached |= not room
        return room

    def merge(self, other: Results) -> None:
        """Add what another run of the same program, or a process of it, has found."""
        self.operations += other.operations
        self.max_sites_reached |= other.max_sites_reached
        self.uncomputed += other.uncomputed
        self.assumed |= other.assumed
        self.flows += other.flows
        for divergence in other._found.values():
            self.record(divergence)
        self.agreed.merge(other.agreed)
        self.unanswered.update(other.unanswered)
        for change in other.value_changes.found.values():
            self.record_values(change)
        for name in ("escapes", "signatures", "decisions"):
            for what, times in vars(other)[name].items():
                self.count(getattr(self, name), what, times)
        self.stopped = self.stopped or other.stopped
        self.finals = self.finals or other.finals

    @property
    def places(self) -> int:
        """How many places of any sort were found."""
        counted = len(self.escapes) + len(self.signatures) + len(self.decisions)
        return len(self._found) + len(self.value_changes) + counted

    @property
    def size(self) -> int:
        """How much was found, which grows with what is new."""
        return self.places

    @property
    def divergences(self) -> list[Divergence]:
        """The places, by file and line of the program; in a line as they were passed first."""
        from promoarray.diagnostics.edits.occurrences import occurrences
        from promoarray.diagnostics.edits.planner import planned

        key = len(self._found), len(self.agreed.found), self.operations
        if self._planned[0] != key:
            self._planned = key, planned(self.run, self.policies, occurrences(self))
        return self.edited(self._planned[1])

    def edited(self, planned: Any) -> list[Divergence]:
        """Return the places with edits, and no answers that hang on refusals without one."""
        from promoarray.diagnostics.edits.planner import with_edits

        found = dict(self._found)  # to which other threads may add meanwhile
        places = sorted(found.values(), key=lambda d: d.line)
        return settled(with_edits(places, planned))

    @property
    def found(self) -> list[Divergence]:
        """The places as they were recorded, whatever hangs on refusals without an edit."""
        return list(self._found.values())

    @property
    def partings(self) -> list[Divergence]:
        """The former name of ``divergences``."""
        return self.divergences

    @property
    def roots(self) -> list[Divergence]:
        """The places at which a policy differs for the first time."""
        return [d for d in self.divergences if d.root]

    def __getstate__(self) -> dict[str, Any]:
        # Keys are as long as the places, which have them.
        return vars(self) | {"_found": [*self._found.values()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"_found": {each.key: each for each in state["_found"]}})
