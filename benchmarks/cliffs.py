"""What a cliff is: a size at which an element suddenly costs more.

Time may grow with the size, and an element may become dearer as arrays leave the caches, for which
a copy is the measure. Beyond that it is a cliff:

    an element costs more than half as much again as it did at the size where it cost least so far,
    plus twice what an element of the copy became dearer from there.

Twice, since an operation may read and write twice as much as a copy of one operand. Small sizes,
where the call itself is most of the time, only ever get cheaper by the element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

AGAIN, COPIES = 0.5, 2.0


class Cliff(NamedTuple):
    """Where a curve has one: from the size that was cheapest to the size that is too dear."""

    low: float
    high: float
    times: float
    """How many times dearer an element is."""


def cliffs(
    sizes: Sequence[float],
    times: Sequence[float],
    copies: Sequence[float] | None = None,
    noise: float = 0.0,
) -> list[Cliff]:
    """List the cliffs of a curve, each once: what stays as dear behind one is no further cliff.

    Parameters
    ----------
    sizes, times : sequence of float
        In rising sizes, what the whole takes.
    copies : sequence of float, optional
        What a copy takes at the same sizes; without it nothing is allowed for.
    noise : float
        How much of a time is not known; so much more is allowed.
    """
    found: list[Cliff] = []
    flat = copies or [0.0] * len(sizes)
    points = [(n, t / n, c / n) for n, t, c in zip(sizes, times, flat, strict=True)]
    least = points[0]
    for n, cost, copied in points[1:]:
        dearer = max(0.0, copied - least[2])
        if cost > (1 + AGAIN + noise) * least[1] + COPIES * dearer:
            found.append(Cliff(least[0], n, cost / least[1]))
            least = (n, cost, copied)
        elif cost <= least[1]:
            least = (n, cost, copied)
    return found
