"""What a shadow run found, as text, data and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, counted, folded, listed
from promoarray.core.escape import Escape
from promoarray.diagnostics.escape_report import LEGEND, Escapes
from promoarray.diagnostics.model.operations import Operations
from promoarray.diagnostics.model.unknown import settled, settled_finals
from promoarray.diagnostics.shadow.blocks import Block, block_lines, blocks
from promoarray.diagnostics.shadow.decisions import Decided, Decisions
from promoarray.diagnostics.shadow.divergence import Divergence, find_mixed
from promoarray.diagnostics.shadow.final_dtypes import FinalDType
from promoarray.diagnostics.shadow.legend import legend
from promoarray.diagnostics.shadow.page import Overview, report_page
from promoarray.diagnostics.shadow.place import as_data, as_row
from promoarray.diagnostics.shadow.policy_summary import PolicySummary, policy_lines, summary_of
from promoarray.diagnostics.shadow.remarks import (
    Remark,
    of_decisions,
    of_divergence,
    of_escapes,
    of_signatures,
    of_value_changes,
)
from promoarray.diagnostics.shadow.shared_causes import SharedCauses, shared_causes
from promoarray.diagnostics.shadow.signatures import Call, Signatures
from promoarray.diagnostics.shadow.stopped import Refused, Stopped
from promoarray.diagnostics.shadow.value_changes import ValueChange, ValueChanges
from promoarray.pages import prose
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


MAX_SITES = 10_000
"""So many places are kept, unless somebody asks for another number: some 20 MiB."""

_LIMIT = (
    "Places beyond the limit of {} are left out; write --max-sites N, or pa.shadow(max_sites=N), "
    "for another limit."
)
_UNCOMPUTED = (
    "Of {} of lazy arrays the policies may give other values, which were not compared, as that "
    "would compute them; write x.compute() before to compare."
)
_ASSUMED = (
    "{} promotes by the values of lazy 0-d arrays, which are not computed for a report and count "
    "for 1; write x.compute() before to have them."
)


@dataclass(eq=False, repr=False)
class Report(Printable):
    """The places at which policies differ, as text, data and a page.

    Attributes
    ----------
    run : Policy
        The policy the program ran under.
    policies : tuple of Policy
        The policies it was compared with.
    operations : int
        How many operations were compared.
    value_changes : ValueChanges
        The casts whose values differ by policy; iterate over its places.
    refused : Refused or None
        The operation that the run refused last.
    stopped : Stopped or None
        What stopped the program; of ``promoarray compare``.
    finals : tuple of FinalDType
        The program's globals at its end whose dtype differs; of ``promoarray compare``.
    inherited : bool
        Whether printing shows the places that only inherit, too.
    max_sites : int
        At most so many places are kept, of all sorts together.
    max_sites_reached : bool
        Whether places were left out for it.
    uncomputed : int
        Casts of lazy arrays by rules that differ: values are not computed to compare them.
    script : str
        The file that the program was started as, if that is known; what is said of the lines of
        others names them.
    assumed : set of str
        Policies whose answer hung on the value of a lazy 0-d array, which was not computed either.
    agreed : Operations
        The operations at which all policies agree.
    """

    run: Policy
    policies: tuple[Policy, ...]
    operations: int = 0
    _found: dict[tuple[object, ...], Divergence] = field(default_factory=dict)
    _escapes: Escapes = field(default_factory=Escapes)
    _signatures: Signatures = field(default_factory=Signatures)
    _decisions: Decisions = field(default_factory=Decisions)
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

    def record_escape(self, escape: Escape, times: int = 1) -> None:
        """Count data that left the policy."""
        if escape in self.escapes or self._has_room():
            self.escapes[escape] += times

    def record_call(self, call: Call, times: int = 1) -> None:
        """Count a call that a framework's own function does not take."""
        if call in self.signatures or self._has_room():
            self.signatures[call] += times

    def record_decision(self, decided: Decided, times: int = 1) -> None:
        """Add a place that the run's dtype decides, or count it so often more."""
        if decided in self.decisions or self._has_room():
            self.decisions[decided] += times

    def record_values(self, change: ValueChange) -> None:
        """Add a place at which the values of a cast differ, or what differs in one more pass."""
        if change.place in self.value_changes.found or self._has_room():
            self.value_changes.add(change)

    def _has_room(self) -> bool:
        """Whether one more place can be kept."""
        room = self.places < self.max_sites
        self.max_sites_reached |= not room
        return room

    def merge(self, other: Report) -> None:
        """Add what another run of the same program, or a process of it, has found."""
        self.operations += other.operations
        self.max_sites_reached |= other.max_sites_reached
        self.uncomputed += other.uncomputed
        self.assumed |= other.assumed
        for divergence in other._found.values():
            self.record(divergence)
        self.agreed.merge(other.agreed)
        for left, times in other.escapes.items():
            self.record_escape(left, times)
        for call, times in other.signatures.items():
            self.record_call(call, times)
        for change in other.value_changes.found.values():
            self.record_values(change)
        for decided, times in other.decisions.items():
            self.record_decision(decided, times)
        self.stopped = self.stopped or other.stopped
        self.finals = self.finals or other.finals

    def after(self, known: int) -> tuple[Report, list[int]]:
        """Return the report without the first places where policies differ, and their counts."""
        found = self._found.items()
        counts = [place.count for place in islice(self._found.values(), known)]
        return replace(self, _found=dict(islice(found, known, None))), counts

    def follow(self, earlier: Report, counts: list[int]) -> None:
        """Put the first places where policies differ of an earlier report before its own.

        A thread that goes on as the process ends may have written more of them meanwhile.
        """
        found = dict(islice(earlier._found.items(), len(counts)))
        for place, count in zip(found.values(), counts, strict=True):
            place.count = count
        self._found = found | self._found

    def emptied(self) -> Report:
        """Return a report of the same run without any places."""
        bare: dict[str, Any] = {"_found": {}, "_escapes": Escapes(), "_signatures": Signatures()}
        return replace(self, **bare, value_changes=ValueChanges(), _decisions=Decisions())

    @property
    def differing(self) -> int:
        """How many places there are where policies differ."""
        return len(self._found)

    @property
    def places(self) -> int:
        """How many places of any sort were found."""
        others = len(self.escapes) + len(self.signatures) + len(self.value_changes)
        others += len(self.decisions)
        return len(self._found) + others

    def __getstate__(self) -> dict[str, Any]:
        # Keys are as long as the places, which have them.
        return vars(self) | {"_found": [*self._found.values()]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        found = state.pop("_shadow", None)  # in a pickle of 0.1.0
        if found is not None:
            state |= {"operations": found.operations, "_escapes": found.escapes}
            state["_found"] = found.partings
        # What came later, but for what has a default in the class itself.
        new: dict[str, Any] = {"_signatures": Signatures(), "value_changes": ValueChanges()}
        new |= {"_decisions": Decisions(), "assumed": set(), "agreed": Operations()}
        places = state["_found"]
        places = places.values() if isinstance(places, dict) else places  # of former pickles
        self.__dict__.update(new | state | {"_found": {each.key: each for each in places}})

    @property
    def divergences(self) -> list[Divergence]:
        """The places, by file and line of the program; in a line as they were passed first."""
        found = dict(self._found)  # to which other threads may add meanwhile
        find_mixed(found.values())
        return settled(sorted(found.values(), key=lambda d: d.line))

    @property
    def found(self) -> list[Divergence]:
        """The places as they were recorded, whatever hangs on refusals without an edit."""
        return list(self._found.values())

    @property
    def partings(self) -> list[Divergence]:
        """The former name of ``divergences``."""
        return self.divergences

    @property
    def escapes(self) -> Counter[Escape]:
        """What left the policy, so that no policy was asked about it any more, and how often."""
        return self._escapes.counts

    @property
    def signatures(self) -> Counter[Call]:
        """The calls that a framework's own function does not take, and how often."""
        return self._signatures.counts

    @property
    def decisions(self) -> Counter[Decided]:
        """The places that the run's dtype decides, where other policies have another."""
        return self._decisions.counts

    @property
    def roots(self) -> list[Divergence]:
        """The places at which a policy differs for the first time."""
        return [d for d in self.divergences if d.root]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data."""
        divergences = [as_data(d) for d in self.divergences]
        return {
            "run": self.run.name,
            "policies": [p.name for p in self.policies],
            "operations": self.operations,
            "max_sites": self.max_sites,
            "max_sites_reached": self.max_sites_reached,
            "stopped": self.stopped and self.stopped.to_dict(),
            "summary": [each.to_dict() for each in self.by_policy()],
            "shared_causes": [each.to_dict() for each in self.shared_causes().found],
            "divergences": divergences,
            "partings": divergences,  # the former name
            "value_changes": self.value_changes.to_dict(),
            "escapes": self._escapes.to_dict(),
            "signatures": self._signatures.to_dict(),
            "decisions": self._decisions.to_dict(),
        }

    @property
    def headline(self) -> str:
        """What was compared."""
        return f"Where the policies differ from {self.run.name}"

    def summary(self) -> str:
        """Return the counts in a sentence, and another if data left the policy."""
        places, roots = len(self.divergences), self._causes()
        names = ", ".join(p.name for p in self.policies)
        done = counted(self.operations, "operation")
        agree = "all agree" if len(self.policies) > 1 else "agrees"
        about = " on dtypes" if len(self.value_changes) else ""
        found = f"{done}: {names} {agree} with {self.run.name}{about}."
        if places:
            found = (
                f"{done} under {self.run.name}; {counted(places, 'place')} where the policies "
                f"differ, {roots} {'is a root cause' if roots == 1 else 'are root causes'}."
            )
        elif not self.operations:
            found = (
                ""
                if self.stopped
                else f"No operation ran under {self.run.name}: there is nothing to compare."
            )
        casts = counted(len(self.value_changes), "cast")
        verb = "gives" if len(self.value_changes) == 1 else "give"
        values = f"{casts} {verb} other values." if len(self.value_changes) else ""
        limit = _LIMIT.format(self.max_sites) if self.max_sites_reached else ""
        lazy = _UNCOMPUTED.format(counted(self.uncomputed, "cast")) if self.uncomputed else ""
        assumed = _ASSUMED.format(listed(sorted(self.assumed))) if self.assumed else ""
        return " ".join(filter(None, (found, values, lazy, assumed, self._escapes.summary, limit)))

    def legend(self, *, inherited: bool) -> Iterator[str]:
        """Explain the words and signs that the report uses, a line each."""
        return legend(self.divergences, inherited=inherited)

    def blocks(self) -> list[Block]:
        """Return the places that are printed, a block for each line of the program."""
        causes = self.shared_causes()
        return blocks(dict(self._found).values(), inherited=self.inherited, shared=causes)

    def shared_causes(self) -> SharedCauses:
        """Return the root causes that several places have in common."""
        return shared_causes(self.policies, self.divergences)

    def _causes(self) -> int:
        """How many root causes there are: the shared ones, and each place that has its own."""
        shared = self.shared_causes()
        return len(shared.found) + sum(shared.leaves_root(each) for each in self.roots)

    def by_policy(self) -> list[PolicySummary]:
        """Return what each policy that differs asks for, those with the most root causes first."""
        names = [policy.name for policy in self.policies if policy.name != self.run.name]
        divergences, shared = self.divergences, self.shared_causes()
        # Of a program that stopped they are not the final ones.
        finals = () if self.stopped else settled_finals(self.finals, divergences)
        found = [summary_of(name, divergences, finals, shared, self.script) for name in names]
        return sorted(found, key=lambda each: -each.roots)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        width = options.max_width
        if self.stopped:
            yield from self.stopped.lines(console, width)
        yield from policy_lines(self.by_policy(), self.run.name, console, width)
        for cause in self.shared_causes().found:
            yield from cause.lines(console, width)
        told: dict[str, str] = {}
        for block in self.blocks():
            yield from block_lines(block, told, console, width)
        sections = self.value_changes, self._escapes, self._signatures, self._decisions
        for text in chain.from_iterable(section.lines() for section in sections):
            yield from folded(text, console, width)
        summary = self.summary()
        if summary:
            yield from folded(Text(summary, style="bold"), console, width)
        for explained in self.legend(inherited=self.inherited):
            yield from folded(Text(explained, style="dim"), console, width)

    def html(self) -> str:
        """Return the report as a part of a page, with the places that only inherit."""
        rows = "".join(as_row(d) for d in self.divergences)
        head = "<tr><th>place</th><th>source</th><th>answers</th></tr>"
        table = f'<table class="divergences">{head}{rows}</table>' if rows else ""
        sections = self.value_changes.html() + self._escapes.html() + self._signatures.html()
        sections += self._decisions.html()
        legend = "".join(
            f"<p><small>{prose(line)}</small></p>" for line in self.legend(inherited=True)
        )
        stopped = self.stopped.html() if self.stopped else ""
        return f"{stopped}<p>{prose(self.summary())}</p>{table}{sections}{legend}"

    def remarks(self) -> list[Remark]:
        """Return all that is said, line by line, for a page that shows the source."""
        refused = self.stopped.refused if self.stopped else None
        places = [*([refused.place] if refused else []), *self.divergences]
        return [
            *(of_divergence(each, self.run.name) for each in places),
            *of_value_changes(self.value_changes),
            *of_signatures(self._signatures),
            *of_escapes(self._escapes),
            *of_decisions(self._decisions),
        ]

    def to_html(self, extra: str = "", command: str = "") -> str:
        """Return the report as one self-contained page, with the source of the program.

        Parameters
        ----------
        extra : str
            HTML for its end.
        command : str
            How the report was made, if by a command.
        """
        summaries = self.by_policy()
        differs = any(each.roots for each in summaries)
        asked = [(each.policy, each.words()) for each in summaries] if differs else []
        legend = list(self.legend(inherited=True))
        legend += [f"data leaves the policy: {LEGEND}"] if self.escapes else []
        stopped = self.stopped.html(answers=False) if self.stopped else ""
        shared = [each.words() for each in self.shared_causes().found]
        overview = Overview(self.headline, self.summary(), asked, legend, command, stopped, shared)
        return report_page(overview, self.remarks(), extra)
