"""Delta debugging: the smallest part of a whole that still has its effect (Zeller's ddmin)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")


def ddmin(whole: Sequence[T], has_effect: Callable[[Sequence[T]], bool]) -> list[T]:
    """Reduce a sequence that has an effect to one of which no element can be left out.

    Parameters
    ----------
    whole : sequence
        Which has the effect; the empty one has not.
    has_effect : callable
        From a part of it, in order, to whether that has the effect. It is asked of no part twice.

    Returns
    -------
    list
        A part that has the effect, while it less any one of its elements has not. There may be
        other such parts.
    """
    asked: dict[tuple[int, ...], bool] = {}

    def holds(part: list[int]) -> bool:
        key = tuple(part)
        if key not in asked:
            asked[key] = has_effect([whole[i] for i in part])
        return asked[key]

    kept, pieces = list(range(len(whole))), 2
    while len(kept) > 1:
        parts = _split(kept, pieces)
        others = [[i for i in kept if i not in part] for part in parts]
        smaller = next((part for part in parts if holds(part)), None)
        if smaller is not None:
            kept, pieces = smaller, 2
            continue
        rest = next((other for other in others if holds(other)), None)
        if rest is not None:
            kept, pieces = rest, max(pieces - 1, 2)
        elif pieces >= len(kept):
            break
        else:
            pieces = min(2 * pieces, len(kept))
    return [whole[i] for i in kept]


def _split(items: list[int], pieces: int) -> list[list[int]]:
    """Split into so many runs of about the same length."""
    cuts = [len(items) * n // pieces for n in range(pieces + 1)]
    return [items[a:b] for a, b in pairwise(cuts)]
