"""Root causes that many places share, and that one edit of the program mends.

Two sorts of places have no cause of their own. A dtype that a policy never holds, as JAX without
x64 holds no float64, differs wherever such data come to it. And a framework's modules make their
parameters with the default dtype, in as many lines as there are layers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from os.path import basename
from typing import TYPE_CHECKING, Any

from promoarray.console import counted, listed, wrapped
from promoarray.core.call_site import Site
from promoarray.diagnostics.shadow.divergence import DEFAULT_DTYPE, Divergence
from promoarray.diagnostics.shadow.spellings import SPELLINGS
from promoarray.dtypes import DType
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

Origin = tuple[tuple[object, ...], str]
"""A place, by its key, and a policy that is a root there."""


@dataclass
class SharedCause:
    """One cause of many places.

    Attributes
    ----------
    framework : str
        The framework whose modules make the parameters; "" of dtypes that a policy does not hold.
    policies : dict
        The names of the policies it is a root for, as keys.
    dtypes : dict
        From each dtype of the run to what the policies have in its place.
    count : int
        How often the places were passed.
    """

    framework: str
    policies: dict[str, None] = field(default_factory=dict)
    dtypes: dict[DType, DType] = field(default_factory=dict)
    count: int = 0
    _lines: dict[tuple[str, int], Site] = field(default_factory=dict)
    _counted: set[tuple[object, ...]] = field(default_factory=set)

    def add(self, place: Divergence, policy: str) -> None:
        """Add what a policy answers at a place."""
        answers = place.answers
        run, theirs = next(iter(answers.values())).dtype, answers[policy].dtype
        assert run is not None
        assert theirs is not None
        self.policies[policy] = None
        self.dtypes[run] = theirs
        self._lines[place.program.file, place.program.line] = place.program
        if place.key not in self._counted:
            self._counted.add(place.key)
            self.count += place.count

    @property
    def places(self) -> list[str]:
        """The lines of the program, with their files: "train.py:12"; with the folders of those
        that have a name in common."""
        names = Counter(basename(file) for file in {file for file, _ in self._lines})
        sites = (self._lines[key] for key in sorted(self._lines))
        return [str(s) if names[basename(s.file)] == 1 else s.path for s in sites]

    @property
    def what(self) -> str:
        """The cause in words."""
        run, theirs = self._names
        if self.framework:
            return (
                f"parameters of {self.framework}.nn's modules have the default dtype: "
                f"{listed(run)} in the run, {listed(theirs)} under other policies"
            )
        (policy,) = self.policies
        return f"{policy} holds no {' or '.join(run)}, and makes {listed(theirs)} of them"

    @property
    def write(self) -> str:
        """The edit."""
        run, theirs = self._names
        if self.framework:
            return default_named(self.framework, run[0])
        (policy,) = self.policies
        casts = f"cast to {listed(theirs)} where such data first come in"
        return f"{ENABLED[policy]}; or {casts}" if policy in ENABLED else casts

    @property
    def _names(self) -> tuple[list[str], list[str]]:
        """The dtypes of the run, and those in their place, in one order."""
        pairs = sorted((run.name, theirs.name) for run, theirs in self.dtypes.items())
        run, theirs = zip(*pairs, strict=True)
        return [*run], [*dict.fromkeys(theirs)]

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
        named, more = self.places[:MOST_PLACES], len(self.places) - MOST_PLACES
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")

    def lines(self, console: Console, width: int) -> Iterator[Text]:
        """Yield it as lines for the terminal."""
        from rich.text import Text

        head = Text(f"{counted(len(self.places), 'line')}  ", "bold cyan")
        yield from wrapped(head, Text(self.what, "bold"), console, width)
        root = Text("    ").append("root        ", "bold red")
        yield from wrapped(root, Text(", ".join(self.policies)), console, width)
        yield from wrapped(Text("    at          ", "dim"), Text(self._where), console, width)
        yield from wrapped(Text("    write       ", "green"), Text(self.write), console, width)


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
            key, framework = _key(place, by_name[name])
            if key:
                cause = by_key.setdefault(key, SharedCause(framework))
                cause.add(place, name)
                causes.of[place.key, name] = cause
    causes.found = [*by_key.values()]
    return causes


def _key(place: Divergence, policy: Policy) -> tuple[Hashable, str]:
    """What places of one cause have in common, None of others; and the framework of modules."""
    run, theirs = next(iter(place.answers.values())).dtype, place.answers[policy.name].dtype
    if run is not None and theirs is not None and policy.canonical.get(run) is theirs:
        return (policy.name,), ""
    folder = MODULES.get(place.framework)
    made = place.name == DEFAULT_DTYPE and place.program != place.site
    if made and folder and folder in place.site.file.replace("\\", "/"):
        return (place.framework, run, theirs), place.framework
    return None, ""
