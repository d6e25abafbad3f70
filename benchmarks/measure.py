"""Measure lines: each is the same work in several ways, which take turns in one process.

``timeit`` times the turns. A turn is a quarter of a millisecond or one call, and begins with a call
that is not counted, so that each way finds its operands in the caches. The least of a way's turns
counts, as what else the machine does only adds time. Each process adds one value to a line;
pyperf's files keep them with what it knows of the machine, and ``python -m pyperf compare_to``
compares two files.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import timeit
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import pyperf

Call = Callable[[], object]
Values = dict[str, float]

OURS = "promoarray"
CHAPTERS = {
    "dispatch": "one_element:lines",
    "numpy calls": "one_element:numpy_calls",
    "throughput": "throughput:lines",
    "casts": "casts:lines",
    "import": "whole:imports",
    "recording": "whole:recording",
    "dask": "whole:dask_arrays",
    "build": "whole:build",
}
"""Each chapter, and the generator of its lines."""

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "PROMOARRAY_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}

TURN, SECONDS = 2.5e-4, 0.02
"""How long a turn is, and all turns of a way: at least `FEWEST` of them."""
FEWEST = 5


class Bound(NamedTuple):
    """The most that a line may take: so many times the fastest of some ways, and seconds more."""

    times: float
    ways: tuple[str, ...] = ()
    """Of no ways: the number itself."""
    more: float = 0.0

    def reference(self, values: Values) -> float | None:
        """Return what the line is held against; None where that was not measured."""
        if not self.ways:
            return 1.0
        return min((values[way] for way in self.ways if way in values), default=None)


class Line(NamedTuple):
    """One thing to measure: its name, its ways, and what it may take.

    Attributes
    ----------
    calls : dict
        From each way to its call, or a function that returns all values.
    unit : {"second", "byte"}
    """

    name: str
    calls: dict[str, Call] | Callable[[], Values]
    bounds: tuple[Bound, ...]
    unit: str = "second"


class Options(NamedTuple):
    """How much is measured, and beside which libraries."""

    peers: tuple[str, ...] = ("torch", "jax")
    quick: bool = False
    only: str = ""

    @property
    def elements(self) -> int:
        """Of a large array: more than the caches hold."""
        return 1 << 20 if self.quick else 1 << 22


# --- In the process that measures ----------------------------------------------------------------


def take_turns(calls: dict[str, Call]) -> Values:
    """Return the least seconds of CPU time that a call of each way takes."""
    timers = {way: timeit.Timer(call, timer=time.process_time) for way, call in calls.items()}
    loops, turns = {}, {}
    for way, timer in timers.items():
        timer.timeit(1)  # which makes what is made once
        took = max(timer.timeit(1), 1e-7)
        loops[way] = max(1, int(TURN / took))
        turns[way] = max(FEWEST, int(SECONDS / (loops[way] * took)))
    order = [way for way, count in turns.items() for _ in range(count)]
    random.Random(0).shuffle(order)
    least = dict.fromkeys(calls, float("inf"))
    for way in order:
        timers[way].timeit(1)
        least[way] = min(least[way], timers[way].timeit(loops[way]) / loops[way])
    return least


def measured(chapter: str, options: Options) -> Iterator[pyperf.Benchmark]:
    """Measure a chapter once: a benchmark of one value for each way of each line."""
    module, _, name = CHAPTERS[chapter].partition(":")
    machine = pyperf.Run([1.0], collect_metadata=True)
    about = {key: machine._metadata[key] for key in machine._metadata}
    about |= {"commit": commit(), "elements": options.elements, "versions": versions(options.peers)}
    for line in getattr(import_module(module), name)(options):
        if options.only not in line.name:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = line.calls() if callable(line.calls) else take_turns(line.calls)
        for way, value in values.items():
            told = {"name": f"{chapter}: {line.name} [{way}]", "unit": line.unit}
            told |= {"chapter": chapter, "line": line.name, "way": way}
            told |= {"bounds": json.dumps(line.bounds)}
            yield pyperf.Benchmark(
                [pyperf.Run([value], metadata=about | told, collect_metadata=False)]
            )


def commit() -> str:
    """Name the commit of the tree, and say if it is not as committed."""
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def versions(peers: Sequence[str]) -> str:
    """Name the versions of what is measured; what is not installed is left out."""
    found = []
    for name in (OURS, "numpy", "ml_dtypes", *peers):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def main() -> None:
    """Measure a chapter as the parent asks for it, into the file it names."""
    target, chapter, asked = sys.argv[1:]
    given: dict[str, Any] = json.loads(asked)
    options = Options(**given | {"peers": tuple(given["peers"])})
    if found := [*measured(chapter, options)]:
        pyperf.BenchmarkSuite(found).dump(target)


# --- In the process that asks --------------------------------------------------------------------


def suite(
    chapters: Sequence[str], options: Options, processes: int, tell: Callable[[str], None]
) -> tuple[pyperf.BenchmarkSuite | None, dict[str, str]]:
    """Measure chapters in several processes each; return what was found, and why some failed."""
    found: list[pyperf.BenchmarkSuite] = []
    failed = {}
    with tempfile.TemporaryDirectory() as folder:
        for chapter in chapters:
            for number in range(1 if chapter == "build" else processes):
                tell(f"{chapter}, {number + 1} of {processes}")
                target = Path(folder, f"{chapter} {number}.json")
                words = [sys.executable, __file__, str(target), chapter]
                done = subprocess.run(
                    [*words, json.dumps(options._asdict())],
                    env=os.environ | ONE_THREAD,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    failed[chapter] = done.stderr.strip().rpartition("\n")[2]
                elif target.exists():
                    found.append(pyperf.BenchmarkSuite.load(str(target)))
    return joined(found), failed


def joined(suites: Sequence[pyperf.BenchmarkSuite]) -> pyperf.BenchmarkSuite | None:
    """Put the values of several processes together."""
    if not suites:
        return None
    whole = suites[0]
    for each in suites[1:]:
        whole.add_runs(each)
    return whole


if __name__ == "__main__":
    main()
