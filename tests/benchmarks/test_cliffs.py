"""What is a cliff, on invented curves."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
cliffs = run_path(str(BENCHMARKS / "cliffs.py"))["cliffs"]

SIZES = [float(2**k) for k in range(27)]
CALL = 500.0
"""Nanoseconds of a call, beside what its elements cost."""


def test_a_call_and_its_elements_have_none() -> None:
    assert cliffs(SIZES, [CALL + n for n in SIZES]) == []
    assert cliffs(SIZES, [CALL + n / 100 for n in SIZES]) == []


def test_another_way_that_is_dearer_from_a_size_on_is_one() -> None:
    times = [CALL + n * (1 if n < 2**15 else 3) for n in SIZES]
    (found,) = cliffs(SIZES, times)
    assert (found.low, found.high) == (2.0**14, 2.0**15)
    assert 2.5 < found.times < 3


def test_a_call_that_is_dearer_from_a_size_on_is_one() -> None:
    """Small operands by a fast path, 257 elements and more by one that takes 2 µs more."""
    times = [CALL + n + (2000 if n > 256 else 0) for n in SIZES]
    (found,) = cliffs(SIZES, times)
    assert (found.low, found.high) == (256, 512)


def test_a_single_size_that_is_dear_is_one() -> None:
    times = [CALL + n * (3 if n == 2**20 else 1) for n in SIZES]
    (found,) = cliffs(SIZES, times)
    assert found.high == 2**20


def test_many_small_steps_up_are_one_in_the_end() -> None:
    times = [n * 1.1**k for k, n in enumerate(SIZES)]
    assert cliffs(SIZES, times)
    assert cliffs(SIZES, [n * 1.01**k for k, n in enumerate(SIZES)]) == []


def test_leaving_the_caches_is_none_as_far_as_a_copy_does_it_too() -> None:
    copies = [100 + n * (0.1 if n < 2**18 else 0.5) for n in SIZES]
    twice = [CALL + n * (0.2 if n < 2**18 else 1.0) for n in SIZES]
    assert cliffs(SIZES, twice, copies) == []
    assert cliffs(SIZES, twice)
    thrice = [CALL + n * (0.2 if n < 2**18 else 1.5) for n in SIZES]
    assert cliffs(SIZES, thrice, copies)


def test_noise_is_allowed_for() -> None:
    times = [n * (1.6 if n == 2**10 else 1) for n in SIZES]
    assert cliffs(SIZES, times)
    assert cliffs(SIZES, times, noise=0.2) == []


def test_time_in_proportion_to_policies_has_none() -> None:
    policies = [1.0, 2.0, 4.0, 8.0]
    assert cliffs(policies, [k * 0.3 for k in policies]) == []
    assert cliffs(policies, [k * k * 0.3 for k in policies])
