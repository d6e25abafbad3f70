"""Pairs the values of two runs, and finds where one first leaves the other.

A value is paired with one of the other run that is as near as rounding explains, which was measured
(``rounding``). A value of no counterpart is a step of something that the other run computes
otherwise, if what comes of it has one; else it is a departure, of which the first have operands
that are paired.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from promoarray.diagnostics.align.graph import Graph, Node, Value, distance
from promoarray.diagnostics.align.weights import Packed
from promoarray.dtypes import BY_NAME, INEXACT

FACTOR = 16.0
"""So many times what a typical rounding gives is explained by rounding."""

NEARER = 4.0

MOST = 0.05
"""More than this rounding explains nowhere."""

PAIRED, STEP, DEPARTS, UNKNOWN = "paired", "step", "departs", "unknown"


@dataclass
class Pairing:
    """The pairs of two runs."""

    first: Graph
    second: Graph
    # from those of the second run to those of the first
    pairs: dict[Value, Value] = field(default_factory=dict)
    state: dict[Value, str] = field(default_factory=dict)  # of the values of both
    noise: set[Value] = field(default_factory=set)  # what is rounding alone, and was not compared
    # which arrays of one run are several of the other's, side by side
    packed: Collection[Packed] = ()

    def __post_init__(self) -> None:
        self._back: dict[Value, list[Value]] = {}
        wholes = {x: self._parts(x, first=True) for x in self.first.values.values()}
        self._index = _Index(self.first, (each for some in wholes.values() for each in some))
        self._floor: dict[Value, float] = {}
        for graph in (self.first, self.second):
            self._floors(graph)
        inexact = (x for x in self.first.values.values() if x.inexact)
        narrow = (x for x in inexact if _epsilon(x.dtype) > _SINGLE)
        self._coarsest = max(map(self.explained, narrow), default=0.0)
        for x in dict.fromkeys((*_given(self.second), *_made(self.second))):
            self._pair(x)
        for mine, theirs in self.pairs.items():
            self._back.setdefault(theirs, []).append(mine)
        for x, some in wholes.items():
            if some and all(each in self._back for each in some):
                self._back.setdefault(x, self._back[some[0]])
        self.noise |= {
            x
            for x in (*_given(self.first), *_made(self.first))
            if x not in self._back and self.explained(x) > MOST
        }
        self.state.update(dict.fromkeys(self.noise, UNKNOWN))
        self._kin: dict[Value, list[Value]] = {}
        for node in self.first.nodes:
            for x in (x for x in node.results if x.maker is node):
                same = [y for y in node.operands if y.size == x.size and y.says]
                if y := next(
                    (y for y in same if _is_last_step(y, node) or not distance(y, x)), None
                ):
                    self._kin[x] = self._kin.setdefault(y, [y])
                    self._kin[x].append(x)
                    if y in self._back:
                        self._back.setdefault(x, self._back[y])
        for graph in (self.first, self.second):
            self._settle(graph)

    # -- pairs ------------------------------------------------------------------------------------

    def _floors(self, graph: Graph) -> None:
        """Note half a unit of what each value is made of, times the root of the number of terms."""
        coarse: dict[Value, float] = {}
        for node in graph.nodes:
            given = [coarse.setdefault(x, _epsilon(x.dtype)) for x in node.operands if x.inexact]
            terms = max((n for x in (*node.operands, *node.results) for n in x.shape), default=1)
            for x in node.results:
                if x.inexact:
                    coarse[x] = max(_epsilon(x.dtype), *given, 0.0)
                    self._floor[x] = coarse[x] * math.sqrt(terms)
        for x in coarse:
            self._floor.setdefault(x, coarse[x] * math.sqrt(max(x.shape, default=1)))

    def explained(self, x: Value, y: Value | None = None) -> float:
        """How far apart rounding has two values."""
        if not x.inexact:
            return 0.0
        both = [each for each in (x, y) if each is not None]
        return FACTOR * max(max(each.noise, self._floor.get(each, 0.0)) for each in both)

    def _pair(self, x: Value) -> None:
        """Pair a value with the nearest that rounding explains."""
        if x.array is None:
            self.state[x] = UNKNOWN
            return
        own = self.explained(x)
        coarse = self.first.measured and not self.second.measured
        most = MOST if coarse else min(MOST, max(own, self._coarsest))
        found = self._index.nearest(x, most, self.explained)
        if found is None and (parts := self._parts(x, first=False)):
            every = [self._index.nearest(each, most, self.explained) for each in parts]
            found = every[0] if all(every) else None
        if found is not None:
            self.pairs[x] = found
        elif own > MOST or (x.maker is None and self._may_be_noise(x)):
            self.state[x] = UNKNOWN
            self.noise.add(x)
        elif x.maker is None and x.inexact:
            self.state[x] = DEPARTS if self._may_depart(x) else UNKNOWN

    def _parts(self, x: Value, *, first: bool) -> list[Value]:
        """The weights, or their biases, that an array holds side by side; none of others."""
        for each in self.packed:
            length = each.shape[each.axis]
            if each.first is first and x.array is not None and x.shape in (each.shape, (length,)):
                axis = each.axis if x.shape == each.shape else 0
                return [
                    Value(f"{x.name}[{n}]", x.dtype, y.shape, y, noise=x.noise)
                    for n, y in enumerate(np.split(x.array, each.parts, axis))
                ]
        return []

    def _may_be_noise(self, x: Value) -> bool:
        """Whether the first has a gradient of the size that is noise, and this was not measured."""
        return not self.second.measured and any(
            each.size == x.size and FACTOR * each.noise > MOST for each in _given(self.first)
        )

    def _may_depart(self, x: Value) -> bool:
        return any(each.size == x.size and each.inexact for each in _given(self.first))

    # -- what has none ----------------------------------------------------------------------------

    def _settle(self, graph: Graph) -> None:
        """Say of every value what it is, the last first."""
        paired = self._back if graph is self.first else self.pairs
        leads: set[Value] = set()
        for node in reversed(graph.nodes):
            tells = node.operation not in _CHOOSE
            own = [x for x in node.results if x.maker is node]
            good = [x for x in own if (tells and x.says and self._proves(x, graph)) or x in leads]
            kept = dict(node.replaced)
            if good:  # what is written over leads to what is written: a running average, say
                leads.update(x for x in node.operands if kept.get(x, x) in (x, *good))
        for node in graph.nodes:
            unknown = any(self.state.get(x) == UNKNOWN and x.size for x in node.operands)
            for x in node.results:
                if x in paired:
                    self.state[x] = PAIRED
                elif unknown and x.maker is node:
                    self.state.setdefault(x, UNKNOWN)
                elif x in leads or _FILLS.search(node.name):
                    self.state.setdefault(x, STEP)
                elif x.maker is node:
                    self.state.setdefault(x, STEP if node.for_shapes else DEPARTS)

    def _proves(self, x: Value, graph: Graph) -> bool:
        """Whether a value is so near its counterpart that what it is made of is right: of a number
        alone, such as a loss in which differences cancel, that is nearer than of an array."""
        others = self._back.get(x, []) if graph is self.first else [self.pairs.get(x)]
        return any(
            y is not None and (x.size > 1 or NEARER * distance(y, x) <= self.explained(x, y))
            for y in others
        )

    def frontier(self, graph: Graph) -> Iterator[Node]:
        """Yield the nodes at which a run departs first: their operands do not."""
        for node in graph.nodes:
            known = all(self.state.get(x, PAIRED) in (PAIRED, STEP) for x in node.operands)
            if known and self.departing(node):
                yield node

    def unpaired(self) -> Iterator[Node]:
        """Yield the nodes of the first run that make what has no pair, of what has one."""
        for node in self.first.nodes:
            given = [x for x in node.operands if x.inexact]
            known = given and all(map(self.is_paired, given))
            if known and node.results and not self.is_paired(node.results[0]):
                yield node

    def departing(self, node: Node) -> list[Value]:
        """Return the results that depart: its first, and others that something reads."""
        return [
            x
            for n, x in enumerate(node.results)
            if self.state.get(x) == DEPARTS and x.maker is node and (x.readers or n == 0)
        ]

    def kin(self, x: Value) -> list[Value]:
        """Return the values of the first run that are one, in whatever layout."""
        return self._kin.get(x, [x])

    def of_second(self, x: Value) -> list[Value]:
        """Return the values of the second run whose pair a value of the first is."""
        return self._back.get(x, [])

    def is_paired(self, x: Value) -> bool:
        """Whether a value of the first run is one of a pair."""
        return x in self._back

    def common(self, mine: Node, theirs: Node, *, steps: bool = False) -> int:
        """How many operands of two nodes, or of the steps of the second's, are pairs, or of one."""
        roots = self._roots(mine, self.pairs, steps=steps)
        return len(roots & self._roots(theirs, None))

    def _roots(
        self, node: Node, pairs: dict[Value, Value] | None, *, steps: bool = False
    ) -> set[Value]:
        """The paired values that a node is made of, as those of the first run."""
        found: set[Value] = set()
        left, seen = [*node.operands], set[Value]()
        while left:
            x = left.pop()
            if x in seen:
                continue
            seen.add(x)
            paired = x.maker is None or x in self._back if pairs is None else x in pairs
            if paired:
                found.add(self.kin(x if pairs is None else pairs[x])[0])
            made = x.maker
            own = steps and made is not None and bool(made.step) and made.number == node.number
            if made is not None and (own if paired else not _FILLS.search(made.name)):
                left += made.operands
        return found


def _is_last_step(y: Value, node: Node) -> bool:
    same = y.maker is not None and y.maker.number == node.number
    return same and bool(y.maker and y.maker.step) and not node.step


_CHOOSE = frozenset({"max", "min", "argmax", "argmin", "maximum", "minimum", "clip", "sort"})
"""What may be the same of operands that are not."""


_FILLS = re.compile(r"(_like|\b(zeros|ones|full|empty)_?)$")
"""What makes arrays of no values that it is given: what is wrong with them, their use shows."""


def made_of_numbers(node: Node) -> bool:
    """Whether what a node makes is made of no data: of ones, positions and the like alone."""
    left, seen = [node], set[Node]()
    while left:
        each = left.pop()
        if each in seen:
            continue
        seen.add(each)
        makers = [x.maker for x in each.operands]
        if None in makers or not (makers or _NUMBERS.search(each.name)):
            return False
        left += [maker for maker in makers if maker is not None]
    return True


_NUMBERS = re.compile(r"\b(zeros|ones|full|arange|eye|tri|linspace|iota)$")


def _epsilon(dtype: str) -> float:
    """Half a unit in the last place, relative; of a step that of float32, which it is taken for."""
    known = BY_NAME[dtype or "float32"]
    if known.kind not in INEXACT or known.format is None:
        return _SINGLE
    return float(2.0 ** -(known.format.mantissa + 1))


_SINGLE = 2.0**-24
"""Half a unit in the last place of float32."""


def _made(graph: Graph) -> Iterator[Value]:
    for node in graph.nodes:
        yield from (x for x in node.results if x.maker is node)


def _given(graph: Graph) -> list[Value]:
    """The values that come from outside."""
    found: dict[Value, None] = {}
    for node in graph.nodes:
        for x in node.operands:
            if x.maker is None and x.array is not None:
                found.setdefault(x)
    return [*found]


class _Index:
    """The values of a run by their size, ordered by what no layout changes."""

    def __init__(self, graph: Graph, parts: Iterable[Value]) -> None:
        every: dict[Value, None] = dict.fromkeys(parts)
        for node in graph.nodes:
            every.update(dict.fromkeys((*node.operands, *node.results)))
        self._by_size: dict[int, list[tuple[float, int, Value]]] = {}
        self._same = {x.name: x for x in every}
        for number, x in enumerate(every):
            if x.array is not None and x.size:
                self._by_size.setdefault(x.size, []).append((x.norm, number, x))
        for some in self._by_size.values():
            some.sort(key=lambda each: each[:2])

    def nearest(
        self, x: Value, most: float, explained: Callable[[Value, Value], float]
    ) -> Value | None:
        """Return the nearest value that rounding explains."""
        if x.name in self._same:
            return self._same[x.name]
        if x.array is None:
            return None
        some = self._by_size.get(x.size, [])
        low, high = x.norm * (1 - most) - 1e-300, x.norm * (1 + most) + 1e-300
        start = bisect_left(some, low, key=lambda each: each[0])
        end = bisect_right(some, high, key=lambda each: each[0])
        found, least = None, math.inf
        for _, _, other in some[start:end]:
            apart = distance(other, x)
            if apart < least and apart <= min(MOST, explained(x, other)):
                found, least = other, apart
        return found
