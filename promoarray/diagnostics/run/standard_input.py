"""The standard input of a program that is run more than once: the same for every run."""

from __future__ import annotations

import os
import threading
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Any

_CHUNK = 1 << 16
_INPUT = 0  # the file descriptor, whatever sys.stdin is


class StandardInput:
    """What the command's standard input gives to each run.

    A file is read again from where it stood. What comes through a pipe is kept as the first run
    reads it. Nobody types twice: after a terminal, further runs have an input that is empty.

    Parameters
    ----------
    kept : file
        Where to keep what comes through a pipe.
    """

    def __init__(self, kept: IO[bytes]) -> None:
        self._runs = 0
        self._start = _position()
        self._terminal = self._start is None and os.isatty(_INPUT)
        self._kept = kept
        self._ended = False
        self._reading = threading.Lock()

    def for_run(self) -> int | None:
        """Return what ``Popen`` takes as ``stdin`` for the next run."""
        self._runs += 1
        if self._terminal:
            return None if self._runs == 1 else DEVNULL
        if self._start is None:
            return PIPE
        os.lseek(_INPUT, self._start, os.SEEK_SET)
        return None

    def feed(self, program: Popen[Any]) -> None:
        """Begin to write to a program that has a pipe for its input."""
        if program.stdin is not None:
            threading.Thread(target=self._copy, args=(program.stdin,), daemon=True).start()

    def _copy(self, to: IO[bytes]) -> None:
        offset = 0
        try:
            while chunk := self._chunk(offset):
                offset += os.write(to.fileno(), chunk)
        except (OSError, ValueError):  # the program has ended, or the command itself
            pass
        finally:
            to.close()

    def _chunk(self, offset: int) -> bytes:
        """Return what follows an offset; b"" at the end."""
        with self._reading:
            self._kept.seek(offset)
            chunk = self._kept.read(_CHUNK)
            if not chunk and not self._ended:
                chunk = os.read(_INPUT, _CHUNK)
                self._kept.write(chunk)
                self._ended = not chunk
            return chunk


def _position() -> int | None:
    """Where in a file the standard input stands; None if it is none."""
    try:
        return os.lseek(_INPUT, 0, os.SEEK_CUR)
    except OSError:
        return None
