"""Delta debugging: the smallest part of a whole that still has its effect (Zeller's ddmin)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
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

    @cache
    def holds(part: tuple[int, ...]) -> bool:
        return has_effect([whole[i] for i in part])

    kept, pieces = tuple(range(len(whole))), 2
    while len(kept) > 1:
        cuts = [len(kept) * n // pieces for n in range(pieces + 1)]
        parts = [kept[a:b] for a, b in pairwise(cuts)]
        others = [kept[:a] + kept[b:] for a, b in pairwise(cuts)]
        if (smaller := next(filter(holds, parts), None)) is not None:
            kept, pieces = smaller, 2
        elif (rest := next(filter(holds, others), None)) is not None:
            kept, pieces = rest, max(pieces - 1, 2)
        elif pieces >= len(kept):
            break
        else:
            pieces = min(2 * pieces, len(kept))
    return [whole[i] for i in kept]
