"""What a command may have in the program's process besides the comparison of dtypes."""

from __future__ import annotations

from typing import Any

from promoarray.core.events import Observer


class Probe(Observer):
    """An observer that a task brings along: it begins with the process, and is asked at its end.

    It is pickled on its way there, and what it answers on its way back.

    Attributes
    ----------
    edited : bool
        Whether the operation that it is told of next stands in the source as it is; of recorded
        programs, in which others stand for parts of a call.
    """

    edited = True

    def begin(self) -> None:
        """Begin with nothing found, in the program's process, or in one forked from it."""

    def ended(self, names: dict[str, Any]) -> Any:
        """Answer, from the program's globals, when the process ends."""
        return None
