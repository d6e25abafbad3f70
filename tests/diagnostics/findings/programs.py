"""Programs to compare, and the command on them."""

from __future__ import annotations

import json
import linecache
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from promoarray import cli
from promoarray.diagnostics.ask.observer import shadowed
from promoarray.diagnostics.run.program import Ended, Program
from promoarray.diagnostics.run.task import Findings, Task
from promoarray.promotion.registry import as_policy

START = "import promoarray as xp\nx = xp.asarray([1, 2], dtype=xp.int8)\n"

HALF = START + "y = x / 2\n"
"""numpy gives float64, torch float32, onnx int8."""

REFUSED = START + "y = x + xp.asarray([1.5])\n"
"""onnx refuses, numpy and torch give float64."""

BITS = (
    "import promoarray as xp\n"
    "x = xp.asarray([500.0, 1.0], dtype=xp.float32)\n"
    "y = xp.astype(x, xp.float8_e4m3fn)\n"
)
"""NaN under numpy, 448 under torch."""


def write(folder: Path, text: str, name: str = "program.py") -> str:
    """Write a program; return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text), encoding="utf-8")
    return str(path)


class Command:
    """`promoarray compare` in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, script: str, *arguments: str, policies: str = "torch") -> Ran:
        status = cli.main(["compare", script, "--policies", policies, *arguments])
        return Ran(status, *self._capfd.readouterr())


class Ran:
    """How the command ended, and what it printed."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def data(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)


def run_here(program: Program, task: Task, given: object, **_: object) -> Ended:
    """Take the place of ``Program.run``, for programs that do nothing to their process."""
    file = program.command[0]
    code = compile(Path(file).read_bytes(), file, "exec", dont_inherit=True)
    status, error = 0, ""
    linecache.checkcache()  # in which a new process has nothing
    with shadowed(tuple(map(as_policy, task.policies))) as report:
        try:
            exec(code, {"__name__": "__main__"})
        except Exception as stop:
            status, error = 1, f"{type(stop).__name__}: {stop}"
    sys.stdout.flush()
    return Ended(status, (Findings("numpy@2", report, error=error),), "")
