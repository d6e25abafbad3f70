"""The order of a policy's promotion rule, drawn: a lattice where it is one.

A dtype lies below another if the two promote to the other. A ``Lattice`` says itself what lies
right above each dtype; of any other rule the order is found by asking about every pair, and what
follows from two steps is left out. The drawing is in layers, each dtype above all that lies below
it, with the places in a layer chosen so that few lines cross.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


class Place(NamedTuple):
    """Where a dtype stands; the lowest layer is 0."""

    x: float
    layer: int


class Node(NamedTuple):
    """A dtype in a layer, or where a line passes through it: then with both its ends."""

    dtype: DType
    upper: DType | None
    layer: int


class Order(NamedTuple):
    """A drawing of a policy's order.

    Attributes
    ----------
    places : dict
        From each dtype to its Place.
    lines : list of tuples
        The lower dtype, the upper one and the points in between.
    alone : list of DType
        What lies neither below nor above anything.
    says : str
        Whether it is a lattice, with the smallest counter-example if not.
    """

    places: dict[DType, Place]
    lines: list[tuple[DType, DType, list[Place]]]
    alone: list[DType]
    says: str

    def to_dict(self) -> dict[str, Any]:
        """Return the drawing as data, places in pixels from the upper left corner."""
        left = min((p.x for p in self.places.values()), default=0)
        half = round(max((len(d.code) for d in self.places), default=0) * LETTER / 2) + 10
        layers = max((p.layer for p in self.places.values()), default=0)

        def pixels(place: Place) -> list[int]:
            return [round((place.x - left) * (2 * half + 8)), (layers - place.layer) * ABOVE]

        index = {dtype: number for number, dtype in enumerate(self.places)}
        return {
            "nodes": [
                [d.name, d.code, str(Operand(d)), *pixels(p)] for d, p in self.places.items()
            ],
            "lines": [
                [index[a], index[b], *(n for p in points for n in pixels(p))]
                for a, b, points in self.lines
            ],
            "half": half,
            "alone": [d.code for d in self.alone],
            "says": self.says,
        }


def order_of(policy: Policy) -> Order:
    """Draw the order of a policy's rule."""
    edges = right_above(policy)
    if not edges:
        return Order({}, [], [], "No order: what promotes to what runs in a circle.")
    says = _says(policy)
    related = {d for a, above in edges.items() for d in (a, *above) if above}
    alone = [d for d in edges if d not in related]
    if not related:
        return Order({}, [], alone, says)
    edges = {a: above for a, above in edges.items() if a in related}
    layers = _layered(edges)
    x = _across(layers, _neighbours(layers, edges))
    places = {n.dtype: Place(x[n], n.layer) for layer in layers for n in layer if n.upper is None}
    passing: dict[tuple[DType, DType], list[Place]] = {}
    for layer in layers:
        for node in layer:
            if node.upper is not None:
                passing.setdefault((node.dtype, node.upper), []).append(Place(x[node], node.layer))
    lines = [(a, b, passing.get((a, b), [])) for a, above in edges.items() for b in above]
    return Order(places, lines, alone, says)


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


def _layered(edges: Edges) -> list[list[Node]]:
    """The layers from the lowest up, lines through a layer standing in it like dtypes."""
    below: dict[DType, set[DType]] = {a: set() for a in edges}
    for a, above in edges.items():
        for b in above:
            below[b].add(a)
    layer: dict[DType, int] = {}
    for dtype in TopologicalSorter(below).static_order():
        layer[dtype] = max((layer[a] + 1 for a in below[dtype]), default=0)
    for dtype in sorted(layer, key=layer.__getitem__, reverse=True):  # as high as what is above
        if edges[dtype] and not below[dtype]:
            layer[dtype] = min(layer[b] for b in edges[dtype]) - 1
    layers: list[list[Node]] = [[] for _ in range(max(layer.values()) + 1)]
    for a in edges:
        layers[layer[a]].append(Node(a, None, layer[a]))
        for b in edges[a]:
            for between in range(layer[a] + 1, layer[b]):
                layers[between].append(Node(a, b, between))
    return layers


Neighbours = dict[Node, tuple[list[Node], list[Node]]]
"""What a node is joined to, in the layer below and in the one above."""


def _neighbours(layers: list[list[Node]], edges: Edges) -> Neighbours:
    joined: Neighbours = {node: ([], []) for layer in layers for node in layer}
    at = {node.dtype: node for node in joined if node.upper is None}
    for a, above in edges.items():
        for b in above:
            first, last = at[a], at[b]
            path = [first, *(Node(a, b, n) for n in range(first.layer + 1, last.layer)), last]
            for low, high in pairwise(path):
                joined[low][1].append(high)
                joined[high][0].append(low)
    return joined


def _across(layers: list[list[Node]], joined: Neighbours) -> dict[Node, float]:
    """Places across each layer: near the middle of what a node is joined to, one apart."""
    x = {node: index - (len(layer) - 1) / 2 for layer in layers for index, node in enumerate(layer)}
    best, fewest = dict(x), crossings(layers, joined, x)
    for sweep in range(SWEEPS):
        side = sweep % 2
        for layer in layers if side == 0 else reversed(layers):
            wanted = {n: _middle((x[m] for m in joined[n][side]), x[n]) for n in layer}
            layer.sort(key=lambda n: (wanted[n], x[n]))
            x.update(_spread([wanted[n] for n in layer], layer))
        crossed = crossings(layers, joined, x)
        if crossed <= fewest:
            best, fewest = dict(x), crossed
    return best


def crossings(layers: list[list[Node]], joined: Neighbours, x: Mapping[Node, float]) -> int:
    """How many pairs of lines cross."""
    count = 0
    for layer in layers:
        lines = [(x[low], x[high]) for low in layer for high in joined[low][1]]
        count += sum(a < c and b > d for a, b in lines for c, d in lines)
    return count


def _middle(places: Iterable[float], otherwise: float) -> float:
    found = list(places)
    return sum(found) / len(found) if found else otherwise


def _spread(wanted: list[float], nodes: list[Node]) -> dict[Node, float]:
    """Places at least one apart, near those wanted, which ascend: the mean of both directions."""
    right, left = list(wanted), list(wanted)
    for i in range(1, len(wanted)):
        right[i] = max(right[i], right[i - 1] + 1)
    for i in reversed(range(len(wanted) - 1)):
        left[i] = min(left[i], left[i + 1] - 1)
    return {node: (a + b) / 2 for node, a, b in zip(nodes, right, left, strict=True)}
