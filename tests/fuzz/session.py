"""A run of one generator in a process of its own, which may crash or hang.

A generator is a module of this folder with a function ``once(random)``: one iteration on random
input, which raises AssertionError where a promise does not hold. An iteration is known by its seed
alone, so that one seed is enough to have it again.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

PATIENCE = 60.0
"""Seconds after which an iteration hangs."""

LONGEST = 4000
"""Characters of a traceback that are told: what a pipe holds at once."""

_OURS = {"__init__", "__main__", "session", "test_fuzz"}


def generators() -> list[str]:
    """Return the names of all generators."""
    here = Path(__file__).parent
    return sorted(path.stem for path in here.glob("*.py") if path.stem not in _OURS)


@dataclass(frozen=True)
class Found:
    """How many iterations were done, and of the one that failed its seed and why."""

    iterations: int
    seed: int | None = None
    why: str = ""


def once(name: str, seed: int) -> None:
    """Do one iteration of a generator in this process."""
    import_module(f"fuzz.{name}").once(np.random.default_rng(seed))


def _iterate(name: str, seeds: range, seconds: float, least: int, at: Any, told: Any) -> None:
    step: Callable[[Any], None] = import_module(f"fuzz.{name}").once
    end = time.monotonic() + seconds
    for seed in seeds:
        if seed - seeds.start >= least and time.monotonic() >= end:
            break
        at.value = seed
        try:
            step(np.random.default_rng(seed))
        except BaseException:
            told.send(traceback.format_exc()[-LONGEST:])
            raise SystemExit(1) from None
        at.value = seed + 1


def run(name: str, seconds: float, seed: int, least: int = 1, most: int = 1 << 40) -> Found:
    """Iterate for some time from a seed on, and so many times at least and at most, until one
    iteration fails, crashes or hangs."""
    context = multiprocessing.get_context("spawn")
    at = context.Value("q", seed, lock=False)
    hear, tell = context.Pipe(duplex=False)
    seeds = range(seed, seed + most)
    child = context.Process(target=_iterate, args=(name, seeds, seconds, least, at, tell))
    child.start()
    tell.close()
    last, since = -1, time.monotonic()
    while child.is_alive():
        child.join(0.2)
        if at.value != last:
            last, since = at.value, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            child.kill()
            child.join()
            return Found(at.value - seed, at.value, f"no end after {PATIENCE:.0f} seconds")
    if child.exitcode == 0:
        return Found(at.value - seed)
    why = f"the process ended with {child.exitcode}"
    if hear.poll():
        with suppress(EOFError):
            why = hear.recv()
    return Found(at.value - seed, at.value, why)
