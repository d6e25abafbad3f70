"""Policies, casts, traces and shadow runs in eight threads and eight tasks: answers as of one.

Each worker does random steps under policies of its own, by blocks of context managers that all
workers share. First they work one after the other; then in threads that begin at once, and as
tasks that take turns between the steps. Policies are new to every run, so that all of them come
first to what is made when it is first asked for.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
from numpy.random import Generator as Random

import promoarray as pa
from fuzz.layouts import OPERATIONS, STORED, answer, laid_out, numbers, one_of
from promoarray.policies import as_policy

WORKERS, STEPS = 8, 5

Worker = Generator[None, None, list[Any]]
"""Stands still where others may have their turn, and returns its answers."""


class Shared:
    """What the workers of one run have in common: policies, and context managers for them."""

    def __init__(self, names: list[str]) -> None:
        self.policies = [as_policy(name).derive(f"{name}/threads") for name in names]
        self.blocks = [pa.policy(policy) for policy in self.policies]
        self.guard = pa.no_escape(scalars=False)


def operation(random: Random, convert: Callable[[Any], Any] = pa.asarray) -> Any:
    """One operation on random operands, one of them perhaps a Python scalar; its answer."""
    shape = (int(random.integers(0, 40)),)
    x, y = (laid_out(random, numbers(random, shape, one_of(random, STORED))) for _ in range(2))
    function = one_of(random, OPERATIONS[3:])
    with np.errstate(all="ignore"):
        if random.random() < 0.3:
            return answer(lambda a, b: a * b, convert(x), one_of(random, [2, 0.5, True, 300, 1j]))
        return answer(function, convert(x), convert(y))


def refused(x: Any) -> bool:
    """Whether an array may not leave its policy."""
    try:
        np.asarray(x)
    except pa.EscapeError:
        return True
    return False


# -- steps: each returns what it saw, and lets others in where it stands still --------------------

Step = Callable[[Random, Shared], Worker]


def under_a_policy(random: Random, shared: Shared) -> Worker:
    """Operations in blocks that nest, one of them in itself."""
    outer, inner = one_of(random, shared.blocks), one_of(random, shared.blocks)
    seen = []
    with outer as policy:
        yield
        seen.append(operation(random))
        with inner, outer:
            yield
            seen += [operation(random), pa.get_policy() is policy]
        yield
        seen += [operation(random), pa.get_policy() is policy]
    return seen


def of_a_namespace(random: Random, shared: Shared) -> Worker:
    """Operations on arrays that are bound, with a function of the namespace."""
    xp = pa.namespace(one_of(random, shared.policies))
    yield
    mixed = operation(random, xp.asarray)
    x, y = (xp.asarray(numbers(random, (3,), one_of(random, STORED))) for _ in range(2))
    yield
    with np.errstate(all="ignore"):
        return [mixed, answer(xp.multiply, x, y), answer(xp.linalg.vecdot, x, y)]


def traced(random: Random, shared: Shared) -> Worker:
    """What a trace lists."""
    with one_of(random, shared.blocks), pa.trace() as found:
        yield
        seen = [operation(random) for _ in range(2)]
        yield
    casts = [(cast.name, cast.source.name, cast.target.name) for cast in found.casts]
    return [*seen, sorted(casts), found.casts.total()]


def in_a_shadow_run(random: Random, shared: Shared) -> Worker:
    """Where other policies differ."""
    others = [one_of(random, shared.policies) for _ in range(2)]
    with one_of(random, shared.blocks), pa.shadow(*others) as found:
        yield
        seen = [operation(random) for _ in range(2)]
        yield
    return [*seen, found.operations, sorted(str(each.name) for each in found.divergences)]


def guarded(random: Random, shared: Shared) -> Worker:
    """Arrays that may not leave, and may before and after."""
    x = pa.ones(2)
    before = refused(x)
    with shared.guard:
        yield
        inside = refused(x)
        yield
    return [before, inside, refused(x)]


def with_an_error(random: Random, shared: Shared) -> Worker:
    """An error that leaves a block."""
    try:
        with one_of(random, shared.blocks):
            yield
            raise KeyError
    except KeyError:
        yield
    return [pa.get_policy().name]


def decorated(random: Random, shared: Shared) -> Worker:
    """A generator that takes turns with its caller."""

    @one_of(random, shared.blocks)
    def answers() -> Iterator[Any]:
        for _ in range(3):
            yield pa.get_policy().name, operation(random)

    seen = []
    for each in answers():
        yield
        seen += [each, pa.get_policy().name]
    return seen


WAYS: list[Step] = [
    under_a_policy,
    of_a_namespace,
    traced,
    in_a_shadow_run,
    guarded,
    with_an_error,
    decorated,
]


def worker(seed: int, shared: Shared) -> Worker:
    """Several steps; what they saw, and that they left nothing behind."""
    random = np.random.default_rng(seed)
    before, seen = pa.get_policy(), []
    for _ in range(STEPS):
        step = one_of(random, WAYS)
        seen.append((step.__name__, (yield from step(random, shared))))
        assert pa.get_policy() is before, step.__name__
    return seen


# -- runs -----------------------------------------------------------------------------------------


def to_the_end(work: Worker) -> list[Any]:
    """Run a worker without a stop."""
    while True:
        try:
            next(work)
        except StopIteration as stop:
            found: list[Any] = stop.value
            return found


def in_threads(workers: list[Worker]) -> list[Any]:
    """Run workers in a thread each; what they return, or the error."""
    start, found = threading.Barrier(len(workers)), [None] * len(workers)

    def run(index: int) -> None:
        start.wait()
        try:
            found[index] = to_the_end(workers[index])
        except BaseException as error:
            found[index] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(workers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def in_tasks(workers: list[Worker], random: Random) -> list[Any]:
    """Run workers as tasks, which pause where they stand still, or do not."""

    async def run(work: Worker) -> list[Any]:
        while True:
            try:
                next(work)
            except StopIteration as stop:
                return stop.value
            for _ in range(int(random.integers(3))):
                await asyncio.sleep(0)

    async def every() -> list[Any]:
        return await asyncio.gather(*map(run, workers))

    return asyncio.run(every())


def once(random: Random) -> None:
    """One run of all workers: by turns, in threads, as tasks."""
    names = [one_of(random, pa.list_policies()) for _ in range(3)]
    seeds = [int(random.integers(1 << 32)) for _ in range(WORKERS)]

    def workers() -> list[Worker]:
        shared = Shared(names)
        return [worker(seed, shared) for seed in seeds]

    alone = [to_the_end(work) for work in workers()]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = in_threads(workers())
    finally:
        sys.setswitchinterval(interval)
    for found in (threads, in_tasks(workers(), random)):
        for index, (given, wanted) in enumerate(zip(found, alone, strict=True)):
            if isinstance(given, BaseException):
                raise given
            assert given == wanted, (index, names)
