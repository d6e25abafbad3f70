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

OPERATION, DEFAULT, CAST, ASSIGNMENT, MADE, ENTRY, CALL = (
    *("operation", "default", "cast", "assignment"),
    *("made", "entry", "call"),
)
COMPARED = frozenset({OPERATION, DEFAULT, CAST, ASSIGNMENT})
"""Those that count as operations that were compared."""

"""Kinds of what is recorded."""

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

    def dtypes(self) -> tuple[DType, ...]:
        """The dtypes of its results."""
        return tuple(BY_CODE[code] for code in self.results)


@dataclass
class Flow:
    """The operations of one process of a run, in the order in which they were met first."""

    operations: list[RecordedOperation] = field(default_factory=list)
    # from the names of the program's globals to the results that they are
    finals: dict[str, Source] = field(default_factory=dict)
    # places at which the program read a dtype from an array: what is made of it is the run's
    unread: Counter[tuple[Site, Site]] = field(default_factory=Counter)
    # the casts whose values differ by policy, of the policies that were compared meanwhile
    values: ValueChanges = field(default_factory=ValueChanges)
    uncomputed: int = 0  # casts of lazy arrays by rules that differ, whose values were not computed

    def record_values(self, change: ValueChange) -> None:
        """Add a place at which the values of a cast differ, or what differs in one more pass."""
        self.values.add(change)


# -- as data --------------------------------------------------------------------------------------


def as_data(flow: Flow) -> dict[str, Any]:
    """Return a flow as data for JSON: sites and places once, each by its number after that."""
    sites: dict[Site, int] = {}
    places: dict[Place, int] = {}

    def number(site: Site) -> int:
        return sites.setdefault(site, len(sites))

    def at(place: Place) -> int:
        return places.setdefault(place, len(places))

    operations = [_operation_data(each, at(each.place)) for each in flow.operations]
    rows = [
        [number(p.site), number(p.program), p.part, list(p.names), p.part_of, p.edited]
        for p in places
    ]
    return {
        "operations": operations,
        "places": rows,
        "sites": [
            [s.file, s.line, s.column, s.text, s.expression, list(s.extent), s.stores]
            for s in sites
        ],
        "finals": {name: list(source) for name, source in flow.finals.items()},
    }


def _operation_data(each: RecordedOperation, place: int) -> dict[str, Any]:
    return vars(each) | {
        "form": each.form.name,
        "operands": [[g.code, g.flat, value_data(g.value)] for g in each.operands],
        "results": list(each.results),
        "place": place,
        "sources": [sorted(map(list, found)) for found in each.sources],
    }


def from_data(data: dict[str, Any]) -> Flow:
    """Return a flow from data.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it is no such data.
    """
    sites = [
        Site(file, line, column, text, expression, tuple(extent), stores)
        for file, line, column, text, expression, extent, stores in data["sites"]
    ]
    places = [
        Place(sites[row[0]], sites[row[1]], row[2], tuple(row[3]), row[4], row[5])
        for row in data["places"]
    ]
    operations = [_operation(row, places) for row in data["operations"]]
    finals = {name: (number, which) for name, (number, which) in data["finals"].items()}
    flow = Flow(operations, finals)
    _check(flow)
    return flow


def _operation(row: dict[str, Any], places: list[Place]) -> RecordedOperation:
    read = {
        "form": Form[row["form"]],
        "operands": tuple(Given(code, flat, value_of(x)) for code, flat, x in row["operands"]),
        "results": tuple(row["results"]),
        "options": dict(row["options"]),
        "place": places[row["place"]],
        "sources": [{(number, which) for number, which in found} for found in row["sources"]],
    }
    return RecordedOperation(**row | read)


def _check(flow: Flow) -> None:
    """Raise ValueError where a source is no result."""
    every = [found for each in flow.operations for found in each.sources]
    made = {(each.makes, n) for each in flow.operations for n in range(len(each.results))}
    for number, which in {*flow.finals.values()}.union(*every) - made:
        raise ValueError(f"nothing makes {number}, or it has no result {which}")


def value_data(value: Any) -> Any:
    """Return a number as data that keeps it exactly."""
    match value:
        case None | bool():
            return value
        case int():
            return {"int": str(value)}
        case float():
            return {"float": value.hex()}
    return {"complex": [value.real.hex(), value.imag.hex()]}


def value_of(data: Any) -> Any:
    """Return the number that data stand for."""
    match data:
        case None | bool():
            return data
        case {"int": str(digits)}:
            return int(digits)
        case {"float": str(digits)}:
            return float.fromhex(digits)
        case {"complex": [str(real), str(imag)]}:
            return complex(float.fromhex(real), float.fromhex(imag))
    raise ValueError(f"{data!r} is no number")
