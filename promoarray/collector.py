"""The garbage collector, told to wait."""

from __future__ import annotations

import gc
from types import TracebackType


class collector_paused:
    """A block that makes much and leaves no garbage, for which the collector need not look.

    It looks whenever a few hundred objects have been made. Where it was off it stays off.
    """

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._was_on:
            gc.enable()
