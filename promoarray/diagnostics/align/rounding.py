"""Rounding of a run, measured: how far its values move if what it begins with moves by a unit.

What a program makes of rounding hangs on its values: a sum that cancels, an exponential, or an
optimizer's first step, which has the signs of gradients. So a run is repeated with the weights and
inputs a unit in the last place off, and the distance of the two runs stands for rounding.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping

import numpy as np

from promoarray.diagnostics.align.graph import Graph, Node, Value, distance
from promoarray.diagnostics.align.weights import CASTS, drawn
from promoarray.diagnostics.record.saved import member
from promoarray.diagnostics.record.tape import Array
from promoarray.dtypes import BY_NAME
from promoarray.io.reading import explained

Place = tuple[int, str, str, int]
"""A value of a run: its call, the step, whether it is an operand or a result, and its place."""


def moved(graph: Graph, given: Mapping[str, Array]) -> dict[str, Array]:
    """Return what a run begins with, each number a unit in the last place up or down.

    Whole numbers stay: they are counts, masks and labels.

    Parameters
    ----------
    graph : Graph
    given : mapping of str to array
        What the run goes on with already, by the value that it replaces.
    """
    draw = np.random.default_rng(0)
    found: dict[str, Array] = {}
    for x in dict.fromkeys((*drawn(graph).values(), *begun(graph))):
        if x.inexact and x.array is not None:
            found[x.name] = _moved(given.get(x.name, x.array), _unit(x), draw)
    for name in given.keys() - found.keys():
        found[name] = _moved(given[name], _unit(graph.values.get(name)), draw)
    return found


def moved_again(made: Mapping[tuple[int, int], Array]) -> dict[tuple[int, int], Array]:
    """Return results that a run goes on with, each number a unit up or down."""
    draw = np.random.default_rng(1)
    units = {16: 2.0**-10, 64: 2.0**-52}
    return {key: _moved(x, units.get(8 * x.itemsize, 2.0**-23), draw) for key, x in made.items()}


def begun(graph: Graph) -> Iterator[Value]:
    for node in graph.nodes:
        yield from (x for x in node.operands if x.maker is None)
        if not any(x.array is not None for x in node.operands) and "empty" not in node.name:
            yield from node.results


def _unit(x: Value | None) -> float:
    """A unit in the last place, relative, of the dtype that it is read in."""
    readers = [n for n in x.readers if n.name.rpartition(".")[2] in CASTS] if x else []
    dtypes = [x.dtype if x else "float32", *(y.dtype for n in readers for y in n.results)]
    formats = [BY_NAME[name].format for name in dtypes]
    return 2.0 ** -min((f.mantissa for f in formats if f is not None), default=23)


def _moved(array: Array, unit: float, draw: np.random.Generator) -> Array:
    with np.errstate(all="ignore"):
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        if np.all(wide == np.rint(wide)):
            return array
        found: Array = wide * (1 + unit * draw.choice((-1.0, 1.0), array.shape))
        return found.astype(array.dtype)


def measured(graph: Graph, again: Graph) -> dict[Place, float]:
    """Return how far the values of a run are from those of another whose beginning was moved.

    Where the runs do other calls, nothing that follows is known: it is infinitely far.
    """
    found: dict[Place, float] = {}
    others = dict(_values(again))
    for place, x in _values(graph):
        y = others.get(place)
        found[place] = _apart(x, y) if y is not None else float("inf")
    return found


def _apart(x: Value, y: Value) -> float:
    if not x.inexact or x.array is None or y.array is None:
        return 0.0
    return distance(x, y) if x.size == y.size else float("inf")


def _values(graph: Graph) -> Iterator[tuple[Place, Value]]:
    def of(node: Node) -> Iterator[tuple[Place, Value]]:
        for n, x in enumerate(node.results):
            yield (node.number, node.step, "result", n), x
        for n, x in enumerate(node.operands):
            if x.maker is None:
                yield (node.number, node.step, "operand", n), x

    for node in graph.nodes:
        yield from of(node)


def note(graph: Graph, noise: Mapping[Place, float]) -> Graph:
    """Have the values of a run know how far rounding moves them; return the run."""
    for place, x in _values(graph):
        x.noise = max(x.noise, noise.get(place, 0.0))
    graph.measured = graph.measured or bool(noise)
    return graph


# -- in a file -------------------------------------------------------------------------------------

NOISE = "noise.json"
"""Member of a saved run with what was measured: call, step, operand or result, place, distance."""


def noise_text(noise: Mapping[Place, float]) -> str:
    """Return what was measured as JSON."""
    rows = [[*place, repr(apart)] for place, apart in noise.items() if apart]
    return json.dumps(rows, separators=(",", ":"))


def saved_noise(path: str) -> dict[Place, float]:
    """Return what was measured of a saved run; nothing of one that was not.

    Raises
    ------
    ValueError
    """
    with explained(f"{path} holds no run that align has saved"):
        with zipfile.ZipFile(path) as archive:
            if NOISE not in archive.namelist():
                return {}
        rows = json.loads(member(path, NOISE))
        return {(number, step, kind, n): float(apart) for number, step, kind, n, apart in rows}
