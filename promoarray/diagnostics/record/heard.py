"""What the call in hand has told a recorder."""

from __future__ import annotations

import threading
from collections.abc import Callable

from promoarray.core._fast_path import Tally


class Heard(threading.local):
    """What the call in hand of a thread has told the recorder, for those that are like it.

    Attributes
    ----------
    tells : list of callable
        Each tells the observer once more.
    tallies : list of (Tally or None)
        For each what counts it instead, in a place where it was told.
    operations : int
        How many operations there were at which nothing was noted.
    agreed : list of (callable, Tally or None)
        The operations at which all policies agree, told like those in ``tells``.
    arrays : set of int
        The addresses of the arrays of which it was put down what they carry.
    lasting : bool
        Whether calls that are alike tell the same.
    """

    def __init__(self, lasting: bool = True) -> None:
        self._lasting = lasting
        self.begin()

    def begin(self) -> None:
        """Hear of another call."""
        self.tells: list[Callable[[], object]] = []
        self.tallies: list[Tally | None] = []
        self.agreed: list[tuple[Callable[[], object], Tally | None]] = []
        self.arrays: set[int] = set()
        self.operations, self.lasting = 0, self._lasting

    def add(self, tell: Callable[[], object], tally: Tally | None = None) -> None:
        """Have this told of calls that are alike."""
        self.tells.append(tell)
        self.tallies.append(tally)
