"""What promoarray adds to one operation, and to starting Python.

Run ``python benchmarks/overhead.py``. Every number is a ratio to NumPy measured in the same run,
rounds of all candidates taking turns, since a machine's speed changes from one second to the next.
Nothing is asserted: a time is a measurement, not a test.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import timeit
from importlib.metadata import version
from statistics import median
from typing import NamedTuple

import ml_dtypes
import numpy as np
from one_element import Line, lines

import promoarray as pa


class Timing(NamedTuple):
    """Seconds of one call, over many rounds."""

    fastest: float
    median: float


def interleaved(candidates: dict[str, Line], rounds: int) -> dict[str, Timing]:
    """Time each candidate `rounds` times, taking turns, each round about two milliseconds long."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    timers = {name: timeit.Timer(line.run) for name, line in candidates.items()}
    loops: dict[str, int] = {}
    for turn in range(rounds + 1):
        for name, timer in timers.items():
            with pa.policy(getattr(candidates[name].run, "policy", pa.get_policy())):
                if turn:
                    seconds[name].append(timer.timeit(loops[name]) / loops[name])
                else:  # which finds the executables, and the length of a round
                    timer.timeit(10)
                    loops[name] = max(1, int(0.002 / (timer.timeit(200) / 200)))
    return {name: Timing(min(s), median(s)) for name, s in seconds.items()}


IMPORTS = {
    "numpy": "import numpy",
    "numpy, ml_dtypes": "import numpy, ml_dtypes",
    "promoarray": "import promoarray",
}


def imports(rounds: int) -> dict[str, Timing]:
    """Time imports, each in a fresh interpreter and by that interpreter's clock."""
    seconds: dict[str, list[float]] = {name: [] for name in IMPORTS}
    # As an installed package has it: bytecode is written once, and read from then on.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(rounds + 1):
        for name, statement in IMPORTS.items():
            code = f"from time import perf_counter as now\nt = now()\n{statement}\nprint(now() - t)"
            command = [sys.executable, "-c", code]
            run = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
            out = run.stdout
            if turn:  # the first turn only fills the caches of the file system and of bytecode
                seconds[name].append(float(out))
    return {name: Timing(min(s), median(s)) for name, s in seconds.items()}


def processor() -> str:
    """Name the processor, as well as the operating system lets us."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
            return names[0] if names else platform.machine()
    except OSError:
        return platform.processor() or platform.machine()


def level() -> str:
    """Name the instruction sets that count here, by NumPy's own detection."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return ", ".join(found) or "baseline only"


def ratios(timings: dict[str, Timing], lines: dict[str, Line]) -> dict[str, dict[str, object]]:
    """Each operation's time as a ratio to the first, its budget, and whether it keeps to it."""
    reference = next(iter(timings.values())).fastest
    found: dict[str, dict[str, object]] = {}
    for name, timing in timings.items():
        ratio, budget = timing.fastest / reference, lines[name].budget
        within = None if budget is None else ratio <= budget
        found[name] = {"ns": timing.fastest * 1e9, "ratio": ratio, "budget": budget} | {
            "within": within
        }
    return found


def print_operations(timings: dict[str, Timing], lines: dict[str, Line]) -> None:
    """Print a row an operation; what is beyond its budget is marked."""
    print(
        f"\none element, policy {pa.get_policy().name}\n{'':36}{'ns':>9}{'ratio':>9}{'budget':>8}"
    )
    rows = ratios(timings, lines)
    for name, row in rows.items():
        budget = "" if row["budget"] is None else f"{row['budget']:8.1f}"
        mark = "  over" if row["within"] is False else ""
        print(f"{name:36}{row['ns']:9.0f}{row['ratio']:8.2f}x{budget}{mark}")
    over = sum(row["within"] is False for row in rows.values())
    print(f"Ratios are to the first row, fastest to fastest. {over} over their budget.")


def report(title: str, timings: dict[str, Timing], reference: str, unit: float, name: str) -> None:
    """Print a table of times and of ratios to the reference row."""
    base = timings[reference]
    print(f"\n{title}\n{'':32}{'fastest':>12}{'median':>12}{'ratio':>9}{'ratio':>9}")
    for row, t in timings.items():
        print(
            f"{row:32}{t.fastest * unit:9.1f} {name}{t.median * unit:9.1f} {name}"
            f"{t.fastest / base.fastest:8.2f}x{t.median / base.median:8.2f}x"
        )
    print(f"Ratios are to '{reference}', fastest to fastest and median to median.")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200, help="turns of the operations (200)")
    parser.add_argument("--imports", type=int, default=20, help="turns of the imports (20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    versions = {"python": platform.python_version(), "numpy": np.__version__}
    versions |= {"ml_dtypes": ml_dtypes.__version__, "promoarray": version("promoarray")}
    machine = {"cpu": processor(), "cores": os.cpu_count(), "simd": level(), **versions}
    candidates = lines()
    added = interleaved(candidates, options.rounds)
    started = imports(options.imports)
    if options.json:
        found = {"machine": machine, "operations": ratios(added, candidates), "imports": started}
        print(json.dumps(found, indent=2))
        return
    for key, value in machine.items():
        print(f"{key:12}{value}")
    print_operations(added, candidates)
    report("import, in a fresh interpreter", started, "numpy, ml_dtypes", 1e3, "ms")


if __name__ == "__main__":
    main()
