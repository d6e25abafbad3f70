"""The command, as the tests call it; its paths begin at the test's own folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from diagnostics.findings.programs import Command, run_here

from promoarray.diagnostics.run.program import Program


@pytest.fixture
def compare_program(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """The whole command, which starts a Python for the program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return Command(capfd)


@pytest.fixture
def compare(compare_program: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The same, and the program runs in this process, which is quicker."""
    monkeypatch.setattr(Program, "run", run_here)
    return compare_program
