"""Root causes that many places share, and that one edit of the program mends.

Four sorts of places have no cause of their own. A dtype that a policy never holds, as JAX without
x64 holds no float64, differs wherever such data come to it; if it is the run's, every other policy
differs there. A framework's modules make their parameters with the default dtype, in as many lines
as there are layers. And so does a program itself wherever it makes an array and names no dtype.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os.path import basename
from typing import TYPE_CHECKING, Any

from promoarray.console import counted, listed, wrapped
from promoarray.core.call_site import Site
from promoarray.diagnostics.shadow.divergence import (
    ASKED_DTYPE,
    DEFAULT_DTYPE,
    ENTRY,
    Divergence,
)
from promoarray.diagnostics.shadow.spellings import SPELLINGS
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

MODULES = {"torch": "/torch/nn/", "paddle": "/paddle/nn/"}
"""From a framework to where its modules make their parameters."""

ENABLED = {"jax@x32": 'jax.config.update("jax_enable_x64", True), which is jax@x64'}
"""From a policy that holds less than its framework can to what makes it hold all."""

MOST_PLACES = 12
"""So many places are named."""

MOST_LINES = 30
"""So many more, where those are shown with what to write."""

Origin = tuple[tuple[object, ...], str]
"""A place, by its key, and a policy that is a root there."""


def first_of(places: Sequence[str], most: int = MOST_PLACES) -> str:
    """Places in a row, and of many how many more there are."""
    more = len(places) - most
    return ", ".join(places[:most]) + (f" and {more} more" if more > 0 else "")


@dataclass
class SharedCause:
    """One cause of many places; each sort of them has its own words.

    Attributes
    ----------
    policies : dict
        The names of the policies it is a root for, as keys.
    dtypes : dict
        From each dtype that is said to what becomes of it.
    count : int
        How often the places were passed.
    """

    policies: dict[str, None] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    count: int = 0
    _lines: dict[tuple[str, int], Site] = field(default_factory=dict)
    _counted: set[tuple[object, ...]] = field(default_factory=set)

    edited_at_each = False
    """Whether each place has an edit of its own, in place of one for all of them."""

    @property
    def alone(self) -> bool:
        """Whether it is the cause of one place only, which tells it as any other."""
        return False

    @property
    def what(self) -> str:
        """The cause in words."""
        raise NotImplementedError

    @property
    def write(self) -> str:
        """The edit."""
        raise NotImplementedError

    def add(self, place: Divergence, policy: str) -> None:
        """Add what a policy answers at a place."""
        before, after = self._becomes(place, policy)
        self.policies[policy] = None
        self.dtypes[before] = after
        self._lines[place.program.file, place.program.line] = place.program
        if place.key not in self._counted:
            self._counted.add(place.key)
            self.count += place.count

    def _becomes(self, place: Divergence, policy: str) -> tuple[str, str]:
        """A dtype of the run, and what the policy has in its place."""
        return str(next(iter(place.answers.values()))), str(place.answers[policy])

    @property
    def _names(self) -> tuple[list[str], list[str]]:
        """The dtypes, and what becomes of them, in one order."""
        before, after = zip(*sorted(self.dtypes.items()), strict=True)
        return [*before], [*dict.fromkeys(after)]

    @property
    def places(self) -> list[str]:
        """The lines of the program, with their files: "train.py:12"; with the folders of those
        that have a name in common."""
        return [*self._named.values()]

    @property
    def _named(self) -> dict[tuple[str, int], str]:
        names = Counter(basename(file) for file in {file for file, _ in self._lines})
        lines = sorted(self._lines.items())
        return {at: str(s) if names[basename(s.file)] == 1 else s.path for at, s in lines}

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "policies": [*self.policies],
            "cause": self.what,
            "edit": self.write,
            "places": self.places,
            "count": self.count,
        }

    def words(self) -> str:
        """Cause, places and edit in a sentence."""
        return f"{self.what} ({self._where}); write {self.write}"

    @property
    def _where(self) -> str:
        return first_of(self.places)

    def lines(self, console: Console, width: int) -> Iterator[Text]:
        """Yield it as lines for the terminal."""
        from rich.text import Text

        head = Text(f"{counted(len(self.places), 'line')}  ", "bold cyan")
        yield from wrapped(head, Text(self.what, "bold"), console, width)
        root = Text("    ").append("root        ", "bold red")
        yield from wrapped(root, Text(", ".join(self.policies)), console, width)
        for label, said in self._rows():
            start = Text(f"    {label:<12}", "green" if label == "write" else "dim")
            yield from wrapped(start, Text(said), console, width)

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield what the terminal says of the places and their edit, with what each is."""
        yield "at", self._where
        yield "write", self.write


@dataclass
class NeverHeld(SharedCause):
    """A dtype of the run that a policy never holds."""

    @property
    def what(self) -> str:
        """What the policy makes of such data."""
        before, after = self._names
        (policy,) = self.policies
        return f"{policy} holds no {listed(before, 'or')}, and makes {listed(after)} of them"

    @property
    def write(self) -> str:
        """What makes the policy hold it, or makes the run go without."""
        (policy,) = self.policies
        casts = f"cast to {listed(self._names[1])} where such data first come in"
        return f"{ENABLED[policy]}; or {casts}" if policy in ENABLED else casts


@dataclass
class NarrowedByTheRun(SharedCause):
    """Data that come in as a narrower dtype, as the policy of the run never holds theirs.

    Attributes
    ----------
    run : str
        That policy.
    """

    run: str = ""

    def _becomes(self, place: Divergence, policy: str) -> tuple[str, str]:
        return place.operands[0].removesuffix("[]"), str(place.answers[self.run])

    @property
    def what(self) -> str:
        """What the run makes of such data."""
        before, after = self._names
        return f"{self.run} holds no {listed(before, 'or')}, and makes {listed(after)} of such data"

    @property
    def write(self) -> str:
        """What makes the run hold it, or all others go without."""
        casts = f"cast to {listed(self._names[1])} where they are made, which all policies keep"
        enabled = ENABLED.get(self.run)
        return f"{casts}; or {enabled} and keeps them as they are" if enabled else casts


@dataclass
class ParametersOfModules(SharedCause):
    """The default dtype, which a framework's modules give their parameters.

    Attributes
    ----------
    framework : str
    """

    framework: str = ""

    @property
    def what(self) -> str:
        """What the parameters are."""
        before, after = self._names
        return (
            f"parameters of {self.framework}.nn's modules have the default dtype: "
            f"{listed(before)} in the run, {listed(after)} under other policies"
        )

    @property
    def write(self) -> str:
        """What names the default dtype."""
        return default_named(self.framework, self._names[0][0])


@dataclass
class DefaultDTypes(SharedCause):
    """The default dtype, of arrays for which the program names none.

    Attributes
    ----------
    framework : str
    edits : dict
        From each place to its edit; "" where that cannot be written.
    """

    framework: str = ""
    edits: dict[Site, str] = field(default_factory=dict)

    edited_at_each = True

    def add(self, place: Divergence, policy: str) -> None:
        """Add what a policy answers at a place, and the edit of the place."""
        super().add(place, policy)
        fix = place.answers[policy].fix
        self.edits[place.site] = place.written(fix) or str(fix) if fix else ""

    @property
    def alone(self) -> bool:
        """Whether one array is made."""
        return len(self.edits) < 2

    @property
    def what(self) -> str:
        """What the arrays have."""
        before, after = self._names
        return (
            f"arrays made with no dtype named have the default one: {listed(before)} in the run, "
            f"{listed(after)} under other policies"
        )

    @property
    def write(self) -> str:
        """The edit of the first place, which says how those of the others read."""
        first = next(filter(None, self.edits.values()), "")
        return " ".join(filter(None, ("the dtype in each line", f"({first})" * bool(first))))

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield each edit with its place, and where there are more."""
        named = self._named
        written = [(named[s.file, s.line], edit) for s, edit in sorted(self.edits.items()) if edit]
        first, rest = written[:MOST_PLACES], written[MOST_PLACES:]
        longest = max((len(name) for name, _ in first), default=0)
        for n, (name, edit) in enumerate(first):
            yield "" if n else "write", f"{name:<{longest}}  {edit}"
        if rest:
            yield "", f"and so at {first_of([*dict.fromkeys(n for n, _ in rest)], MOST_LINES)}"


def default_named(framework: str, dtype: str) -> str:
    """The edit that names the default dtype of a framework's modules."""
    namespace = SPELLINGS[framework].namespace
    written = f"{namespace}.{dtype}" if framework == "torch" else f'"{dtype}"'
    return f"{namespace}.set_default_dtype({written})"


@dataclass
class SharedCauses:
    """The shared causes of a report.

    Attributes
    ----------
    found : list of SharedCause
    of : dict
        From a place and a policy to the cause that they have from there.
    """

    found: list[SharedCause] = field(default_factory=list)
    of: dict[Origin, SharedCause] = field(default_factory=dict)

    def has(self, place: Divergence, policy: str) -> bool:
        """Whether what a policy answers at a place has a shared cause."""
        return (place.key, policy) in self.of

    def edited_at_each(self, place: Divergence, policy: str) -> bool:
        """Whether the cause that a place shares has an edit at each of its places."""
        cause = self.of.get((place.key, policy))
        return cause is not None and cause.edited_at_each

    def leaves_root(self, place: Divergence) -> bool:
        """Whether a place is a root for a policy that shares its cause with no other place."""
        answers = place.answers.items()
        return any(a.origin == "root" and not self.has(place, name) for name, a in answers)


def shared_causes(policies: Iterable[Policy], places: Iterable[Divergence]) -> SharedCauses:
    """Find the causes that places share."""
    by_key: dict[Hashable, SharedCause] = {}
    causes, by_name = SharedCauses(), {policy.name: policy for policy in policies}
    for place in places:
        for name, answer in place.answers.items():
            if answer.origin != "root" or name not in by_name:
                continue
            key, cause = _cause(place, by_name[name])
            if cause is not None:
                cause = by_key.setdefault(key, cause)
                cause.add(place, name)
                causes.of[place.key, name] = cause
    alone = {id(cause) for cause in by_key.values() if cause.alone}
    causes.of = {at: cause for at, cause in causes.of.items() if id(cause) not in alone}
    causes.found = [cause for cause in by_key.values() if id(cause) not in alone]
    return causes


def _cause(place: Divergence, policy: Policy) -> tuple[Hashable, SharedCause | None]:
    """The cause that a place may share, and what places of it have in common."""
    (name, mine), theirs = next(iter(place.answers.items())), place.answers[policy.name].dtype
    run = mine.dtype
    if run is not None and theirs is not None and policy.canonical.get(run) is theirs:
        return policy.name, NeverHeld()
    if theirs is not None and place.name in (ENTRY, ASKED_DTYPE) and place.framework:
        return (ENTRY, name), NarrowedByTheRun(run=name)
    folder = MODULES.get(place.framework)
    made = place.name == DEFAULT_DTYPE and place.program != place.site
    if made and folder and folder in place.site.file.replace("\\", "/"):
        return (place.framework, run, theirs), ParametersOfModules(framework=place.framework)
    if place.name == DEFAULT_DTYPE and theirs is not None and place.program == place.site:
        alike = (name for name, answer in place.answers.items() if answer.dtype is theirs)
        return (DEFAULT_DTYPE, run, theirs, *alike), DefaultDTypes(framework=place.framework)
    return None, None
