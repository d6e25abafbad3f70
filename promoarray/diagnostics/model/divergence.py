"""Places of a program, and what each policy answers there: where they differ, and where not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.calls.examined import made_dtype
from promoarray.diagnostics.model.final import FinalDType
from promoarray.diagnostics.model.slots import RefusedOperation
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import is_installed

DEFAULT_DTYPE = "default dtype"
"""The operation of a place that makes an array of Python numbers."""

ASKED_DTYPE = "dtype"
"""The operation of a place that makes an array of a dtype that the program asks for."""

ENTRY = "entry"
"""The operation of a place at which data of another library come in as a narrower dtype."""


class DefaultMade(NamedTuple):
    """An array made of Python numbers, with no dtype named."""

    weak: DType  # of the numbers
    lone: bool  # whether it was made of one number alone
    function: str = ""  # the framework's function that made it; "" where that says no more
    # what the policies were seen to make, where that is not what they make of such numbers
    answers: tuple[tuple[str, DType], ...] = ()

    def dtype(self, policy: Policy) -> DType:
        """The dtype that the policy's framework makes there."""
        usual = made_dtype(self.function, _LIKE[self.weak.code], policy)
        return dict(self.answers).get(policy.name, usual)


_LIKE = {"b*": False, "i*": 0, "f*": 0.0, "c*": 0j}


class Entered(NamedTuple):
    """Data that the framework narrows as they come in."""

    source: DType
    target: DType
    # which operands of the call they are; none where it makes an array of them
    operands: tuple[int, ...]


UNKNOWN = "unknown"
"""The origin of an answer that hangs on a refusal for which there is no edit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one policy says at one place."""

    dtype: DType | None  # None where it refuses
    reason: str  # why it refuses
    # ``""`` where it agrees with the run; ``"root"`` where it answers otherwise for the run's own
    # operands, too; ``"inherits"`` where only the operands differ, because of an earlier line;
    # ``"unknown"`` where an earlier line is refused and has no edit
    origin: str
    operands: tuple[str, ...]  # the operands' dtypes as this policy sees them
    fix: Any = None  # of a root: the edit after which it answers what the run answers
    # earlier refusals, after whose edits it answers this; without one of them it is unknown
    pending: frozenset[RefusedOperation] = frozenset()

    def __reduce__(self) -> tuple[type[Answer], tuple[object, ...]]:
        # As of ``Site``.
        given = self.dtype, self.reason, self.origin, self.operands, self.fix, self.pending
        return Answer, given

    def __str__(self) -> str:
        if self.origin == UNKNOWN:
            return "unknown"
        return self.dtype.name if self.dtype else "refuses"


@dataclass(slots=True)
class Divergence:
    """One place and operation at which the policies differ."""

    site: Site
    # the line of the program; the same place, unless the operation is one of a library
    program: Site
    name: str  # the operation
    operands: tuple[str, ...]  # the operands' dtypes in the run
    answers: Mapping[str, Answer]  # from policy name to Answer, the run's first
    count: int = 1  # how often the place was passed with these answers
    form: Form = Form.OPERATOR  # how the operation is written
    # of a program that was recorded: the framework, in whose words its edits are written
    framework: str = ""
    # of a program that was recorded: the framework's function that the operation is a step of
    part_of: str = ""
    # the events of further passes, of operands of the same dtypes and of other numbers
    passes: list[Any] = field(default_factory=list)
    # what was done there, without data: an OperationEvent or a SetitemEvent, DefaultMade, Entered;
    # None of what follows from the dtypes
    event: Any = None
    part: int = 0  # which of several operations of one expression it is: ``a < b < c`` has two
    # whether its operands stand in the source as they are, so that they can be cast there
    edited: bool = True
    # the names that the framework's namespace has at a line of the program
    names: tuple[str, ...] = ()

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        slots = {each.name: getattr(self, each.name) for each in fields(self)}
        policy = getattr(self.event, "policy", None)
        if policy is not None and not is_installed(policy):  # whoever reads this may not know it
            slots |= {"passes": [], "event": None}
        return None, slots

    @property
    def differs(self) -> bool:
        """Whether some policy gives another dtype than the run, or refuses.

        An assignment makes no dtype: its target has each policy's own.
        """
        answers = self.answers.values()
        if self.name == "setitem":
            return any(answer.dtype is None for answer in answers)
        return len({answer.dtype for answer in answers}) > 1

    @property
    def root(self) -> bool:
        """Whether some policy differs here for the first time."""
        return any(answer.origin == "root" for answer in self.answers.values())

    def add(self, other: Divergence) -> None:
        """Count the passes of another record of the place."""
        self.count += other.count
        known = {id(each) for each in (self.event, *self.passes)}  # not what they say
        self.passes += [e for e in (other.event, *other.passes) if id(e) not in known]

    @property
    def shown_at(self) -> Site:
        """The place; of arrays that a library makes with the default dtype, the program's line."""
        if self.name != DEFAULT_DTYPE or self.program == self.site:
            return self.site
        return replace(self.program, column=-1, expression=self.program.text)

    @property
    def line(self) -> tuple[str, int, str, int]:
        """The line of the program, and that of a library in it."""
        return self.program.file, self.program.line, self.site.file, self.site.line

    @property
    def key(self) -> tuple[object, ...]:
        """What two passes of one place with the same answers have in common."""
        dtypes = tuple(answer.dtype for answer in self.answers.values())
        return self.site, self.program, self.name, self.part, self.operands, dtypes


MOST = 1 << 16
"""Operations that are recorded at most; some 60 MiB."""


@dataclass
class Operations:
    """Operations of a run at which all policies agree.

    An edit of a line has to hold for every pass through it, those among them that need none.
    """

    # from the key of each to it
    found: dict[tuple[object, ...], Divergence] = field(default_factory=dict)
    complete: bool = True  # whether none was left out, as there were too many

    def record(self, operation: Divergence) -> Divergence:
        """Add an operation, or count it once more; return the one that is recorded."""
        known = self.found.get(operation.key)
        if known is not None:
            known.add(operation)
            return known
        self.complete &= len(self.found) < MOST
        if self.complete:
            self.found[operation.key] = operation
        return operation

    def merge(self, other: Operations) -> None:
        """Add those of another process, or of another run of the same program."""
        self.complete &= other.complete
        for each in other.found.values():
            self.record(each)


# -- answers that hang on a refusal without an edit --------------------------------------------


Unedited = dict[str, dict[RefusedOperation, Site]]
"""By policy: the refusals that have no edit, each with the line of the program."""


def unedited(divergences: Iterable[Divergence]) -> Unedited:
    """Return the refusals for which there is no edit in the program's own source."""
    found: Unedited = {}
    for each in divergences:
        for policy, answer in each.answers.items():
            if answer.dtype is None and answer.fix is None:
                refusal = RefusedOperation(each.name, each.operands)
                found.setdefault(policy, {}).setdefault(refusal, each.program)
    return found


def after(
    pending: Iterable[RefusedOperation], missing: dict[RefusedOperation, Site]
) -> Site | None:
    """Return the first line of those refusals that have no edit; None if all have one."""
    return min((missing[each] for each in pending if each in missing), default=None)


def settled(divergences: list[Divergence]) -> list[Divergence]:
    """Return places at which no policy answers what hangs on a refusal without an edit.

    A root is one for the run's own operands, and stays.
    """
    missing = unedited(divergences)
    return [_settled(each, missing) for each in divergences] if missing else divergences


def _settled(place: Divergence, missing: Unedited) -> Divergence:
    answers = dict(place.answers.items())
    changed = False
    for policy, answer in answers.items():
        line = after(answer.pending, missing.get(policy, {}))
        if line is not None and answer.origin != "root":
            reason = f"unknown after {line}"
            answers[policy] = replace(answer, dtype=None, reason=reason, origin=UNKNOWN, fix=None)
            changed = True
    return replace(place, answers=answers) if changed else place


def settled_finals(
    finals: Iterable[FinalDType], divergences: Iterable[Divergence]
) -> tuple[FinalDType, ...]:
    """Return the final dtypes that differ, or are unknown after a refusal without an edit."""
    missing = unedited(divergences)
    found = []
    for each in finals:
        others = dict(each.others)
        for policy, pending in each.pending.items():
            line = after(pending, missing.get(policy, {}))
            if line is not None:
                others[policy] = f"unknown after {line}"
        if others:
            found.append(each._replace(others=others))
    return tuple(found)
