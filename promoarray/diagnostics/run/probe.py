"""What a command may have in the program's process besides the comparison of dtypes."""

from __future__ import annotations

from typing import Any

from promoarray.core.events import Observer


class Probe(Observer):
    """An observer that a task brings along: it begins with the process, and is asked at its end.

    It is pickled on its way there, and what it answers on its way back.

    Attributes
    ----------
    observes : bool
        Whether it hears of what the program does; else it is asked at the end alone.
    """

    observes = True

    def begin(self) -> None:
        """Begin with nothing found, in the program's process, or in one forked from it."""

    def ended(self, names: dict[str, Any]) -> Any:
        """Answer, from the program's globals, when the process ends."""
        return None
