"""What the call in hand has told a recorder."""

from __future__ import annotations

import threading
from collections.abc import Callable

from promoarray.diagnostics.model.flow import RecordedOperation


class Heard(threading.local):
    """What the call in hand of a thread has told the recorder, for those that are like it.

    Attributes
    ----------
    recorded : list of RecordedOperation
        The operations that it was recorded as.
    tells : list of callable
        Each is called again for calls that are like it.
    arrays : set of int
        The addresses of the arrays of which it was put down what they carry.
    lasting : bool
        Whether calls that are alike tell the same.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Hear of another call."""
        self.recorded: list[RecordedOperation] = []
        self.tells: list[Callable[[], object]] = []
        self.arrays: set[int] = set()
        self.lasting = True
