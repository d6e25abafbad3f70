"""What promoarray adds to one operation, and to starting Python.

Run ``python benchmarks/overhead.py``. Every number is a ratio to NumPy measured in the same run,
rounds of all candidates taking turns, since a machine's speed changes from one second to the next.
Nothing is asserted: a time is a measurement, not a test.
"""

from __future__ import annotations

import argparse
import json
import operator
import os
import platform
import subprocess
import sys
import timeit
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import NamedTuple

import ml_dtypes
import numpy as np

import promoarray as pa

I1, F1 = np.asarray([1], dtype=np.int8), np.asarray([2], dtype=np.float32)


class Timing(NamedTuple):
    """Seconds of one call, over many rounds."""

    fastest: float
    median: float


def interleaved(candidates: dict[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Time each candidate `rounds` times, taking turns, each round about two milliseconds long."""
    timers = {name: timeit.Timer(f) for name, f in candidates.items()}
    loops = {name: max(1, int(0.002 / (t.timeit(1000) / 1000))) for name, t in timers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(rounds):
        for name, timer in timers.items():
            seconds[name].append(timer.timeit(loops[name]) / loops[name])
    return {name: Timing(min(s), median(s)) for name, s in seconds.items()}


def operations() -> dict[str, Callable[[], object]]:
    """List ``a + b`` on one element; NumPy's addition of two float32 is what all compare with.

    Each has its executable when it is timed: operators and elementwise functions take the fast path
    (``fast_path.cpp``), what has options the dispatcher.
    """
    a, b = pa.asarray(F1), pa.asarray(F1)
    i, mask = pa.asarray(I1), pa.asarray(F1) > 0
    h, s = pa.astype(a, pa.bfloat16), pa.astype(a, pa.float16)
    target, exact = pa.asarray(F1, copy=True), pa.float8_e4m3fn
    bound = pa.namespace("torch").asarray(F1)
    x, y = F1, F1.copy()
    return {
        "numpy    float32 + float32": lambda: x + y,
        "numpy    int8 + float32": lambda: I1 + y,
        "numpy    float32 + 1.5": lambda: x + 1.5,
        "promoarray  float32 + float32": lambda: a + b,
        "promoarray  int8 + float32": lambda: i + b,
        "promoarray  float32 + 1.5": lambda: a + 1.5,
        "promoarray  1.5 + float32": lambda: 1.5 + a,
        "promoarray  bound to torch": lambda: bound + bound,
        "promoarray  pa.add(a, b)": lambda: pa.add(a, b),
        "promoarray  bfloat16 + bfloat16": lambda: h + h,
        "promoarray  float16 + float16": lambda: s + s,
        "promoarray  bfloat16 + float32": lambda: h + b,
        "promoarray  bfloat16 + 1.5": lambda: h + 1.5,
        "promoarray  float32 < float32": lambda: a < b,
        "promoarray  -float32": lambda: -a,
        "promoarray  exp(float32)": lambda: pa.exp(a),
        "promoarray  exp(bfloat16)": lambda: pa.exp(h),
        "promoarray  sum(float32)": lambda: pa.sum(a),
        "promoarray  where(m, a, b)": lambda: pa.where(mask, a, b),
        "promoarray  a += b": lambda: operator.iadd(target, b),
        "promoarray  astype(float8)": lambda: a.astype(exact),
    }


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
    parser.add_argument("--rounds", type=int, default=200, help="turns of the additions (200)")
    parser.add_argument("--imports", type=int, default=20, help="turns of the imports (20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()

    versions = {"python": platform.python_version(), "numpy": np.__version__}
    versions |= {"ml_dtypes": ml_dtypes.__version__, "promoarray": version("promoarray")}
    machine = {"cpu": processor(), "cores": os.cpu_count(), "simd": level(), **versions}
    added = interleaved(operations(), options.rounds)
    started = imports(options.imports)
    if options.json:
        print(json.dumps({"machine": machine, "operations": added, "imports": started}, indent=2))
        return
    for key, value in machine.items():
        print(f"{key:12}{value}")
    report(
        f"a + b, one element, policy {pa.get_policy().name}", added, next(iter(added)), 1e9, "ns"
    )
    report("import, in a fresh interpreter", started, "numpy, ml_dtypes", 1e3, "ms")


if __name__ == "__main__":
    main()
