"""Functions that Numba compiles, under ``compare``: run in Python, and asked of ``numba``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
def cfunc(signature):
    return vectorize
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


def compared(folder: Path, program: str, *options: str) -> dict[str, Any]:
    (folder / "numba.py").write_text(NUMBA)
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "promoarray", "compare", "--json", *options, "program.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def unexamined(found: dict[str, Any]) -> set[str]:
    return {each["what"] for verdict in found["verdicts"] for each in verdict["not_examined"]}


def test_lines_that_become_float64_or_wrap_are_shown(tmp_path: Path) -> None:
    found = compared(tmp_path, PROGRAM)
    answers = {
        each["expression"]: each["answers"]["numba@0.68"]["dtype"] for each in found["divergences"]
    }
    assert answers == {"x * 0.5": "float64", "a[0] + b[0]": "int64"}


UNSEEN = """
import numpy as np
from numba import cfunc, njit, vectorize

@cfunc("float64(float64)")
def thrice(x):
    return x * 3

def twice(x):
    return x * 2

@njit
def count(n):
    total = 1
    for _ in range(n):
        total *= 2
    return total

x = np.ones(3, np.float32)
vectorize(twice)(x), vectorize(lambda x: x * 2)(x), thrice(1), count(62 + (x[0] > 1))
"""


@pytest.mark.parametrize("policies", ["numba", "torch"])
def test_what_it_compiles_is_named(tmp_path: Path, policies: str) -> None:
    found = compared(tmp_path, UNSEEN, "--policies", policies)
    said = unexamined(found)
    bodies = {f"the body of {name}" for name in ("thrice", "twice", "<lambda>")}
    if policies == "torch":
        bodies.add("the body of count")
    assert bodies <= said
    assert found["verdicts"][0]["verdict"] == "incomplete"


def test_python_ints_beyond_int64_are_named(tmp_path: Path) -> None:
    whats = [
        unexamined(compared(tmp_path, text, "--policies", "numba"))
        for text in (UNSEEN, UNSEEN.replace("62", "63"))
    ]
    assert whats[1] - whats[0] == {"a Python int beyond int64"}
