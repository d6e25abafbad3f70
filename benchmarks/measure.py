"""What is measured, and the one function that measures it.

A `Line` is data: the same work in several ways. They take turns in one process, each turn a quarter
of a millisecond long or one call, and the least of each way's turns counts: what else the machine
does only ever adds time. A turn begins with a call that is not counted: the others have taken the
caches, and a way that has several calls a turn would else find its operands there, and one that has
a single call would not. Every round draws its order anew, as a turn depends on which one it
follows: `x + y` of 4 Mi int8 took 1.3 to 1.6 times NumPy's whenever JAX went before, and 1.1 to 1.2
in orders drawn. The clock is the process's CPU time, so that waiting does not count; where several
threads are what is measured, it is the wall's.
"""

from __future__ import annotations

import random
import time
import timeit
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import promoarray as pa

OURS = "promoarray"
BEST = "best"
"""In bounds: the fastest of NumPy, PyTorch and JAX, in their place."""

TURN = 2.5e-4
"""Seconds of a turn, if a call is shorter; of longer ones a turn is two."""

LEAST_TURNS, FAR_TURNS = 3, 2
FAR = 5.0
"""What takes so many times as long as ours has two turns: it is not what ours is held to."""

Call = Callable[[], object]
Clock = Callable[[], float]


class Line(NamedTuple):
    """One thing to measure: its name, the call in each way, and what it may cost."""

    name: str
    calls: dict[str, Call]
    bounds: Mapping[str, float | None] = MappingProxyType({})
    """At most so many times what the named way takes; ``""`` bounds the number itself. The first is
    the ratio that is shown; None bounds nothing."""
    policy: str | None = None
    unit: str = "s"
    wall: bool = False
    found: Callable[[], dict[str, float]] | None = None
    """Measures in another way than `least`; then there are no calls."""
    seconds: float | None = None
    """How long each way is measured, if it is not as long as others."""
    warns: bool = True
    """Whether NumPy is in the state that programs are in, and warns: nobody sees it."""


class Unavailable(Exception):
    """A chapter cannot be measured here, and why."""


class Options(NamedTuple):
    """How much is measured."""

    quick: bool = False
    lot: str = ""
    """What chapter operations draws its lines by."""

    @property
    def seconds(self) -> float:
        """How long each way of a line is measured, at the least."""
        return 0.01 if self.quick else 0.03

    @property
    def elements(self) -> int:
        """Of a large array: more than the caches hold."""
        return 1 << 20 if self.quick else 1 << 22


class Way:
    """One way of a line, its turns and the least of them."""

    def __init__(self, call: Call, clock: Clock) -> None:
        self.timer = timeit.Timer(call, timer=clock)
        self.timer.timeit(1)  # which makes what is made once
        self.least = self.timer.timeit(1)
        self.spent, self.turns = 0.0, 0

    def turn(self) -> None:
        """Take one turn."""
        loops = max(1, int(TURN / max(self.least, 1e-7)))
        first = self.timer.timeit(1)
        took = self.timer.timeit(loops)
        self.least = min(self.least, took / loops) if self.turns else took / loops
        self.spent += first + took
        self.turns += 1

    def done(self, seconds: float, ours: float) -> bool:
        """Say whether it had its turns."""
        if self.least > FAR * ours:
            return self.turns >= FAR_TURNS
        return self.turns >= LEAST_TURNS and self.spent >= seconds


def least(calls: dict[str, Call], seconds: float, clock: Clock) -> dict[str, float]:
    """Return the least seconds a call of each way takes; the ways take turns."""
    order = random.Random(0)
    ways = {name: Way(call, clock) for name, call in calls.items()}
    active = list(ways.values())
    while active:
        order.shuffle(active)
        for way in active:
            way.turn()
        ours = ways[OURS].least if OURS in ways else min(way.least for way in ways.values())
        active = [way for way in active if not way.done(seconds, ours)]
    return {name: way.least for name, way in ways.items()}


def measure(line: Line, options: Options) -> dict[str, float]:
    """Measure a line under its policy: a number for each way."""
    state: Any = {} if line.warns else {"all": "ignore"}
    with (
        pa.policy(line.policy or pa.get_policy()),
        np.errstate(**state),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        if line.found is not None:
            return line.found()
        clock = time.perf_counter if line.wall else time.process_time
        return least(line.calls, line.seconds or options.seconds, clock)
