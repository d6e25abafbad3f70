"""Progress of a long command: a line at the bottom of a terminal, gone when the work is done.

It is on standard error, if that is a terminal, and comes when the work has taken a while. The
command itself prints nothing meanwhile, or while the line is ``away``.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from promoarray.console import console

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

SILENT = 2.0
"""Seconds until it is shown."""


class Progress:
    """Shows how far some work is, while its block runs, in a terminal after some seconds."""

    def __init__(
        self, words: str = "", *, file: IO[str] | None = None, after: float = SILENT
    ) -> None:
        self._words = words
        self._done: float | None = None
        self._file: IO[str] | None = sys.stderr if file is None else file
        self._started, self._after = time.monotonic(), after
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._bar: Bar | None = None

    def __enter__(self) -> Progress:
        if self._file is not None and self._file.isatty():
            wait = self._started + self._after - time.monotonic()
            self._timer = threading.Timer(max(wait, 0), self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
            self._bar = None

    @contextmanager
    def away(self) -> Iterator[None]:
        """Take the line away while a block prints, as the commands of conformance/ do."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def step(self, words: str | None = None, done: float | None = None) -> None:
        """Say what is done now, and which part of all is done already, from 0 to 1."""
        with self._lock:
            self._words = self._words if words is None else words
            self._done = self._done if done is None else done
            if self._bar is not None:
                task, whole = self._bar.tasks[0].id, None if self._done is None else 1.0
                self._bar.update(task, description=self._words, completed=self._done, total=whole)

    def _show(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        target = console(self._file)
        if not target.is_interactive:  # a terminal that cannot take back what it shows
            return
        words = TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
        )
        with self._lock:
            self._bar = Progress(
                *(words, BarColumn(bar_width=20), TimeElapsedColumn()),
                console=target,
                transient=True,
                expand=True,
                get_time=time.monotonic,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._bar.add_task(self._words, total=None)
            self._bar.tasks[0].start_time = self._started
            self.step()
            self._bar.start()
