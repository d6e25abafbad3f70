"""The command ``promoarray`` in this process, in the test's own folder."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

from promoarray import __main__ as cli


class Ran(NamedTuple):
    """How the command ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


class Command:
    """``command("diff program.py --json", status=1).data``."""

    def __init__(self, captured: pytest.CaptureFixture[str], folder: Path) -> None:
        self._captured, self.folder = captured, folder

    def __call__(self, line: str, *words: str, status: int | None = None) -> Ran:
        """Run a line, split at its blanks, and further words as they are."""
        self._captured.readouterr()
        ran = Ran(cli.main([*line.split(), *words]), *self._captured.readouterr())
        assert status in (None, ran.status), ran
        assert "\x1b" not in ran.out  # which goes to no terminal
        return ran

    def write(self, text: str, name: str = "program.py") -> str:
        """Write a file there; return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return str(path)
