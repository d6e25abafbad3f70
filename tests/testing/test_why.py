"""``--pa-why``, in pytest runs of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TORCH = """
import pytest
import torch

MASK = torch.ones(3)

@pytest.fixture(scope="module")
def layer():
    return torch.nn.Linear(3, 2).to(torch.bfloat16)

def test_layer(layer):
    layer(torch.ones(2, 3, dtype=torch.bfloat16) * MASK)

def test_sizes():
    torch.ones(2) + torch.ones(3)
"""

NUMPY = """
import numpy as np

def test_sum():
    a = np.arange(3)
    a += 0.5

def test_other():
    assert np.arange(3)[0] == 1

def test_good():
    pass
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Run pytest on a test file, in a process of its own; return what it prints."""
    monkeypatch.setenv("COLUMNS", "160")

    def ran(source: str, *options: str) -> str:
        (tmp_path / "test_it.py").write_text(source)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "test_it.py"]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout

    return ran


def test_a_stop_of_numpy_is_told_in_the_report(run) -> None:
    said = run(NUMPY, "--pa-why")
    assert said.count("- promoarray why -") == 1
    assert "refuses iadd(int64): Cannot cast ufunc 'add' output" in said
    assert "a  int64 (3,)  np.arange(3), test_it.py:5" in said
    assert "2 failed, 1 passed" in said


def test_an_index_that_is_computed_in_place_is_computed_again(run) -> None:
    said = run(
        "import numpy as np\ndef test_it():\n    x, y = np.arange(6.0), np.array([0.5, 1.5])\n"
        "    assert x[(y * 2).sum()] == 4\n",
        "--pa-why",
    )
    assert "refuses getitem(float64, float64): only integers" in said
    assert "it runs with (y * 2).sum() as int64" in said


@pytest.mark.parametrize("options", [("--pa-why",), ("--pa-why", "--pa-check")])
def test_a_stop_of_pytorch_has_the_way_of_fixtures_and_modules(run, options) -> None:
    pytest.importorskip("torch")
    said = run(TORCH, *options, "-p", "torch")
    assert said.count("- promoarray why -") == 1
    assert "bfloat16 * float32 is float32" in said
    assert "MASK  float32  torch.ones(3)" in said
    assert "layer.weight, layer.bias  bfloat16  torch.nn.Linear(3, 2).to(torch.bfloat16)" in said
    assert "watcher.py" not in said


def test_without_the_option_nothing_is_loaded(run) -> None:
    said = run("import sys\n\ndef test_it():\n    assert 'promoarray' not in sys.modules\n")
    assert "1 passed" in said
