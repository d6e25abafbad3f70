"""Pairs the values of two runs, and finds where one first leaves the other.

A value is paired with one of the other run that is as near as rounding explains: by the dtype, the
number of terms, and how far apart the operands are already. A value of no counterpart is a step of
something that the other run computes otherwise, if what comes of it has one; else it is a
departure, of which the first have operands that are paired.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from promoarray.diagnostics.align.graph import Graph, Node, Value, distance
from promoarray.dtypes import BY_NAME, INEXACT

FACTOR = 16.0
"""So many times what a typical rounding gives is explained by rounding."""

MOST = 0.05
"""More than this rounding explains nowhere."""

NOISE = 1e-6
"""A gradient that is so much less than the greatest is rounding alone."""

PAIRED, STEP, DEPARTS, UNKNOWN = "paired", "step", "departs", "unknown"


@dataclass
class Pairing:
    """The pairs of two runs.

    Attributes
    ----------
    pairs : dict of Value to Value
        From those of the second run to those of the first.
    apart : dict of Value to float
        How far a pair is apart; of others what is explained so far.
    state : dict of Value to str
        Of the values of both.
    """

    first: Graph
    second: Graph
    pairs: dict[Value, Value] = field(default_factory=dict)
    apart: dict[Value, float] = field(default_factory=dict)
    state: dict[Value, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._back: dict[Value, list[Value]] = {}
        self._index = _Index(self.first)
        for x in _given(self.second):
            self._take_in(x)
        self._judge_noise()
        for node in self.second.nodes:
            self._pair(node)
        for mine, theirs in self.pairs.items():
            self._back.setdefault(theirs, []).append(mine)
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

    def _take_in(self, x: Value) -> None:
        """Pair a value that comes from outside: an input, a weight, or a gradient."""
        found = self._index.nearest(x, self._explained_outside(x))
        if found is not None:
            self.pairs[x], self.apart[x] = found
        elif x.inexact and x.maker is None:
            self.state[x] = DEPARTS if self._may_depart(x) else UNKNOWN

    def _explained_outside(self, x: Value) -> float:
        if not x.inexact:
            return 0.0
        return 256 * _epsilon(x.dtype) * math.sqrt(max(1, *x.shape, 1))

    def _may_depart(self, x: Value) -> bool:
        return any(each.size == x.size and each.inexact for each in _given(self.first))

    def _judge_noise(self) -> None:
        """Leave alone gradients that are nothing but rounding."""
        self.noise: set[Value] = set()
        for graph in (self.first, self.second):
            given = [x for x in _given(graph) if x.says and x.readers and x.readers[0].number]
            most = max((x.norm for x in given), default=0.0)
            for x in given:
                if x not in self.pairs and x.norm < NOISE * most:
                    self.state[x] = UNKNOWN
                    self.noise.add(x)

    def _pair(self, node: Node) -> None:
        known = [self.apart.get(x, 0.0) for x in node.operands]
        for x in node.results:
            if x in self.pairs or x.maker is not node:
                continue
            if x.array is None:
                self.state[x], self.apart[x] = UNKNOWN, max(known, default=0.0)
                continue
            self.apart[x] = error = expected(node, x, known, self.pairs)
            found = self._index.nearest(x, min(MOST, FACTOR * error))
            if found is not None:
                self.pairs[x] = found[0]
                self.apart[x] = max(found[1], 0.0)

    # -- what has none ----------------------------------------------------------------------------

    def _settle(self, graph: Graph) -> None:
        """Say of every value what it is, the last first."""
        paired = self._back if graph is self.first else self.pairs
        leads: set[Value] = set()
        for node in reversed(graph.nodes):
            tells = node.operation not in _CHOOSE
            own = [x for x in node.results if x.maker is node]
            good = [x for x in own if (x in paired and x.says and tells) or x in leads]
            kept = dict(node.replaced)
            if good:  # what is written over leads to what is written: a running average, say
                leads.update(x for x in node.operands if kept.get(x, x) in (x, *good))
        for node in graph.nodes:
            unknown = any(self.state.get(x) == UNKNOWN for x in node.operands)
            for x in node.results:
                if x in paired:
                    self.state[x] = PAIRED
                elif unknown and x.maker is node:
                    self.state.setdefault(x, UNKNOWN)
                elif x in leads or _FILLS.search(node.name):
                    self.state.setdefault(x, STEP)
                elif x.maker is node:
                    self.state.setdefault(x, DEPARTS)

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

    def is_paired(self, x: Value) -> bool:
        """Whether a value of the first run is one of a pair."""
        return x in self._back

    def common(self, mine: Node, theirs: Node) -> int:
        """How many operands of two nodes are pairs, or come of one."""
        roots = self._roots(mine, self.pairs)
        return len(roots & self._roots(theirs, None))

    def _roots(self, node: Node, pairs: dict[Value, Value] | None) -> set[Value]:
        """The paired values that a node is made of, as those of the first run."""
        found: set[Value] = set()
        left, seen = [*node.operands], set[Value]()
        while left:
            x = left.pop()
            if x in seen:
                continue
            seen.add(x)
            if pairs is not None and x in pairs:
                found.add(pairs[x])
            elif pairs is None and (x in self._back or x.maker is None):
                found.add(x)
            elif x.maker is not None:
                left += x.maker.operands
        return found


def _is_last_step(y: Value, node: Node) -> bool:
    return y.maker is not None and y.maker.number == node.number and bool(y.maker.step)


def expected(node: Node, x: Value, known: Sequence[float], pairs: Mapping[Value, Value]) -> float:
    """Return how far apart two results are by rounding, theirs and that of what they are made of.

    Parameters
    ----------
    node : Node
        That made them.
    x : Value
    known : sequence of float
        How far apart its operands are.
    pairs : mapping of Value to Value
    """
    if not x.inexact:
        return 0.0
    terms = max((max(each.shape, default=1) for each in (*node.operands, x)), default=1)
    given = [
        (each, apart)
        for each, apart in zip(node.operands, known, strict=True)
        if each.array is not None and each.inexact
    ]
    dtypes = [each.dtype for each in (x, *(each for each, _ in given)) if each.dtype]
    own = max((_epsilon(dtype) for dtype in dtypes), default=_epsilon("float32"))
    own *= math.sqrt(terms)
    rms = x.norm / x.size**0.5 if x.size else 0.0
    shares = [each.norm / each.size**0.5 / rms if rms and each.size else 1.0 for each, _ in given]
    if node.operation in _SUMS:
        carried = sum(apart * share for (_, apart), share in zip(given, shares, strict=True))
        return min(MOST, own * max(1.0, *shares, 1.0) + carried)
    carried, growth = max(known, default=0.0), 1.0
    for (each, apart), share in zip(given, shares, strict=True):
        if not (each.size and rms):
            continue
        if node.operation in _CANCEL:
            growth = max(growth, share)
        if node.name.endswith(_POWERS) or node.operation in _POWERS:
            spread = float(each.ordered[-1] - each.ordered[0])
            growth = max(growth, spread if math.isfinite(spread) else 1.0)
        if node.operation in _SCALE or node.name.rpartition(".")[2].startswith(_QUOTIENTS):
            carried = max(carried, _magnified(each, x, apart, pairs.get(each)))
    return min(MOST, growth * (own + carried))


def _magnified(each: Value, x: Value, apart: float, pair: Value | None) -> float:
    """How far apart quotients, products and powers are, whose operand is so far apart.

    An element that is small among its own has no digit that is sure, and a quotient makes it as
    great as the others: an optimizer's first step has the signs of gradients.
    """
    off = apart * each.norm / each.size**0.5
    if pair is not None and pair.array is not None and pair.shape == each.shape:
        off = np.minimum(off * each.size**0.5, np.abs(pair.wide - each.wide))
    if each.array is None or not apart:
        return 0.0
    with np.errstate(all="ignore"):
        share = np.minimum(1.0, np.nan_to_num(off / np.abs(each.wide), nan=0.0))
        try:
            lost = np.abs(x.wide) * share
        except ValueError:  # what is not of the same axes
            return 0.0
        found = float(np.sqrt(np.square(lost[np.isfinite(lost)]).sum()))
    return found / math.sqrt(lost.size / x.size) / x.norm


_SCALE = frozenset({"divide", "sqrt", "rsqrt", "pow", "reciprocal"})
_QUOTIENTS = ("addcdiv", "rsqrt", "_foreach_addcdiv", "_fused", "adam")
_SUMS = frozenset({"add", "subtract"})
_CANCEL = frozenset({"sum", "mean", "matmul", "var", "std"})
_POWERS = ("exp", "softmax", "cross_entropy", "attention")
_CHOOSE = frozenset({"max", "min", "argmax", "argmin", "maximum", "minimum", "clip", "sort"})
"""What may be the same of operands that are not."""


_FILLS = re.compile(r"(_like|\b(zeros|ones|full|empty))$")
"""What makes arrays of no values that it is given: what is wrong with them, their use shows."""


def _epsilon(dtype: str) -> float:
    """Half a unit in the last place, relative; of a step that of float32, which it is taken for."""
    known = BY_NAME[dtype or "float32"]
    if known.kind not in INEXACT or known.format is None:
        return 2.0**-24
    return float(2.0 ** -(known.format.mantissa + 1))


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

    def __init__(self, graph: Graph) -> None:
        every: dict[Value, None] = {}
        for node in graph.nodes:
            every.update(dict.fromkeys((*node.operands, *node.results)))
        self._by_size: dict[int, list[tuple[float, int, Value]]] = {}
        self._same = {x.name: x for x in every}
        for number, x in enumerate(every):
            if x.array is not None and x.size:
                self._by_size.setdefault(x.size, []).append((x.norm, number, x))
        for some in self._by_size.values():
            some.sort(key=lambda each: each[:2])

    def nearest(self, x: Value, most: float) -> tuple[Value, float] | None:
        """Return the nearest value with how far it is, if that is not too far."""
        if x.name in self._same:
            return self._same[x.name], 0.0
        if x.array is None:
            return None
        some = self._by_size.get(x.size, [])
        low, high = x.norm * (1 - most) - 1e-300, x.norm * (1 + most) + 1e-300
        start = bisect_left(some, low, key=lambda each: each[0])
        end = bisect_right(some, high, key=lambda each: each[0])
        found: tuple[Value, float] | None = None
        for _, _, other in some[start:end]:
            apart = distance(other, x)
            if apart <= most and (found is None or apart < found[1]):
                found = other, apart
        return found
