"""Counts of passes through a place: found by the instruction, before any source is looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import CodeType
from typing import Generic, Protocol, TypeVar

from promoarray.core.call_site import instructions

MOST_PASSES = 1 << 12
"""So many instructions are remembered."""


class Counted(Protocol):
    """What is kept of a place."""

    count: int


Place = TypeVar("Place", bound=Counted)


class Passes(Generic[Place]):
    """Places, by the instructions that led there.

    Two instructions may stand in one place, and one may be passed with several things to say of it:
    so what is said there is part of the key.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[tuple[CodeType, ...], object, Place]] = {}

    def count(self, said: object, note: Callable[[], Place]) -> tuple[Place, bool]:
        """Count one pass of the place where the program stands, at which something is said that is
        known by identity; return the place, and whether it is new or was forgotten: then ``note``
        counts it."""
        at, codes = instructions()
        key = id(said), at
        known = self._kept.get(key)
        if known is not None:
            place = known[-1]
            place.count += 1
            return place, False
        if len(self._kept) >= MOST_PASSES:
            self._kept.clear()
        # Code and what is said are held, so that no others have their ids.
        place = note()
        self._kept[key] = codes, said, place
        return place, True
