"""How often places are passed: found by the instruction, before any source is looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from types import CodeType
from typing import Generic, Protocol, TypeVar

from promoarray.core._fast_path import Places, Tally
from promoarray.core.call_site import PACKAGE, instructions, is_library

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
        self._quick = Places(PACKAGE, time.monotonic)

    def tally(self, said: object = None, report: object = None) -> Tally:
        """Return what counts passes of places that were noted, without a frame of Python's.

        Parameters
        ----------
        said : object
            What is said there; None where nothing is, so that no place is looked for.
        report : object
            What counts its ``operations``.
        """
        return Tally(self._quick, said, report)

    def count(self, said: object, note: Callable[[], Place]) -> tuple[Place, bool]:
        """Count one pass of the place where the program stands.

        Parameters
        ----------
        said : object
            What is said there, known by identity.
        note : callable
            Counts the place, where it was not passed before or is forgotten, and returns it.

        Returns
        -------
        place : Counted
        new : bool
            Whether it was noted.
        """
        at, codes = instructions()
        key = id(said), at
        known = self._kept.get(key)
        if known is not None:
            place = known[-1]
            place.count += 1
            self._find_quickly(said, at, codes, place)
            return place, False
        if len(self._kept) >= MOST_PASSES:
            self._kept.clear()
        # Code and what is said are held, so that no others have their ids.
        place = note()
        self._kept[key] = codes, said, place
        self._find_quickly(said, at, codes, place)
        return place, True

    def _find_quickly(
        self, said: object, at: tuple[int, ...], codes: tuple[CodeType, ...], place: Place
    ) -> None:
        """Have tallies find a place of the program by its instruction: not those of libraries,
        which hang on where the program called them."""
        if len(codes) == 1 and not is_library(codes[0].co_filename):
            self._quick.keep(said, codes[0], at[1], place)
