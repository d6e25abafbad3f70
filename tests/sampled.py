"""Samples of spaces that no run need go through; with ``PROMOARRAY_WHOLE=1`` the whole of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

WHOLE = bool(os.environ.get("PROMOARRAY_WHOLE"))
"""Whether nothing is left out: for a change of what many tests have in common."""


def turns(cases: Iterable[T], part: int, turn: int) -> list[T]:
    """Every ``part``-th case, counted from ``turn``.

    Callers that ask the same under many policies, of many dtypes or at every level of the CPU take
    turns, so that together they go through all cases.
    """
    return [case for at, case in enumerate(cases) if WHOLE or (at + turn) % part == 0]


def sampled(cases: Iterable[T], part: int, turn: int) -> list[T]:
    """The same, and the first and the last case at every turn."""
    every = list(cases)
    ends = {0, len(every) - 1}
    chosen = {*turns(range(len(every)), part, turn), *ends}
    return [case for at, case in enumerate(every) if at in chosen]
