"""How fast casts are: every pair against a copy, every rule and quirk against the default cast.

Run ``python benchmarks/casts.py``; ``--chapter pairs`` takes one of the three. Every number is of
rounds in which the candidates take turns, all on one thread: the copy of the wider side, promoarray
and the others (ml_dtypes and NumPy by ``astype``; PyTorch and, with ``--onnxruntime``, that). What
is over its budget is measured again, three times as long, and marked if it still is. ``--level 1``
takes the loops for an x86-64 level below the machine's own. Nothing is asserted: a time is a
measurement, not a test.

A result of 32 MiB and more is fresh memory each time, to all but onnxruntime, which keeps its own:
that it is faster to 64-bit types says how long the system takes to hand over pages.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import time
import tracemalloc
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from cast_lines import FAMILIES, Line, family, pairs, quirks, rules, sample
from cast_peers import Cast, by_astype, by_onnxruntime, by_torch
from overhead import level, processor

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends import numpy as backend
from promoarray.dtypes import Kind

OTHERS = {"astype": by_astype, "torch": by_torch}
MEMORY = 1 << 20
"""What a cast may take beside its result, in bytes."""


class Chapter(NamedTuple):
    """What is measured, against what, and how many times that it may take."""

    lines: Any
    against: str
    budget: float


CHAPTERS = {
    "pairs": Chapter(pairs, "copy", 2.5),
    "rules": Chapter(rules, "default", 1.5),
    "quirks": Chapter(quirks, "default", 4.0),
}


class Arrays:
    """The samples of one source at a time, and what is copied for each size of a result."""

    def __init__(self, n: int) -> None:
        self.n, self._dtype, self._x = n, None, np.empty(0)
        self._zeros: dict[int, np.ndarray[Any, Any]] = {}

    def of(self, line: Line) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """What is cast, and the wider side of the cast."""
        if self._dtype is not line.source:
            self._dtype, self._x = line.source, sample(line.source, self.n)
        size = line.target.storage.itemsize
        if self._x.itemsize >= size:
            return self._x, self._x
        if size not in self._zeros:
            self._zeros[size] = np.ones(self.n * size, np.uint8).view(f"V{size}")
        return self._x, self._zeros[size]


def measure(chapter: str, line: Line, arrays: Arrays, rounds: int) -> dict[str, float]:
    """Time a cast by all who can: the fastest round of each, in nanoseconds an element."""
    x, wider = arrays.of(line)
    source, target, *rule = line[1:]
    candidates: dict[str, Cast] = {"promoarray": lambda: backend.cast(x, source, target, *rule)}
    if chapter == "pairs":
        candidates |= {"copy": wider.copy, "copy again": wider.copy}
        for name, make in OTHERS.items():
            if (run := make(source, target, x)) is not None:
                candidates[name] = run
    else:
        candidates["default"] = lambda: backend.cast(x, source, target)
    fastest = dict.fromkeys(candidates, float("inf"))
    with np.errstate(all="ignore"):
        for turn in range(rounds + 1):
            for name, run in list(candidates.items()):
                started = time.thread_time()  # CPU time: other processes do not count
                run()
                taken = time.thread_time() - started
                if turn == 0 and taken > 8 * fastest["promoarray"]:
                    del candidates[name]  # which no more rounds would make the faster
                if turn or name not in candidates:  # the first turn fills caches and pools
                    fastest[name] = min(fastest[name], taken)
                elif name == "promoarray":
                    fastest[name] = taken
        tracemalloc.start()
        made = backend.cast(x, source, target, *rule)
        beside = tracemalloc.get_traced_memory()[1] - made.nbytes
        tracemalloc.stop()
    return {who: seconds / arrays.n * 1e9 for who, seconds in fastest.items()} | {
        "beside": max(beside, 0)
    }


def ratio(chapter: str, times: dict[str, float]) -> float:
    """How many times that which the chapter compares with."""
    return times["promoarray"] / times[CHAPTERS[chapter].against]


def faults(chapter: str, times: dict[str, float], noise: float) -> str:
    """Say what is over its budget, or slower than another by more than the noise."""
    budget = CHAPTERS[chapter].budget
    found = [f"over {budget}"] if ratio(chapter, times) > budget else []
    slower = (f"slower than {o}" for o in OTHERS if times["promoarray"] > noise * times.get(o, 1e9))
    beside = times["beside"]
    memory = [f"{beside / MEMORY:.1f} MiB beside"] if beside > MEMORY else []
    return ", ".join([*found, *slower, *memory])


def run_chapter(
    chapter: str, lines: list[Line], arrays: Arrays, rounds: int
) -> tuple[dict[str, dict[str, float]], float]:
    """Measure the lines of a chapter, what is over its budget again; and the noise."""
    lines = sorted(lines, key=lambda line: line.source.name)
    results = {line.name: measure(chapter, line, arrays, rounds) for line in lines}
    spread = sorted(max(t["copy"] / t["copy again"], 1) for t in results.values() if "copy" in t)
    noise = max(spread[len(spread) * 19 // 20], 1.1) if spread else 1.1
    for line in lines:
        if faults(chapter, results[line.name], noise):
            again = measure(chapter, line, arrays, 3 * rounds)
            kept = results[line.name]
            results[line.name] = {who: min(t, kept.get(who, t)) for who, t in again.items()}
    return results, noise


def row(chapter: str, name: str, times: dict[str, float], noise: float) -> str:
    """Write one line: our time, its ratio, and how many times longer others take."""
    own = times["promoarray"]
    cells = [f"{own:8.3f} ns {ratio(chapter, times):6.2f}x"]
    for other in OTHERS if chapter == "pairs" else ():
        cells.append(f"{times[other] / own:9.1f}x" if other in times else f"{'-':>10}")
    return f"{name:56}{''.join(cells)}  {faults(chapter, times, noise)}".rstrip()


def show(chapter: str, results: dict[str, dict[str, float]], noise: float, worst: int) -> None:
    """Print the slowest lines of a chapter and all that are over, then what families take."""
    about = CHAPTERS[chapter]
    over = [name for name, times in results.items() if faults(chapter, times, noise)]
    ranked = sorted(results, key=lambda name: -ratio(chapter, results[name]))
    print(
        f"\n{chapter}: {len(results)}, budget {about.budget} x {about.against}; noise {noise:.2f}"
    )
    others = "".join(f"{other:>10}" for other in OTHERS) if chapter == "pairs" else ""
    print(f"{'':56}{'promoarray':>11}{about.against:>8}{others}")
    for name in [*ranked[:worst], *(n for n in ranked[worst:] if n in over)]:
        print(row(chapter, name, results[name], noise))
    print(f"{len(over)} of {len(results)} over")
    if chapter == "quirks":
        for quirk in dict.fromkeys(name.partition(": ")[2] for name in results):
            named = [n for n in results if n.endswith(f": {quirk}")]
            print(f"{quirk:40}{spread_of(chapter, results, named)}")


def spread_of(chapter: str, results: dict[str, dict[str, float]], names: list[str]) -> str:
    """Write the least and the greatest ratio of some lines."""
    ratios = sorted(ratio(chapter, results[name]) for name in names)
    return f"{ratios[0]:.1f}-{ratios[-1]:.1f}" if ratios else "-"


def families(results: dict[str, dict[str, float]]) -> str:
    """Write a table of the pairs by families, sources down and targets across."""
    lines = [f"| from, to | {' | '.join(FAMILIES)} |", "|---" * (len(FAMILIES) + 1) + "|"]
    for source in FAMILIES:
        cells = []
        for target in FAMILIES:
            names = [
                line.name
                for line in pairs()
                if (family(line.source), family(line.target)) == (source, target)
            ]
            cells.append(spread_of("pairs", results, [n for n in names if n in results]))
        lines.append(f"| {source} | {' | '.join(cells)} |")
    return "\n".join(lines)


def plot(results: dict[str, dict[str, float]], path: Path, title: str) -> None:
    """Draw the casts between float32 and the narrow floats as ratios to the copy."""
    plt = importlib.import_module("matplotlib.pyplot")
    shown = [d.name for d in dt.CONCRETE if d.kind is Kind.FLOAT and d.bits <= 8] + [
        "bfloat16",
        "float16",
        "int8",
    ]
    fig, panels = plt.subplots(1, 2, figsize=(11, 5.5), sharey=True, layout="constrained")
    for axes, names, label in (
        (panels[0], [f"float32 to {n}" for n in shown], "from float32"),
        (panels[1], [f"{n} to float32" for n in shown], "to float32"),
    ):
        for k, who in enumerate(("promoarray", *OTHERS)):
            points = [
                (i + 0.18 * (k - 1), results[name][who] / results[name]["copy"])
                for i, name in enumerate(names)
                if who in results.get(name, {})
            ]
            if points:
                axes.plot(*zip(*points, strict=True), "os^D"[k], label=who)
        axes.set_xticks(range(len(shown)), shown, rotation=60, ha="right")
        axes.set_yscale("log")
        axes.axhline(1, color="gray", linewidth=0.8)
        axes.grid(axis="y", alpha=0.3)
        axes.set_title(label)
    panels[0].set_ylabel("time / time to copy the wider side")
    panels[1].legend(frameon=False)
    fig.suptitle(title)
    fig.savefig(path, dpi=150)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--elements", type=int, default=1 << 22, help="of each array (4 Mi)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each cast (7)")
    parser.add_argument("--chapter", choices=CHAPTERS, action="append", help="one of the three")
    parser.add_argument("--only", default="", help="casts whose text has this, as 'float32 to '")
    parser.add_argument("--worst", type=int, default=20, help="lines of each chapter to show (20)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw a picture (matplotlib)")
    parser.add_argument("--level", type=int, default=kernels.levels()[-1], help="x86-64 level")
    parser.add_argument("--onnxruntime", action="store_true", help="measure it, too")
    options = parser.parse_args()
    kernels.use_level(options.level)
    if options.onnxruntime:
        OTHERS["onnxruntime"] = by_onnxruntime

    found = {"python": platform.python_version(), "numpy": np.__version__}
    found |= {"ml_dtypes": ml_dtypes.__version__, "promoarray": version("promoarray")}
    for name in ("torch", "onnxruntime"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    machine = {"cpu": processor(), "cores": os.cpu_count(), "simd": level(), **found}
    machine["level"] = f"{options.level} of {kernels.levels()}"
    if hasattr(os, "getloadavg"):  # others' work makes all of it slower
        machine["load"] = f"{os.getloadavg()[0]:.1f}"
    for key, value in machine.items():
        print(f"{key:12}{value}")
    print(f"\n{options.elements} elements, one thread, fastest of {options.rounds} rounds")

    measured: dict[str, Any] = {"machine": machine}
    for chapter in options.chapter or CHAPTERS:
        lines = [line for line in CHAPTERS[chapter].lines() if options.only in line.name]
        results, noise = run_chapter(chapter, lines, Arrays(options.elements), options.rounds)
        measured[chapter] = {"noise": noise, "nanoseconds": results}
        show(chapter, results, noise, options.worst)
        if chapter == "pairs":
            print(f"\nTimes a copy of the wider side, by families\n{families(results)}")
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1))
    if options.plot:
        plot(
            measured["pairs"]["nanoseconds"],
            options.plot,
            f"Casts, {options.elements} elements, one thread, {processor()}, level {options.level}",
        )


if __name__ == "__main__":
    main()
