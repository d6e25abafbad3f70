"""``--pa-check``, in pytest runs of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = """
import promoarray as pa

def bytes_of(*values):
    return pa.asarray(values, dtype=pa.uint8)

def test_wraps():
    assert (bytes_of(200) + bytes_of(100))[0] == 44

def test_meant():
    bytes_of(200) + bytes_of(100)  # promoarray: ignore[integer-wrap]

def test_fails_by_itself():
    bytes_of(200) + bytes_of(100)
    assert False, "by itself"

def test_good():
    bytes_of(1) + bytes_of(2)
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Run pytest on the tests, in a process of its own; return what it prints."""
    monkeypatch.setenv("COLUMNS", "160")

    def ran(*options: str, settings: str = "") -> str:
        (tmp_path / "test_it.py").write_text(SOURCE)
        (tmp_path / "pyproject.toml").write_text(settings)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "test_it.py"]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return ended.stdout + ended.stderr

    return ran


def test_a_test_in_which_numbers_are_lost_fails(run) -> None:
    out = run("--pa-check")
    assert "FAILED test_it.py::test_wraps" in out
    assert "1 of 1" not in out
    assert "integer-wrap  bytes_of(200) + bytes_of(100): the element wraps: 200 + 100 is 300" in out
    assert "AssertionError: by itself" in out
    assert "2 failed, 2 passed" in out


def test_numpy_in_tests_and_in_what_they_call(run, tmp_path: Path, monkeypatch: object) -> None:
    (tmp_path / "helper.py").write_text("def twice(x):\n    return x + x\n")
    monkeypatch.setattr(
        sys.modules[__name__],
        "SOURCE",
        """
import numpy as np
from helper import twice

def test_own():
    assert (np.array([200], np.uint8) + 100)[0] == 44

def test_called():
    assert twice(np.array([200], np.uint8))[0] == 144

def test_failing():
    x = np.array([1], np.uint8)
    assert (x + 1)[0] == 3

def test_good():
    assert twice(np.array([2], np.uint8))[0] == 4
""",
    )
    out = run("--pa-check")
    assert "test_it.py:6  assert (np.array([200], np.uint8) + 100)[0] == 44" in out
    assert "helper.py:2  return x + x" in out
    assert "assert np.uint8(2) == 3" in out  # as pytest says it without the option
    assert "3 failed, 1 passed" in out


def test_without_the_option_nothing_is_looked_at(run) -> None:
    assert "1 failed, 3 passed" in run()


def test_settings_of_the_project(run) -> None:
    only = '[tool.promoarray.check]\nonly = ["overflow"]\n'
    assert "1 failed, 3 passed" in run("--pa-check", settings=only)
    fail_on = '[tool.promoarray.check]\nfail-on = ["overflow"]\n'
    assert "1 failed, 3 passed" in run("--pa-check", settings=fail_on)
    assert "Did you mean only?" in run(
        "--pa-check", settings="[tool.promoarray.check]\nonyl = []\n"
    )
