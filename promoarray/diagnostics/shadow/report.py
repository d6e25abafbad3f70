"""What a shadow run found, as text, data and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.console import ZERO_D, Printable, counted, listed
from promoarray.core.call_site import Site
from promoarray.core.escape import Escape
from promoarray.diagnostics.escape_report import LEGEND, Escapes
from promoarray.diagnostics.shadow.divergence import DEFAULT_DTYPE, Divergence
from promoarray.diagnostics.shadow.findings import (
    Finding,
    of_divergence,
    of_escapes,
    of_signatures,
    of_value_changes,
)
from promoarray.diagnostics.shadow.page import Overview, report_page
from promoarray.diagnostics.shadow.place import as_data, as_row, as_text
from promoarray.diagnostics.shadow.signatures import Call, Signatures
from promoarray.diagnostics.shadow.value_changes import ValueChanges
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text


_ROOT = "root: for the operands of the run this policy answers otherwise"
_INHERITS = (
    "inherits: only the operands differ, because of an earlier line; after a refusal a policy goes"
    " on as if you had cast as its error message says"
)
_LEFT_OUT = "not shown: places where only the operands differ, because of these (compare --all)"
_DEFAULT = "default dtype: what an array made of Python numbers has"


class PolicySummary(NamedTuple):
    """What a policy asks of a program.

    Attributes
    ----------
    policy : str
    roots, refused : int
        Its root causes, and how many of them it refuses.
    casts : int
        The root causes that have an edit.
    lines : tuple of int
        Where to make them.
    """

    policy: str
    roots: int
    refused: int
    casts: int
    lines: tuple[int, ...]

    def words(self) -> str:
        """The numbers in words."""
        said = counted(self.roots, "root cause") if self.roots else "no root causes"
        if self.refused:
            said += f", {self.refused} of them refused"
        if self.casts:
            where = f"line{'s' if len(self.lines) > 1 else ''} {', '.join(map(str, self.lines))}"
            said += f"; {counted(self.casts, 'edit')} ({where})"
        return said


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
    inherited : bool
        Whether printing shows the places that only inherit, too.
    """

    run: Policy
    policies: tuple[Policy, ...]
    operations: int = 0
    _found: dict[tuple[object, ...], Divergence] = field(default_factory=dict)
    _escapes: Escapes = field(default_factory=Escapes)
    _signatures: Signatures = field(default_factory=Signatures)
    value_changes: ValueChanges = field(default_factory=ValueChanges)
    inherited: bool = False

    def record(self, divergence: Divergence) -> Divergence:
        """Add a place, or count it once more; return what is kept of it."""
        known = self._found.setdefault(divergence.key, divergence)
        if known is not divergence:
            known.count += 1
        return known

    def merge(self, other: Report) -> None:
        """Add what another run of the same program, or a process of it, has found."""
        self.operations += other.operations
        for key, divergence in other._found.items():
            known = self._found.setdefault(key, divergence)
            if known is not divergence:
                known.count += divergence.count
        self.escapes.update(other.escapes)
        self.signatures.update(other.signatures)
        self.value_changes.merge(other.value_changes)

    @property
    def places(self) -> int:
        """How many places of any sort were found."""
        others = len(self.escapes) + len(self.signatures) + len(self.value_changes)
        return len(self._found) + others

    def __setstate__(self, state: dict[str, Any]) -> None:
        found = state.pop("_shadow", None)  # in a pickle of 0.1.0
        if found is not None:
            state |= {"operations": found.operations, "_escapes": found.escapes}
            state["_found"] = {each.key: each for each in found.partings.values()}
        new = {"_signatures": Signatures(), "value_changes": ValueChanges()}
        new |= {"inherited": False}
        self.__dict__.update(new | state)

    @property
    def divergences(self) -> list[Divergence]:
        """The places, by file and line of the program."""
        found = dict(self._found)  # to which other threads may add meanwhile
        return sorted(found.values(), key=lambda d: (d.program, d.site, d.name))

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
            "summary": [each._asdict() for each in self.by_policy()],
            "divergences": divergences,
            "partings": divergences,  # the former name
            "value_changes": self.value_changes.to_dict(),
            "escapes": self._escapes.to_dict(),
            "signatures": self._signatures.to_dict(),
        }

    @property
    def headline(self) -> str:
        """What was compared."""
        return f"Where the policies differ from {self.run.name}"

    def summary(self) -> str:
        """Return the counts in a sentence, and another if data left the policy."""
        places, roots = len(self.divergences), len(self.roots)
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
            found = f"No operation ran under {self.run.name}: there is nothing to compare."
        casts = counted(len(self.value_changes), "cast")
        verb = "gives" if len(self.value_changes) == 1 else "give"
        values = f"{casts} {verb} other values." if len(self.value_changes) else ""
        return " ".join(filter(None, (found, values, self._escapes.summary)))

    def legend(self, *, inherited: bool) -> Iterator[str]:
        """Explain the words and signs that the report uses, a line each."""
        if self.divergences:
            yield _ROOT
            yield _INHERITS if inherited else _LEFT_OUT
        if any(d.name == DEFAULT_DTYPE for d in self.divergences):
            yield _DEFAULT
        if any(operand.endswith("[]") for d in self.divergences for operand in d.operands):
            yield ZERO_D

    def lines_shown(self) -> list[list[Divergence]]:
        """Return the places that are printed, a list for each line of the program.

        The line at which the most policies differ for the first time comes first, and in a line
        the operation that was carried out first. Places that only inherit are left out, unless
        ``inherited`` is set.
        """
        lines: dict[tuple[Site, str, int], list[Divergence]] = {}
        for each in dict(self._found).values():
            if each.root or self.inherited:
                at = each.program, each.site.file, each.site.line
                place = (replace(at[0], column=-1, expression=""), *at[1:])
                lines.setdefault(place, []).append(each)
        ordered = sorted(lines.values(), key=lambda places: places[0].program)
        return sorted(ordered, key=lambda places: -len(_roots_of(places)))

    def by_policy(self) -> list[PolicySummary]:
        """Return what each policy that differs asks for, those with the most root causes first."""
        found = []
        for name in (policy.name for policy in self.policies if policy.name != self.run.name):
            roots = [d for d in self.divergences if _is_root(d, name)]
            fixes = [d for d in roots if d.answers[name].fix is not None]
            refused = sum(d.answers[name].dtype is None for d in roots)
            lines = sorted({d.program.line for d in fixes})
            found.append(PolicySummary(name, len(roots), refused, len(fixes), tuple(lines)))
        return sorted(found, key=lambda each: -each.roots)

    def _policy_lines(self) -> Iterator[Text]:
        """Yield what each policy asks for as lines for the terminal."""
        from rich.text import Text

        summaries = self.by_policy()
        width = max((len(each.policy) for each in summaries), default=0)
        for each in summaries:
            if each.roots:
                yield Text(f"{each.policy:<{width}}  ", "bold").append(each.words(), "not bold")
        agree = [each.policy for each in summaries if not each.roots]
        if agree and len(agree) < len(summaries):
            yield Text(f"no root causes under {listed(agree)}")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        yield from self._policy_lines()
        told: dict[str, str] = {}
        for places in self.lines_shown():
            for divergence in places:
                yield from as_text(
                    divergence,
                    inherited=self.inherited,
                    told=told,
                    console=console,
                    width=options.max_width,
                )
        yield from self.value_changes.lines()
        yield from self._escapes.lines()
        yield from self._signatures.lines()
        yield Text(self.summary(), style="bold")
        for explained in self.legend(inherited=self.inherited):
            yield Text(explained, style="dim")

    def html(self) -> str:
        """Return the report as a part of a page, with the places that only inherit."""
        rows = "".join(as_row(d) for d in self.divergences)
        head = "<tr><th>place</th><th>source</th><th>answers</th></tr>"
        table = f'<table class="divergences">{head}{rows}</table>' if rows else ""
        sections = self.value_changes.html() + self._escapes.html() + self._signatures.html()
        legend = "".join(
            f"<p><small>{escape(line)}</small></p>" for line in self.legend(inherited=True)
        )
        return f"<p>{escape(self.summary())}</p>{table}{sections}{legend}"

    def findings(self) -> list[Finding]:
        """Return all that is said, line by line, for a page that shows the source."""
        return [
            *(of_divergence(each, self.run.name) for each in self.divergences),
            *of_value_changes(self.value_changes),
            *of_signatures(self._signatures),
            *of_escapes(self._escapes),
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
        asked = [(each.policy, each.words()) for each in self.by_policy()]
        legend = list(self.legend(inherited=True))
        legend += [f"data leaves the policy: {LEGEND}"] if self.escapes else []
        overview = Overview(self.headline, self.summary(), asked, legend, command)
        return report_page(overview, self.findings(), extra)


def _is_root(divergence: Divergence, policy: str) -> bool:
    answer = divergence.answers.get(policy)
    return answer is not None and answer.origin == "root"


def _roots_of(places: list[Divergence]) -> set[str]:
    """The policies that differ for the first time at some of the places."""
    return {name for d in places for name, answer in d.answers.items() if answer.origin == "root"}
