"""Functions that Numba compiles, under ``compare``: run in Python, and asked of ``numba``."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

NUMBA = """
import os
def njit(function):
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        return function
    def compiled(*args):
        raise SystemExit("it is compiled")
    return compiled
def vectorize(function):
    assert "__promoarray__" not in function.__code__.co_names
    return function
"""
PROGRAM = """
import numpy as np
from numba import njit, vectorize

@njit
def mixed(x, a, b):
    half = x * 0.5
    return half, a[0] + b[0]

@vectorize
def twice(x):
    return x * 2.0

x = np.ones(3, np.float32)
mixed(x, np.ones(1, np.uint64), np.ones(1, np.int64))
twice(x)
"""


def test_lines_that_become_float64_or_wrap_are_shown(tmp_path: Path) -> None:
    (tmp_path / "numba.py").write_text(NUMBA)
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    command = [sys.executable, "-m", "promoarray", "compare", "--json", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    answers = {
        each["expression"]: each["answers"]["numba@0.68"]["dtype"] for each in found["divergences"]
    }
    assert answers == {"x * 0.5": "float64", "a[0] + b[0]": "int64"}
