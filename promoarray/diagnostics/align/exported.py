"""An ONNX file beside the program that it was exported from: inputs, and dtypes that changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from promoarray.console import counted, listed
from promoarray.diagnostics.align.departure import DTYPE, Departure
from promoarray.diagnostics.align.graph import Graph, Node, Value, distance
from promoarray.diagnostics.align.pairing import Pairing
from promoarray.diagnostics.align.rounding import begun
from promoarray.diagnostics.modelfile.question import Candidate
from promoarray.dtypes import BY_NAME

EXPORTED = "onnx"
"""The framework of a file's calls."""

SHOWN = 8
"""So many places of one kind of change are named."""


def candidates(graph: Graph | None) -> Iterator[Candidate]:
    """Yield what a run begins with, and then its other values: an input of a model is one."""
    first, every = (begun(graph), graph.values.values()) if graph else ((), ())
    for x in dict.fromkeys((*first, *every)):
        if x.array is not None and x.dtype:
            yield Candidate(x.dtype, x.array, frozenset(n.inside[:2] for n in x.readers))


def dtypes_changed(pairing: Pairing) -> list[Departure]:
    """Return the changes from one dtype to another between a program and a file, by these dtypes.

    A value is known by its numbers and the line that made it, of a constant the line that reads
    it; where the exporter left no lines, by what it is made of, and what is made of it. A cast
    that loses nothing, or is to the dtype in which the program computes with it, is promotion,
    written out.
    """
    if pairing.second.framework != EXPORTED:
        return []
    found: dict[tuple[str, str], list[tuple[Node, Value, Value]]] = {}
    changed: set[Value] = set()
    for node in (node for node in pairing.second.nodes if not node.step):
        constants = (x for x in node.operands if x.maker is None and x not in changed)
        follows = any(x in changed for x in node.operands)
        for x in (*constants, *node.results):
            y = _program_value(x, pairing)
            if y is None:
                changed.update((x,) if follows and x in node.results else ())
                continue
            changed.add(x)
            if not (follows and x in node.results):
                found.setdefault((y.dtype, x.dtype), []).append((node, x, y))
    return [_departure(some) for some in found.values()]


def _departure(some: list[tuple[Node, Value, Value]]) -> Departure:
    """The change of values from one dtype to another, of which the first is shown."""
    node, x, y = some[0]
    which = (
        f"a constant that {node.name} reads" if x in node.operands else f"what {node.name} makes"
    )
    cause = f"{y.dtype} in the program, {x.dtype} in the file: {which}"
    first = y.maker or next(iter(y.readers), None)
    departure = Departure(DTYPE, first, node, cause, y, x)
    places = dict.fromkeys(each.place.short for each, *_ in some[1:])
    if places:
        many = counted(len(some) - 1, "more value")
        departure.notes.append(f"{many}, of {listed([*places], most=SHOWN)}")
    short = node.inside.short
    departure.notes.append(
        f"if {x.dtype} is meant, make it {x.dtype} in the program, too; if not, put a Cast to "
        f"{y.dtype} there: {short}"
    )
    return departure


def _program_value(x: Value, pairing: Pairing) -> Value | None:
    """Return the program's value of another dtype that stands for one; None if none does."""
    theirs = pairing.first.values
    if x.array is None or not x.size or x.name in theirs:
        return None
    if x.maker and x.maker.name == "Cast" and (y := theirs.get(x.maker.operands[0].name)):
        return None if _is_promoted(x, y) else y
    alike = [y for y in theirs.values() if _is_near(x, y, pairing)]
    near = [y for y in alike if _at_one_place(x, y, pairing) and _tells(x, y)]
    return None if any(y.dtype == x.dtype for y in near) else next(iter(near), None)


def _is_near(x: Value, y: Value, pairing: Pairing) -> bool:
    if y.size != x.size or y.array is None or not y.dtype:
        return False
    most = pairing.explained(x, y) if x.inexact or y.inexact else 0.0
    return distance(y, x) <= most


def _tells(x: Value, y: Value) -> bool:
    """Whether two values of the same numbers are one: of a whole number alone, such as 0 and 1, of
    which there are many, the same operation has to make both."""
    numbers = x.ordered
    if numbers[0] != numbers[-1] or numbers[0] != np.rint(numbers[0]):
        return True
    operations = {n.operation for n in (x.maker, y.maker) if n is not None}
    return None not in (x.maker, y.maker) and len(operations) == 1 and "" not in operations


def _at_one_place(x: Value, y: Value, pairing: Pairing) -> bool:
    """Whether two values were made, or constants are read, at one line, or of the same."""
    mine = [x.maker] if x.maker else x.readers
    theirs = [y.maker] if x.maker and y.maker else y.readers
    if lines := {line for n in mine for line in n.frames}:
        return any(n.inside[:2] in lines for n in theirs)
    kin = {pairing.pairs[z] for n in mine for z in (*n.operands, *n.results) if z in pairing.pairs}
    return any(z in kin for n in theirs for z in (*n.operands, *n.results) if z is not y)


def _is_promoted(x: Value, y: Value) -> bool:
    """Whether a value is one of the program's, cast as its operation promotes it."""
    if not x.readers:
        return False
    if np.can_cast(BY_NAME[y.dtype].storage, BY_NAME[x.dtype].storage):
        return True
    return any(z.dtype == x.dtype for n in y.readers for z in (*n.operands, *n.results))
