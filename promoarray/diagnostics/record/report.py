"""Report of a recorded run: a shadow run's report, and what was understood of the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray.console import counted, folded, listed
from promoarray.core.call_site import Site
from promoarray.core.observers import notify_lock
from promoarray.diagnostics.ask.replay import replay
from promoarray.diagnostics.edits.planner import Planned
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.model.failed import Failed
from promoarray.diagnostics.model.flow import COMPARED, family
from promoarray.diagnostics.model.lost import LostPlace
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.report import Report
from promoarray.operations import Form
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

REFUSES = "refuses"
NUMPY = "numpy"
_TITLES = {
    NUMPY: "NumPy",
    "torch": "PyTorch",
    "paddle": "Paddle",
    "jax": "JAX",
    "tensorflow": "TensorFlow",
}

BEFORE_READING: list[Callable[[], object]] = []
"""What tells reports of calls that were counted elsewhere, called before they are read."""

OPERATION, APPROXIMATE, AUTOCAST, CAST, MOVE, MAKE, UNKNOWN, UNSEEN, EAGER = (
    *("operation", "approximate", "autocast", "cast", "move", "make", "unknown", "unseen"),
    "eager",
)
KINDS = {
    OPERATION: ("is one operation", "one operation each"),
    APPROXIMATE: (
        "stands for several operations, approximately",
        "stand for several operations, approximately",
    ),
    AUTOCAST: ("cast by autocast",),
    CAST: ("explicit cast", "explicit casts"),
    MOVE: ("moves values", "move values"),
    MAKE: ("makes an array", "make arrays"),
    UNKNOWN: ("not understood",),
}
"""The kinds of calls that are seen, with the words for one of them, and for more."""


class Drift(NamedTuple):
    """An operation of which our policy of the framework says otherwise than the framework did."""

    operation: str
    form: Form
    operands: tuple[str, ...]
    # the dtype that each gives, or ``"refuses"``
    policy: str
    framework: str

    def __str__(self) -> str:
        return (
            f"{self.operation}({', '.join(self.operands)}) as {_FORMS[self.form]}: the policy says "
            f"{self.policy}, the framework {self.framework}"
        )


class Warned(NamedTuple):
    """A warning of the framework's own, of numbers that were lost in the run."""

    text: str
    program: Site  # the program's line

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {"text": self.text, "file": self.program.file, "line": self.program.line}


_FORMS = {
    Form.OPERATOR: "an operator",
    Form.INPLACE: "an operation in place",
    Form.FUNCTION: "a function",
}


@dataclass(eq=False, repr=False)
class RecordedReport(Report):
    """The places at which policies differ in a program of another framework.

    Attributes
    ----------
    calls : Counter
        From each (kind, name) to how often the framework was called so; kinds are ``KINDS``.
    drift : Counter
        From each Drift to how often it was met.
    framework : str
        The framework with its version: "torch 2.13.0".
    halves : frozenset of str
        The policies that are asked about NumPy's operations alone, where a framework is recorded,
        too.
    beside : tuple of str
        The other libraries that computed in the run, with their versions.
    warned : Counter
        From each Warned to how often it was shown.
    uncompared : set of NotExamined
        Of a run that was read from a file: the casts whose values were not compared then.
    failed : Failed or None
        The call at which the program stopped, of a run that keeps origins.
    lost : list of LostPlace
        What its values lost, of a run that is checked.
    checked : int
        Operations whose values were looked at then.
    unread : Counter of NotExamined
        Those whose values could not be read.
    """

    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    drift: Counter[Drift] = field(default_factory=Counter)
    framework: str = ""
    halves: frozenset[str] = frozenset()
    beside: tuple[str, ...] = ()
    warned: Counter[Warned] = field(default_factory=Counter)
    uncompared: set[NotExamined] = field(default_factory=set)
    failed: Failed | None = None
    lost: list[LostPlace] = field(default_factory=list)
    checked: int = 0
    unread: Counter[NotExamined] = field(default_factory=Counter)
    _version: object = None
    _states: dict[Any, Any] = field(default_factory=dict)

    def seen(self, slot: Any) -> Any:
        """Return what an array's type slot bears once the policies were asked: their dtypes."""
        self._ask()
        return self._states.get(getattr(slot, "source", None), slot)

    def _ask(self) -> None:
        """Ask the policies about what was recorded, unless they were after the last pass."""
        version = self.operations, sum(len(flow.operations) for flow in self.flows)
        if version == self._version or not self.flows:
            return
        self._version = version
        answered = Report(self.run, self.policies, max_sites=self.max_sites)
        with notify_lock:
            asked_of = self._asked_of if self.framework else None
            every = [replay(flow, answered, asked_of) for flow in self.flows]
        self._states = every[0]
        self.max_sites_reached |= answered.max_sites_reached
        self.finals = answered.finals
        self.uncomputed = sum(flow.uncomputed for flow in self.flows)
        answered.unanswered.update(self.uncompared)
        answered.unanswered.update(self._read_dtypes())
        vars(self).update({name: vars(answered)[name] for name in _ASKED})

    def _asked_of(self, home: Policy) -> tuple[Policy, ...]:
        """The policies that are asked about what a library did, ``home`` its own.

        Where NumPy computes beside a framework, policies of frameworks are asked about frameworks
        alone: a program that is ported leaves its NumPy lines to NumPy. It goes on there with what
        a policy has given so far.
        """
        return tuple(
            p if self.is_asked(p.name, home.name) else _standing_in(home, p.name)
            for p in self.policies
        )

    def is_asked(self, policy: str, run: str) -> bool:
        """Whether a policy is asked about what a library did, ``run`` its own policy."""
        if not self._has_halves:
            return True
        return family(policy) == NUMPY if family(run) == NUMPY else policy not in self.halves

    @property
    def _has_halves(self) -> bool:
        return len(libraries := self.libraries) > 1 and NUMPY in libraries

    def asked_about(self, policy: str) -> tuple[int, str]:
        """Return how many operations a policy was asked about, and whose they are."""
        every = self.libraries
        about = [name for name in every if self.is_asked(policy, name)]
        if len(about) == len(every):
            return super().asked_about(policy)
        whose = listed([_TITLES.get(name, name) for name in about])
        return sum(every[name] for name in about), f"{whose}'s"

    def plan_edits(self) -> Planned:
        """Plan the edits of each library's operations, for the policies that were asked."""
        if not self._has_halves:
            return super().plan_edits()
        found: Planned = {}
        for name in self.libraries:
            policies = tuple(p for p in self.policies if self.is_asked(p.name, name))
            half = Results(self._home_of(name), policies)
            half.value_changes, every = self.value_changes, self.agreed.found
            half.flows = self.flows
            half._found = {d.key: d for d in self.found if d.framework == name}
            half.agreed.found = {key: d for key, d in every.items() if d.framework == name}
            found |= half.plan_edits()
        return found

    def _home_of(self, library: str) -> Policy:
        """The policy that most of a library's operations were carried out under."""
        names = (each.policy for flow in self.flows for each in flow.operations)
        (most, _), *_ = Counter(name for name in names if family(name) == library).most_common()
        return self.run if most == self.run.name else as_policy(most)

    def halves_in_words(self) -> str:
        """Say who was not asked about all operations; "" if all were."""
        if not self._has_halves or not self.libraries[NUMPY]:
            return ""
        names = [p.name for p in self.policies if p.name != self.run.name]
        asked = [name for name in names if self.is_asked(name, NUMPY)]
        if not set(names) - {*asked} and not self.halves.intersection(names):
            return ""
        count = self.libraries[NUMPY]
        be, stay, them = ("is", "it is", "it") if count == 1 else ("are", "they are", "them")
        said = f"{count} of them {be} NumPy's, which a port leaves as {stay}: "
        if not asked:
            return f"{said}no policy was asked about {them}."
        were = "was" if len(asked) == 1 else "were"
        alone = ", and about nothing else" if self.halves.issuperset(asked) else ""
        return f"{said}only {listed(asked)} {were} asked about {them}{alone}."

    @property
    def libraries(self) -> Counter[str]:
        """From the libraries whose operations were recorded to how many of them were compared."""
        found = Counter[str]()
        for flow in self.flows:
            for each in flow.operations:
                found[family(each.policy)] += each.count * (each.kind in COMPARED)
        return found

    def _read_dtypes(self) -> Iterator[NotExamined]:
        """Yield the places where the program reads a dtype: what it makes of it is the run's."""
        for flow in self.flows:
            for at in flow.unread:
                for policy in self.policies:
                    if policy is not self.run:
                        yield NotExamined("a dtype that is read", _THE_RUNS, *at, (policy.name,))

    @property
    def size(self) -> int:
        """How much was found, which grows with what is new; no policy is asked for it."""
        return sum(len(flow.operations) for flow in self.flows) + len(self.unexamined)

    @property  # type: ignore[misc]
    def operations(self) -> int:
        """How many operations were compared, in every pass."""
        _count_all()
        every = (each for flow in self.flows for each in flow.operations)
        return sum(each.count for each in every if each.kind in COMPARED)

    @operations.setter
    def operations(self, count: int) -> None:
        """The flows have it."""

    @property
    def understood(self) -> float:
        """The share of calls that compute or make arrays which is understood, from 0 to 1."""
        _count_all()
        total = sum(n for (kind, _), n in tuple(self.calls.items()) if kind in KINDS)
        unknown = sum(n for (kind, _), n in tuple(self.calls.items()) if kind == UNKNOWN)
        return 1 - unknown / total if total else 1.0

    def __getstate__(self) -> dict[str, Any]:
        _count_all()
        # The policies are asked again by whoever reads it.
        fresh = RecordedReport(self.run, self.policies)
        unasked = {name: vars(fresh)[name] for name in (*_ASKED, "_version", "_states")}
        return vars(self) | unasked | {"_found": []} if self.flows else super().__getstate__()

    def merge(self, other: Results) -> None:
        """Add what another process of a run has found."""
        if not isinstance(other, RecordedReport):
            super().merge(other)
        else:
            unasked: RecordedReport = object.__new__(RecordedReport)
            unasked.__setstate__(other.__getstate__())
            unasked.flows = []
            super().merge(unasked)
            self.flows += other.flows
            self.lost += other.lost
            self.checked += other.checked
            for name in ("calls", "drift", "warned", "unread"):
                getattr(self, name).update(getattr(other, name))
            for name in ("framework", "beside", "failed"):
                setattr(self, name, getattr(self, name) or getattr(other, name))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data."""
        return super().to_dict() | {
            "framework": self.framework,
            "calls": [
                {"kind": kind, "name": name, "count": n}
                for (kind, name), n in sorted(self.calls.items())
            ],
            "understood": self.understood,
            "drift": [
                each._asdict() | {"form": _FORMS[each.form], "count": n}
                for each, n in self.drift.most_common()
            ],
            "unexamined": [
                {"what": e.what, "why": e.why, "file": e.program.file, "line": e.program.line}
                | {"count": n}
                for e, n in self.unexamined.items()
                if e.program
            ],
            "warned": [each.to_dict() | {"count": n} for each, n in self.warned.items()],
        }

    def recorded(self) -> Iterator[str]:
        """Say what was understood of the program, a line each."""
        _count_all()
        by_kind: dict[str, Counter[str]] = {kind: Counter() for kind in (*KINDS, UNSEEN)}
        for (kind, name), n in tuple(self.calls.items()):
            if kind != EAGER:
                by_kind[kind][name] += n
        unseen = by_kind.pop(UNSEEN)
        totals = {kind: names.total() for kind, names in by_kind.items() if names}
        counts = [f"{n} {KINDS[kind][0 if n == 1 else -1]}" for kind, n in totals.items()]
        total = sum(totals.values())
        yield f"{counted(total, 'call')} recorded{': ' * bool(counts)}{', '.join(counts)}."
        if by_kind[APPROXIMATE]:
            yield f"approximate: {_most(by_kind[APPROXIMATE])}"
        if by_kind[UNKNOWN]:
            yield f"not understood: {_most(by_kind[UNKNOWN])}"
        if unseen:
            yield f"not seen, as no Python function is called there: {_most(unseen)}"
        yield from self.eagerly()

    def eagerly(self) -> Iterator[str]:
        """Say which calls ran eagerly that are compiled else, a line each."""
        for (kind, name), n in tuple(self.calls.items()):
            if kind == EAGER:
                yield f"{counted(n, 'call')} of what {name} compiles ran eagerly: {_BITS}."

    def drifted(self) -> Iterator[str]:
        """Say where our policy of the framework differs from the framework, a line each."""
        for each, n in self.drift.most_common():
            yield f"{each}  ×{n}"

    def drift_in_words(self) -> Iterator[str]:
        """Say how our policy of the framework and the framework compare, a line each."""
        if not self.drift:
            yield f"{self.run.name} gives every dtype that {self.framework} gave."
            return
        yield f"{self.run.name} differs from {self.framework}:"
        yield from (f"    {line}" for line in self.drifted())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from super().__rich_console__(console, options)
        if self.calls:
            from rich.text import Text

            # The report has named what was not examined.
            for line in (next(self.recorded()), *self.eagerly()):
                yield from folded(Text(line, "dim"), console, options.max_width)


_BITS = "compiled, the last bits of results, and random numbers, may differ"


@cache
def _standing_in(home: Policy, name: str) -> Policy:
    """What answers in place of a policy that is not asked: the library itself."""
    return home.derive(name)


def _count_all() -> None:
    for tell in BEFORE_READING:
        tell()


_THE_RUNS = "what the program makes of it is the run's"

_ASKED = "_found", "agreed", "assumed", "signatures", "unanswered", "value_changes"
"""The attributes that are the policies' answers."""


def _asked(name: str) -> Any:
    """An attribute for which the policies are asked first."""

    def read(self: RecordedReport) -> Any:
        self._ask()
        return vars(self)[name]

    def write(self: RecordedReport, value: Any) -> None:
        vars(self)[name] = value

    return property(read, write)


for _name in _ASKED:
    setattr(RecordedReport, _name, _asked(_name))


def _most(names: Counter[str]) -> str:
    shown = ", ".join(f"{name} ×{n}" for name, n in names.most_common(_SHOWN))
    return f"{shown} and {len(names) - _SHOWN} others" if len(names) > _SHOWN else shown


_SHOWN = 12
