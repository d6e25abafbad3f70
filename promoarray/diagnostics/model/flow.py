"""Operations of a run and their flow: which result feeds which operand.

No policy is asked while a program is recorded so; any can be asked afterwards (``replay.py``), and
the recording can be written to a file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.model.values import ValueChange, ValueChanges
from promoarray.dtypes import BY_CODE, DType
from promoarray.operations import Form

KINDS = OPERATION, DEFAULT, CAST, ASSIGNMENT, MADE, ENTRY, CALL, NODE = (
    *("operation", "default", "cast", "assignment"),
    *("made", "entry", "call", "node"),
)
"""Kinds of what is recorded."""

COMPARED = frozenset({OPERATION, DEFAULT, CAST, ASSIGNMENT, NODE})
"""Those that count as operations that were compared."""

COMPARISONS = frozenset({"equal", "greater", "greater_equal", "less", "less_equal", "not_equal"})
"""Operations of which bools are made in whatever dtype they compare."""

Source = tuple[int, int]
"""What made an array, as ``RecordedOperation.makes`` has it, and which of its results it is."""


class Given(NamedTuple):
    """An operand."""

    code: str  # of the dtype of an array, weak ones included; "" of a Python scalar
    flat: bool = True  # whether it has no axes
    value: Any = None  # a Python scalar, or the value of a 0-d array where that was read


class Place(NamedTuple):
    """Where an operation stands."""

    # the operation, and the line of the program that led there
    site: Site
    program: Site
    part: int = 0  # which of several operations of one expression it is
    names: tuple[str, ...] = ()  # the names of the framework's namespace there
    part_of: str = ""  # the framework's function that it is a step of
    edited: bool = True  # whether its operands stand in the source as they are


@dataclass
class RecordedOperation:
    """A distinct operation of a run."""

    kind: str  # one of those above
    name: str
    form: Form
    policy: str  # what it was carried out under
    operands: tuple[Given, ...]
    results: tuple[str, ...]  # the codes of their dtypes
    flat: bool  # whether the results have no axes
    options: dict[str, Any]  # what it takes besides, as far as a policy looks at it
    place: Place
    count: int = 0  # how often it was passed
    # for each operand the results that it was
    sources: list[set[Source]] = field(default_factory=list)
    # what its results are: the same number for operations that differ in values alone, at which no
    # policy looks
    makes: int = 0
    # calls of the program that may choose the dtype of what a library made, by their extents, each
    # with a keyword that it takes; None where what is called is not known
    choices: tuple[tuple[Any, str], ...] | None = field(default=None, repr=False, compare=False)

    def dtypes(self) -> tuple[DType, ...]:
        """The dtypes of its results."""
        return tuple(BY_CODE[code] for code in self.results)


def family(policy: str) -> str:
    """Return what a policy is an edition of: of a recorded library the name of its module."""
    return policy.partition("@")[0]


@dataclass
class Flow:
    """The operations of one process of a run, in the order in which they were met first."""

    operations: list[RecordedOperation] = field(default_factory=list)
    # by what they make, the first of each
    makers: dict[int, RecordedOperation] = field(default_factory=dict, repr=False, compare=False)
    # from the names of the program's globals to the results that they are
    finals: dict[str, Source] = field(default_factory=dict)
    # places at which the program read a dtype from an array: what is made of it is the run's
    unread: Counter[tuple[Site, Site]] = field(default_factory=Counter)
    # the casts whose values differ by policy, of the policies that were compared meanwhile
    values: ValueChanges = field(default_factory=ValueChanges)
    uncomputed: int = 0  # casts of lazy arrays by rules that differ, whose values were not computed

    def add(self, operation: RecordedOperation) -> int:
        """Add an operation that is passed once; return what it makes."""
        operation.makes = len(self.operations)
        self.operations.append(operation)
        self.makers[operation.makes] = operation
        return operation.makes

    def record_values(self, change: ValueChange) -> None:
        """Add a place at which the values of a cast differ, or what differs in one more pass."""
        self.values.add(change)
