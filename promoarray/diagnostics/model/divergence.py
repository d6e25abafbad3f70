"""A place of a program at which the policies differ, and what each of them answers there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.former_pickles import loads_former_pickles
from promoarray.diagnostics.model.slots import RefusedOperation
from promoarray.dtypes import DType
from promoarray.operations import Form

DEFAULT_DTYPE = "default dtype"
"""The operation of a place that makes an array of Python numbers."""

ASKED_DTYPE = "dtype"
"""The operation of a place that makes an array of a dtype that the program asks for."""

ENTRY = "entry"
"""The operation of a place at which data of another library come in as a narrower dtype."""


class Entered(NamedTuple):
    """Data that the framework narrows as they come in.

    Attributes
    ----------
    source, target : DType
    operands : tuple of int
        Which operands of the call they are; none where it makes an array of them.
    """

    source: DType
    target: DType
    operands: tuple[int, ...]


UNKNOWN = "unknown"
"""The origin of an answer that hangs on a refusal for which there is no edit."""


@loads_former_pickles
@dataclass(frozen=True, slots=True)
class Answer:
    """What one policy says at one place.

    Attributes
    ----------
    dtype : DType or None
        None where it refuses.
    reason : str
        Why it refuses.
    origin : str
        ``""`` where it agrees with the run; ``"root"`` where it answers otherwise for the run's
        own operands, too; ``"inherits"`` where only the operands differ, because of an earlier
        line; ``"unknown"`` where an earlier line is refused and has no edit.
    operands : tuple of str
        The operands' dtypes as this policy sees them.
    fix : Edit or None
        Of a root: the edit after which it answers what the run answers.
    pending : frozenset of RefusedOperation
        Earlier refusals, after whose edits it answers this; without one of them it is unknown.
    """

    dtype: DType | None
    reason: str
    origin: str
    operands: tuple[str, ...]
    fix: Any = None
    pending: frozenset[RefusedOperation] = frozenset()

    def __reduce__(self) -> tuple[type[Answer], tuple[object, ...]]:
        # As of ``Site``.
        given = self.dtype, self.reason, self.origin, self.operands, self.fix, self.pending
        return Answer, given

    def __str__(self) -> str:
        if self.origin == UNKNOWN:
            return "unknown"
        return self.dtype.name if self.dtype else "refuses"


class LazyAnswers(Mapping[str, Answer]):
    """From policy name to Answer, the run's first, which are put into words when they are read.

    Attributes
    ----------
    dtypes : dict
        The dtype of each, None where it refuses, which are known before.
    """

    __slots__ = ("dtypes",)
    dtypes: dict[str, DType | None]


@dataclass(slots=True)
class Divergence:
    """One place and operation at which the policies differ.

    Attributes
    ----------
    site : Site
    program : Site
        The line of the program; the same place, unless the operation is one of a library.
    name : str
        The operation.
    operands : tuple of str
        The operands' dtypes in the run.
    answers : mapping
        From policy name to Answer, the run's first.
    count : int
        How often the place was passed with these answers.
    form : Form
        How the operation is written.
    framework : str
        Of a program that was recorded: the framework, in whose words its edits are written.
    part_of : str
        Of a program that was recorded: the framework's function that the operation is a step of.
    passes : list of mapping
        The answers of further passes, of operands of the same dtypes and of other numbers.
    event : object
        What is no operation: the assignment, the cast, the default; without data.
    part : int
        Which of several operations of one expression it is: ``a < b < c`` has two.
    edited : bool
        Whether its operands stand in the source as they are, so that they can be cast there.
    names : tuple of str
        The names that the framework's namespace has at a line of the program.
    """

    site: Site
    program: Site
    name: str
    operands: tuple[str, ...]
    answers: Mapping[str, Answer]
    count: int = 1
    form: Form = Form.OPERATOR
    framework: str = ""
    part_of: str = ""
    passes: list[Mapping[str, Answer]] = field(default_factory=list)
    event: Any = None
    part: int = 0
    edited: bool = True
    names: tuple[str, ...] = ()

    def __setstate__(self, state: tuple[None, dict[str, object]]) -> None:
        _, slots = state
        former: dict[str, object] = {"form": Form.OPERATOR, "framework": "", "part_of": ""}
        former |= {"passes": [], "event": None}  # which 0.1.0 had not
        former |= {"part": 0, "names": (), "edited": True}
        for name, value in (former | slots).items():
            setattr(self, name, value)

    @property
    def differs(self) -> bool:
        """Whether some policy gives another dtype than the run, or refuses.

        An assignment makes no dtype: its target has each policy's own.
        """
        known = self.answers
        if self.name == "setitem":
            return any(answer.dtype is None for answer in known.values())
        if isinstance(known, LazyAnswers):
            return len({*known.dtypes.values()}) > 1
        return len({answer.dtype for answer in known.values()}) > 1

    @property
    def root(self) -> bool:
        """Whether some policy differs here for the first time."""
        return any(answer.origin == "root" for answer in self.answers.values())

    def add(self, other: Divergence) -> None:
        """Count the passes of another record of the place."""
        self.count += other.count
        known = {id(each) for each in (self.answers, *self.passes)}  # not what they say
        self.passes += [e for e in (other.answers, *other.passes) if id(e) not in known]

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
        known = self.answers
        dtypes = (
            tuple(known.dtypes.values())
            if isinstance(known, LazyAnswers)
            else tuple(answer.dtype for answer in known.values())
        )
        return self.site, self.program, self.name, self.part, self.operands, dtypes
