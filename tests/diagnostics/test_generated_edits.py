"""Edits of random programs keep the run's own results, and give the run's dtypes elsewhere."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from generated_edits import tried
from sampled import WHOLE

POLICIES = ("numpy@2", "torch@2.13", "jax@x64", "paddle@3.3", "tensorflow", "numpy@1")
SLOW = range(3, 40 if WHOLE else 12)
SEEDS = (*range(3), *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW))
"""Programs are drawn by their number alone: those of later seeds are more of the same kind."""


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_programs_of_promoarray(tmp_path: Path, seed: int) -> None:
    edits = 0
    for number in range(20 * seed, 20 * (seed + 1)):
        run, to = Random(number).sample(POLICIES, 2)
        done = tried(tmp_path / "program.py", number, run, to)
        assert not done.faults, (number, run, to, done.faults, done.source, done.edited)
        edits += len(done.edits)
    assert edits > 8


SAME = frozenset({35})
"""Seeds whose programs give the same dtypes and values in NumPy 1.26.4 and 2.4.6, asked of both."""


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_programs_of_numpy_1(tmp_path: Path, seed: int) -> None:
    edits = 0
    for number in range(8 * seed, 8 * (seed + 1)):
        done = tried(tmp_path / "program.py", number, "numpy@1", "numpy@2", "numpy")
        assert not done.faults, (number, done.faults, done.source, done.edited)
        edits += len(done.edits)
    assert (edits > 0) is (seed not in SAME)
