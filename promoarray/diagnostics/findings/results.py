"""Results of a shadow run, as data, and the findings in them: what reports are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from promoarray.console import counted, listed
from promoarray.core.call_site import Site
from promoarray.core.escape import Escape
from promoarray.diagnostics.edits.attempt import Mended
from promoarray.diagnostics.edits.occurrences import occurrences
from promoarray.diagnostics.edits.planner import Planned, clip, planned, with_edits
from promoarray.diagnostics.model.divergence import (
    ASKED_DTYPE,
    ENTRY,
    Answer,
    Divergence,
    Operations,
    settled,
)
from promoarray.diagnostics.model.final import FinalDType
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.model.kinds import ROOT, UNKNOWN
from promoarray.diagnostics.model.noted import Call, Decided, NotExamined, Refused, Stopped
from promoarray.diagnostics.model.values import ValueChange, ValueChanges
from promoarray.operations import OPERATIONS, Form
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
    unexamined : Counter
        From each NotExamined that was noted as the program ran to how often it was met.
    unanswered : Counter
        The same of calls of which policies of other frameworks were not asked.
    mended : list of Mended
        Edits of other lines after which policies agree on what a library does.
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
    unexamined: Counter[NotExamined] = field(default_factory=Counter)
    unanswered: Counter[NotExamined] = field(default_factory=Counter)
    mended: list[Mended] = field(default_factory=list)
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

    def refuse(self, refused: Refused) -> None:
        """Note an operation that the run refuses: no policy goes on with a result of it, unless the
        run ends there (``stop``)."""
        self.refused = refused
        self.unexamined[_refusal(refused)] += 1

    def stop(self, stopped: Stopped) -> None:
        """Note what ended the run; a refusal that did is told as that."""
        self.stopped = stopped
        if stopped.refused is not None and stopped.refused is self.refused:
            self.unexamined -= Counter([_refusal(stopped.refused)])

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

    def is_asked(self, policy: str, run: str) -> bool:
        """Whether a policy is asked about what was carried out under another; see
        ``RecordedReport``."""
        return True

    def asked_about(self, policy: str) -> tuple[int, str]:
        """Return how many operations a policy was asked about, and whose they are."""
        return self.operations, "the program"

    def halves_in_words(self) -> str:
        """Say who was not asked about all operations; "" if all were."""
        return ""

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
        self.unexamined.update(other.unexamined)
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
        key = len(self._found), len(self.agreed.found), self.operations
        if self._planned[0] != key:
            self._planned = key, self.plan_edits()
        return self.edited(self._planned[1])

    def plan_edits(self) -> Planned:
        """Plan the edits at each operation at which policies differ."""
        return planned(self.run, self.policies, occurrences(self), flows=self.flows)

    def edited(self, planned: Planned) -> list[Divergence]:
        """Return the places with edits, and no answers that hang on refusals without one."""
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


# -- one finding at a time -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """What one policy makes of one place of a program."""

    kind: str  # one of ``kinds.KINDS``
    root: bool  # whether it does not come of an earlier line; only of a dtype or a refusal
    policy: str  # "" where it is the same under every policy
    place: Site  # the line of the program
    inside: Site | None  # the line of a library, if the operation is one of a library
    what: str  # the operation with its operands' dtypes, in words
    operation: str
    operands: tuple[str, ...]  # their dtypes in the run
    under: str  # the policy of the run
    # the dtype in the run, and under the policy; "" where it is refused, or there is none
    run: str = ""
    answer: str = ""
    reason: str = field(default="", compare=False)  # why, in words
    # the expression as it should be written; "" where that is not known
    edit: str = field(default="", compare=False)
    count: int = field(default=1, compare=False)  # how often it was met
    # whether only the operands differ, because of an earlier line
    inherited: bool = field(default=False, compare=False)
    imports: str = field(default="", compare=False)  # what the file has to import for the edit

    @property
    def names(self) -> frozenset[str]:
        """The names that select it."""
        return frozenset({self.kind, ROOT} if self.root else {self.kind})

    @property
    def source(self) -> str:
        """The text of the program there."""
        return self.place.expression or self.place.text

    @property
    def counts(self) -> bool:
        """Whether it is a finding, and not only said."""
        return self.kind != UNKNOWN and not (self.kind == "dtype" and self.inherited)


def _refusal(refused: Refused) -> NotExamined:
    at = refused.place
    return NotExamined(at.name, "the run refuses it, and goes on", at.site, at.program)


def findings(report: Results) -> list[Finding]:
    """Return the findings of a report, in the order of the source and of its policies."""
    found: dict[Finding, Finding] = {}
    for each in statements(report):
        if each.counts:
            known = found.get(each)
            found[each] = replace(each, count=each.count + known.count) if known else each
    order = {policy.name: n for n, policy in enumerate(report.policies)}

    def place(each: Finding) -> tuple[object, ...]:
        what = each.kind, each.operation, each.operands
        return each.place, each.inside or each.place, *what, order.get(each.policy, -1), each.answer

    return sorted(found.values(), key=place)


def statements(report: Results) -> Iterator[Finding]:
    """Yield all that a report says, what only inherits, too."""
    run = report.run.name
    if report.stopped and report.stopped.refused:
        yield of_refused(report.stopped.refused)
    for divergence in report.divergences:
        yield from of_divergence(divergence)
    for change in report.value_changes:
        yield from of_change(change, run)
    for call, count in sorted([*report.signatures.items()]):
        yield of_call(call, count, run)
    for decided, count in sorted([*report.decisions.items()]):
        yield of_decision(decided, count, run)
    for escape, count in sorted([*report.escapes.items()]):
        if not escape.scalar:
            yield of_escape(escape, count, run)


def of_divergence(divergence: Divergence) -> Iterator[Finding]:
    """Yield what each policy says that gives another dtype, or refuses."""
    under, run = next(iter(divergence.answers.items()))
    outside = divergence.shown_at != divergence.site
    places = _places(divergence.program if outside else divergence.site, divergence.program)
    for name, answer in divergence.answers.items():
        if answer.origin:
            kind = "dtype" if answer.dtype else "refuse"
            kind = UNKNOWN if answer.origin == UNKNOWN else kind
            edit, needed = (answer.fix.text, answer.fix.imports) if answer.fix else ("", "")
            what = spelled(divergence), divergence.name, divergence.operands, under, _name(run)
            said = *places, *what, _name(answer), answer.reason, edit, divergence.count
            root = answer.origin == ROOT
            yield Finding(kind, root, name, *said, inherited=not root, imports=needed)


def _name(answer: Answer) -> str:
    return answer.dtype.name if answer.dtype else ""


def of_refused(refused: Refused) -> Finding:
    """Return the finding of the operation that stopped the run, as its own policy refuses it."""
    place = refused.place
    under, answer = next(iter(place.answers.items()))
    where = *_places(place.site, place.program), spelled(place), place.name, place.operands
    return Finding("refuse", True, under, *where, under, reason=answer.reason, edit=refused.edit)


def of_change(change: ValueChange, run: str) -> Iterator[Finding]:
    """Yield a finding for each policy that makes other values of a cast."""
    site, program, operation, source, target = change.place
    places = _places(site, program)
    edit = clip(change)
    for each in tuple(change.differences.values()):
        at, given, mine, other = each.example
        first = f"{given} at [{', '.join(map(str, at))}]" if at else given
        of = f"{each.elements} of {counted(change.size, 'element')}"
        which = "the first" if each.largest is None else "the one that changes most"
        becomes = f"becomes {other} and not {mine}"
        if given == other:  # it is the run that changes it
            becomes = f"stays, and becomes {mine} in the run"
        reason = f"{of}; {which}, {first}, {becomes}"
        said = *places, change.cast, operation, (source, target), run, "", "", reason, edit
        for name in each.policies:
            yield Finding("bits", False, name, *said, count=change.passes)


def of_escape(escape: Escape, count: int, run: str) -> Finding:
    """Return the finding of an array that left the policy."""
    places = _places(escape.inside, escape.site)
    what = f"{escape.dtype} array by {escape.how}"
    reason = f"to {escape.consumer}" if escape.consumer else "taken by the program itself"
    said = *places, what, escape.channel, (escape.dtype,), run
    return Finding("escape", False, "", *said, reason=reason, count=count)


def of_call(call: Call, count: int, run: str) -> Finding:
    """Return the finding of a call that a framework's own function does not take."""
    said = call.site, None, call.site.expression or call.site.text, "", (), run
    return Finding("signature", False, call.policy, *said, reason=call.reason, count=count)


def of_decision(decided: Decided, count: int, run: str) -> Finding:
    """Return the finding of a place that reads a dtype which a policy has otherwise."""
    places = _places(decided.site, decided.program)
    what = decided.site.expression or decided.site.text
    mine, other = listed(decided.run), listed(decided.other)
    said = *places, what, "dtype", decided.run, run, mine, other, f"the run goes by {mine}"
    return Finding("decision", False, decided.policy, *said, count=count)


def _places(site: Site, program: Site) -> tuple[Site, Site | None]:
    return program, site if site != program else None


# -- a place at which policies differ -------------------------------------------------------------


def spelled(divergence: Divergence) -> str:
    """Write a place's operation with its operands' dtypes, and what it is a step of."""
    inside = f", in {divergence.part_of}" if divergence.part_of else ""
    return _operation(divergence) + inside


def _operation(divergence: Divergence) -> str:
    operands, name = divergence.operands, divergence.name
    if name == "setitem":
        return "{}[...] = {}".format(*operands)
    if name == "getitem":
        return "{}[{}]".format(*operands)
    if name == ASKED_DTYPE:
        return f"dtype={operands[0]}"
    if name == ENTRY:
        return f"{operands[0]} data"
    symbol = OPERATIONS[name].symbol if name in OPERATIONS else ""
    if symbol and len(operands) == 2 and divergence.form is not Form.FUNCTION:
        return f" {symbol}{divergence.form} ".join(operands)
    return f"{name}({', '.join(operands)})"


def edits(divergence: Divergence) -> dict[str, list[str]]:
    """Return the edits of a place, each with the policies that it is for."""
    return edits_in(of_divergence(divergence))


def edits_in(found: Iterable[Finding]) -> dict[str, list[str]]:
    """Return the edits of findings, each with the policies that it is for."""
    policies: dict[str, list[str]] = {}
    for each in found:
        if each.edit and each.policy not in policies.setdefault(each.edit, []):
            policies[each.edit].append(each.policy)
    return policies
