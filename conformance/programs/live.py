"""A framework asked while it runs: a worker in its own environment, started again if it dies."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from programs.answers import CRASHED

PATIENCE = 120.0
"""So many seconds a program may take; the first also starts and compiles."""


class Live:
    """A framework in a process of its own.

    Parameters
    ----------
    name : str
        A module of `programs.frameworks`, and an edition behind ``@``.
    python : str
        The interpreter of the framework's environment.
    """

    def __init__(self, name: str, python: str = sys.executable) -> None:
        self._command = [python, "-m", "programs.worker", name]
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            cwd=Path(__file__).resolve().parent.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        self.described: dict[str, Any] = self._heard()

    def _heard(self) -> Any:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            raise EOFError(f"{' '.join(self._command)} does not answer")
        return json.loads(line)

    def __call__(self, program: str) -> list[str]:
        """Answer each line of a program; a crash or a hang is the answer of the last."""
        answers = self._asked(program)
        if answers is not None:
            return answers
        done = self(program.rpartition("\n")[0]) if "\n" in program else []
        return done if done and done[-1][:1] in "!?" else [*done, CRASHED]

    def _asked(self, program: str) -> list[str] | None:
        """The answers; None if the program ended what answers."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(program) + "\n")
            answers: list[str] | None = self._heard()
            return answers
        except (EOFError, BrokenPipeError):
            self.close()
            self._start()
            return None

    def close(self) -> None:
        """End the process and the fork of it that answers."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
