"""The order of a policy's promotion rule, drawn: a lattice where it is one.

A dtype lies below another if the two promote to the other. A ``Lattice`` says itself what lies
right above each dtype; of any other rule the order is found by asking about every pair, and what
follows from two steps is left out. The drawing is in layers, each dtype above all that lies below
it, with the places in a layer chosen so that few lines cross.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple

from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy
from promoarray.promotion.properties import Checked, check
from promoarray.promotion.rules import Lattice

Edges = Mapping[DType, tuple[DType, ...]]
"""From each dtype to what lies right above it."""

SWEEPS = 12
"""How often the layers are put in order, up and down."""

ABOVE, LETTER = 56, 6.7
"""Between layers, and how wide a letter of the name is, in pixels."""


class Node(NamedTuple):
    """A dtype in a layer, or where a line passes through it: then with both its ends."""

    dtype: DType
    upper: DType | None
    layer: int


Path = list[Node]
"""A line, with a node in each layer from the lower dtype to the upper one."""


class Order(NamedTuple):
    """A drawing of a policy's order."""

    layers: list[list[Node]]  # the lowest first
    paths: list[Path]
    x: Mapping[Node, float]  # from each node to its place across
    alone: list[DType]  # what lies neither below nor above anything
    says: str  # whether it is a lattice, with the smallest counter-example if not

    def to_dict(self) -> dict[str, Any]:
        """Return the drawing as data, places in pixels from the upper left corner."""
        nodes = [n for layer in self.layers for n in layer if n.upper is None]
        left = min((self.x[n] for n in nodes), default=0)
        half = round(max((len(n.dtype.code) for n in nodes), default=0) * LETTER / 2) + 10

        def pixels(node: Node) -> list[int]:
            across, down = self.x[node] - left, len(self.layers) - 1 - node.layer
            return [round(across * (2 * half + 8)), down * ABOVE]

        index = {node: number for number, node in enumerate(nodes)}
        return {
            "nodes": [
                [n.dtype.name, n.dtype.code, str(Operand(n.dtype)), *pixels(n)] for n in nodes
            ],
            "lines": [
                [index[low], index[high], *(n for node in between for n in pixels(node))]
                for low, *between, high in self.paths
            ],
            "half": half,
            "alone": [d.code for d in self.alone],
            "says": self.says,
        }


def order_of(policy: Policy) -> Order:
    """Draw the order of a policy's rule."""
    edges = right_above(policy)
    if not edges:
        return Order([], [], {}, [], "No order: what promotes to what runs in a circle.")
    related = {d for a, above in edges.items() for d in (a, *above) if above}
    alone = [d for d in edges if d not in related]
    layers, paths = _layered({a: above for a, above in edges.items() if a in related})
    return Order(layers, paths, _across(layers, paths), alone, _says(policy))


def _says(policy: Policy) -> str:
    """Whether the rule is a lattice, in words."""
    report = check(policy, "lattice", "partial lattice", operations=False)
    whole, partial = report["lattice"], report["partial lattice"]
    if whole.holds:
        return "A lattice: every two dtypes have a least one above both, their common dtype."
    if partial.holds:
        return (
            "A partial lattice: two dtypes with anything above both have a least one there, "
            f"their common dtype; not all have ({whole.says})."
        )
    return f"No lattice: {partial.says}."


def right_above(policy: Policy) -> Edges:
    """What lies right above each dtype; nothing where the order runs in a circle."""
    if isinstance(policy.promote, Lattice):
        return policy.promote.edges
    checked = Checked(policy)
    above = {  # in order, by which those of a layer stand: that of sets changes with every run
        a: [b for b in checked.dtypes if b is not a and (a, b) in checked.below]
        for a in checked.dtypes
    }
    try:
        upwards = list(TopologicalSorter(above).static_order())  # what lies above comes first
    except CycleError:
        return {}
    every: dict[DType, set[DType]] = {}
    for dtype in upwards:
        every[dtype] = set(above[dtype]).union(*(every[b] for b in above[dtype]))
    return {
        a: tuple(
            b for b in checked.dtypes if b in beyond and not any(b in every[c] for c in beyond)
        )
        for a, beyond in every.items()
    }


def _layered(edges: Edges) -> tuple[list[list[Node]], list[Path]]:
    """The layers from the lowest up, and the lines, which stand in layers like dtypes."""
    below: dict[DType, list[DType]] = {b: [a for a in edges if b in edges[a]] for b in edges}
    at: dict[DType, int] = {}
    for dtype in TopologicalSorter(below).static_order():
        at[dtype] = max((at[a] + 1 for a in below[dtype]), default=0)
    for dtype in sorted(at, key=at.__getitem__, reverse=True):  # as high as what is above
        if edges[dtype] and not below[dtype]:
            at[dtype] = min(at[b] for b in edges[dtype]) - 1
    layers: list[list[Node]] = [[] for _ in range(max(at.values(), default=-1) + 1)]
    paths: list[Path] = []
    for a, above in edges.items():
        layers[at[a]].append(Node(a, None, at[a]))
        for b in above:
            between = [Node(a, b, n) for n in range(at[a] + 1, at[b])]
            paths.append([Node(a, None, at[a]), *between, Node(b, None, at[b])])
            for node in between:
                layers[node.layer].append(node)
    return layers, paths


def _across(layers: list[list[Node]], paths: list[Path]) -> dict[Node, float]:
    """Places across each layer: near the middle of what a node is joined to, one apart."""
    steps = [step for path in paths for step in pairwise(path)]
    joined: tuple[dict[Node, list[Node]], ...] = ({}, {})  # below, above
    for low, high in steps:
        joined[0].setdefault(high, []).append(low)
        joined[1].setdefault(low, []).append(high)
    x = {node: index - (len(layer) - 1) / 2 for layer in layers for index, node in enumerate(layer)}
    best, fewest = dict(x), crossings(steps, x)
    for sweep in range(SWEEPS):
        ends = joined[sweep % 2]
        for layer in reversed(layers) if sweep % 2 else layers:
            wanted = {n: [x[m] for m in ends.get(n, [n])] for n in layer}
            middle = {n: sum(places) / len(places) for n, places in wanted.items()}
            layer.sort(key=lambda n, middle=middle: (middle[n], x[n]))  # type: ignore[misc]
            x |= _spread({n: middle[n] for n in layer})
        crossed = crossings(steps, x)
        if crossed <= fewest:
            best, fewest = dict(x), crossed
    return best


def crossings(steps: list[tuple[Node, Node]], x: Mapping[Node, float]) -> int:
    """Return how many pairs of lines cross between two layers."""
    lines = [(low.layer, x[low], x[high]) for low, high in steps]
    return sum(n == m and a < c and b > d for n, a, b in lines for m, c, d in lines)


def _spread(wanted: Mapping[Node, float]) -> dict[Node, float]:
    """Places at least one apart, near those wanted, which ascend: the mean of both directions."""
    right, left = list(wanted.values()), list(wanted.values())
    for i in range(1, len(right)):
        right[i] = max(right[i], right[i - 1] + 1)
    for i in reversed(range(len(left) - 1)):
        left[i] = min(left[i], left[i + 1] - 1)
    return {node: (a + b) / 2 for node, a, b in zip(wanted, right, left, strict=True)}
