"""Records that a report counts besides places at which policies differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from promoarray.console import counted, listed
from promoarray.core.call_site import Site
from promoarray.core.escape import Escape
from promoarray.diagnostics.model.divergence import Answer, Divergence
from promoarray.diagnostics.spans import located, name_of


class Call(NamedTuple):
    """A call that a framework's own function does not take, though promoarray's does.

    It changes no dtype here; the code has to be written otherwise where it is ported.
    """

    site: Site
    policy: str  # of that framework
    reason: str


@dataclass(frozen=True, slots=True)
class NotExamined:
    """Something of a run that no policy was asked about, or of which some have no answer."""

    what: str  # its name
    why: str
    site: Site | None = None  # where it stands, if that was noted
    program: Site | None = None  # the program's line; None where it is not known
    policies: tuple[str, ...] = ()  # whose answer it leaves open; () for all
    count: int = 1

    @property
    def where(self) -> str:
        """File and line; "" where they are not known."""
        return name_of(self.program) if self.program else ""

    def __str__(self) -> str:
        times = f" ×{self.count}" if self.count > 1 else ""
        at = f" at {self.where}" if self.where else ""
        return f"{self.what}{at}{times}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        said = {"what": self.what, "why": self.why, "where": self.where or None}
        return said | {"count": self.count}


class Decided(NamedTuple):
    """A place where a program reads a dtype and may branch on it, so that policies part unseen.

    The run goes the way that its own dtype decides; a policy that has another dtype there may go
    another way, which no report of this run can follow.
    """

    site: Site
    program: Site
    run: tuple[str, ...]  # the dtypes that decided
    policy: str  # one that has others
    other: tuple[str, ...]  # those


# -- stops and refusals ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that the policy of the run refuses."""

    place: Divergence  # where, and what every policy answers there, the run's first
    edit: str  # the source after which the run goes on; "" if there is none
    error: tuple[object, ...]  # what tells its error from others


@dataclass(frozen=True, slots=True)
class Stopped:
    """What stopped a program."""

    run: str  # the policy it ran under
    error: str  # the error as a traceback ends
    site: Site | None = None  # the line of the program
    refused: Refused | None = None  # the operation, if it is the policy that refused it
    file: str = ""  # that in which the error was raised, such as a library's

    @property
    def refuses(self) -> list[str]:
        """The policies that refuse the operation, the run's first."""
        return [name for name, each in self._answers.items() if each.dtype is None]

    @property
    def goes_on(self) -> list[str]:
        """The policies that do not."""
        return [name for name, each in self._answers.items() if each.dtype is not None]

    @property
    def edit(self) -> str:
        """The source after which the run goes on; "" if none is known."""
        return self.refused.edit if self.refused else ""

    @property
    def remedy(self) -> str:
        """What to do besides; "" if nothing is known."""
        if not self.goes_on or (self.refused and self.refused.place.framework):
            return ""  # a recorded program runs in its framework alone
        first, *others = self.goes_on
        also = f", as {listed(others)} {'do' if len(others) > 1 else 'does'}" if others else ""
        return f"--run {first}, which goes on here{also}"

    @property
    def _answers(self) -> Mapping[str, Answer]:
        return self.refused.place.answers if self.refused else {}

    @property
    def headline(self) -> str:
        """What happened, in a line."""
        why = "which refuses" if self.refused else "by an error"
        at = f" at {self.site}" if self.site else ""
        return f"The program stopped{at} under {self.run}, {why}"


# -- data that left the policy -----------------------------------------------------------------


Row = tuple[Escape, list[tuple[int, ...]], int]
"""An escape that stands for all of a row, the shapes that left, and how often."""


def rows(counts: Counter[Escape]) -> Iterator[Row]:
    """Yield each place, consumer, channel and dtype with its shapes and how often they left."""
    groups: dict[Escape, list[Escape]] = {}
    for each in sorted([*counts]):  # to which other threads may add
        groups.setdefault(replace(each, shape=()), []).append(each)
    for same in groups.values():
        yield same[0], [e.shape for e in same], sum(counts[e] for e in same)


def escapes_data(counts: Counter[Escape]) -> list[dict[str, Any]]:
    """Return escapes as data, in the order of the source."""
    return [
        {
            **located(e.site, "source", "expression"),
            "channel": e.channel,
            "door": e.channel,  # the former name
            "scalar": e.scalar,
            "dtype": e.dtype,
            "shapes": [list(shape) for shape in shapes],
            "count": count,
            "consumer": _consumer(e),
            "taker": _consumer(e),  # the former name
        }
        for e, shapes, count in rows(counts)
    ]


def _consumer(e: Escape) -> dict[str, Any] | None:
    if not e.consumer:
        return None
    return {"function": e.consumer, **located(e.inside, "source")}


def summary_of(counts: Counter[Escape]) -> str:
    """Return the counts in a sentence; "" if nothing left."""
    sites = {e.site for e in tuple(counts)}
    if not sites:
        return ""
    total = counts.total()
    times = "once" if total == 1 else f"{total} times"
    return f"Data left the policy {times} ({counted(len(sites), 'place')})."


def worded(row: Row) -> str:
    """Return what left, by which channel, how often and to whom."""
    e, shapes, count = row
    times = f"  ×{count}" if count > 1 else ""
    to = f"  to {e.consumer} ({e.inside}: {e.inside.text})" if e.consumer else ""
    return f"{_what(e, shapes)}  by {e.how}{times}{to}"


def _what(e: Escape, shapes: list[tuple[int, ...]]) -> str:
    more = f" and {len(shapes) - 3} other shapes" if len(shapes) > 4 else ""
    listed = shapes[:3] if more else shapes
    if listed == [()]:
        return e.what
    word = "shape" if len(shapes) == 1 else "shapes"
    return f"{e.dtype} of {word} {', '.join(map(str, listed))}{more}"


def behind_the_stop(site: Site | None) -> NotExamined:
    """Return what a program that an error stopped has not come to."""
    return NotExamined("what follows the stop", "the program did not run further", None, site)
