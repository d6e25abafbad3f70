"""What each policy asks of a program, in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os.path import basename, realpath
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.console import counted, folded, listed, wrapped
from promoarray.diagnostics.shadow.divergence import Divergence
from promoarray.diagnostics.shadow.final_dtypes import FinalDType
from promoarray.diagnostics.shadow.shared_causes import SharedCauses, first_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

MOST_NAMES = 3
"""So many final globals are named, the last to be set first."""

MOST_LINES = 30
"""So many numbers of lines, which are two or three lines themselves."""


class PolicySummary(NamedTuple):
    """What a policy asks of a program.

    Attributes
    ----------
    policy : str
    roots, refused : int
        Its root causes, and how many of them it refuses.
    casts : int
        The root causes that have an edit in the program's own source.
    lines : tuple of int
        Where to make them.
    places : tuple of str
        The same, with their files: "train.py:12".
    made : int
        How many of the edits ask for a dtype where an array is made; the others are casts.
    inside : int
        How many of the root causes stand in a library, whose lines are not the user's to edit.
    finals : tuple of FinalDType
        The globals that end with another dtype under it, the last to be set first.
    shared : int
        How many of the root causes have several lines in common.
    elsewhere : bool
        Whether the lines stand in another file than the one that the program was started as.
    """

    policy: str
    roots: int
    refused: int
    casts: int
    lines: tuple[int, ...]
    places: tuple[str, ...] = ()
    made: int = 0
    inside: int = 0
    finals: tuple[FinalDType, ...] = ()
    shared: int = 0
    elsewhere: bool = False

    def words(self) -> str:
        """The numbers in words."""
        return "; ".join(self._parts())

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        data = self._asdict()
        return data | {"finals": [each.to_dict(self.policy) for each in self.finals]}

    def _parts(self) -> Iterator[str]:
        said = counted(self.roots, "root cause") if self.roots else "no root causes"
        of_them = [f"{self.refused} of them refused"] if self.refused else []
        of_them += [f"{self.inside} inside libraries"] if self.inside else []
        of_them += [f"{self.shared} of several lines"] if self.shared else []
        yield ", ".join([said, *of_them])
        if self.casts:
            casts, made = self.casts - self.made, self.made
            what = [counted(casts, "cast")] if casts else []
            what += [f"{made} dtype="] if made else []
            yield f"{' and '.join(what)} to insert ({self._where()})"
        if self.finals:
            yield f"final {self._ends()}"

    def _ends(self) -> str:
        """The globals that are named, those together that become the same."""
        alike: dict[str, list[str]] = {}
        for each in self.finals[:MOST_NAMES]:
            alike.setdefault(each.becomes(self.policy), []).append(f"`{each.name}`")
        more = len(self.finals) - MOST_NAMES
        named = [f"{listed(names)} {becomes}" for becomes, names in alike.items()]
        return listed([*named, *([f"{more} more"] if more > 0 else [])])

    def _where(self) -> str:
        files = {place.rpartition(":")[0] for place in self.places}
        if len(files) > 1 or self.elsewhere:
            return first_of(self.places)
        listed_lines = first_of([*map(str, self.lines)], MOST_LINES)
        return f"line{'s' if len(self.lines) > 1 else ''} {listed_lines}"


def told_together(summaries: Iterable[PolicySummary]) -> Iterator[tuple[list[str], str]]:
    """Yield what policies ask for in words, with the names of those that ask for the same."""
    found: dict[str, list[str]] = {}
    for each in summaries:
        found.setdefault(each.words(), []).append(each.policy)
    yield from ((names, words) for words, names in found.items())


def policy_lines(
    summaries: Sequence[PolicySummary], run: str, console: Console, width: int
) -> Iterator[Text]:
    """Yield what each policy asks for as lines for the terminal.

    Parameters
    ----------
    summaries : sequence of PolicySummary
        Those with the most root causes first.
    run : str
        The policy of the run.
    console : rich.console.Console
    width : int
    """
    from rich.text import Text

    if len(summaries) == 1 and summaries[0].roots:
        name = summaries[0].policy
        same = f"To run the same under {name} as under {run}"
        yield from wrapped(Text(""), Text(same, "bold"), console, width)
    told = [*told_together(each for each in summaries if each.roots)]
    longest = max((len(names[0]) for names, _ in told if len(names) == 1), default=0)
    for names, words in told:
        if len(names) == 1:
            yield from wrapped(
                Text(f"{names[0]:<{longest}}  ", "bold"), Text(words), console, width
            )
        else:
            yield from folded(
                Text(", ".join(names), "bold").append(f"  {words}", "not bold"), console, width
            )
    agree = [each.policy for each in summaries if not each.roots]
    if agree and len(agree) < len(summaries):
        yield from wrapped(Text(""), Text(f"no root causes under {listed(agree)}"), console, width)


def summary_of(
    policy: str,
    divergences: list[Divergence],
    finals: tuple[FinalDType, ...],
    shared: SharedCauses,
    script: str = "",
) -> PolicySummary:
    """Count what a policy asks for."""
    answers = [(d, d.answers[policy]) for d in divergences if policy in d.answers]
    roots = [(d, a) for d, a in answers if a.origin == "root" and not shared.has(d, policy)]
    edited = roots + [(d, a) for d, a in answers if shared.edited_at_each(d, policy)]
    of_many = [cause for cause in shared.found if policy in cause.policies]
    causes = {(d.shown_at, d.name, answer.dtype, answer.reason): d for d, answer in roots}
    fixes = {
        (d.site, d.name, answer.fix): d.program
        for d, answer in edited
        if answer.fix is not None and d.program == d.site  # a library's lines are not the user's
    }
    sites = sorted({(site.file, site.line) for site in fixes.values()})
    return PolicySummary(
        policy,
        len(causes) + len(of_many),
        sum(dtype is None for _, _, dtype, _ in causes),
        len(fixes),
        tuple(dict.fromkeys(line for _, line in sites)),
        tuple(f"{basename(file)}:{line}" for file, line in sites),
        sum(fix.made is not None for _, _, fix in fixes),
        len({key for key, d in causes.items() if d.program != d.site}),
        tuple(each for each in reversed(finals) if policy in each.others),
        sum(len(cause.places) > 1 for cause in of_many),
        bool(script) and any(realpath(file) != realpath(script) for file, _ in sites),
    )
