"""What it costs a program that promoarray observes: loops of small operations, and an example.

Run ``python benchmarks/observed.py``. A program runs plainly, in a ``pa.trace()``, in a
``pa.shadow()`` of one policy and of the eight default ones, and as ``promoarray compare`` runs it;
a loop of NumPy's own runs plainly and recorded; all in one process and taking turns. The thread's
own time on the processor counts, of which the least is taken. Starting Python and printing the
report are not in it. Nothing is asserted.

``lines()`` returns what is measured against the budgets. Costs in microseconds an operation are
ratios to a microsecond, so that a line reads like the others.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import pairwise
from pathlib import Path

import promoarray as pa
from promoarray.core.observers import observing
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.diagnostics.record.numpy.rewriting import rewritten
from promoarray.diagnostics.record.numpy.session import Session
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.run.task import Task
from promoarray.diagnostics.run.watch import Watch
from promoarray.policies import as_policy

DIGITS = Path(__file__).resolve().parents[1] / "examples" / "digits.py"
OPERATIONS = 20_000
ROUNDS = 7

Way = Callable[[], AbstractContextManager[object]]
Line = tuple[str, float, float]


@contextlib.contextmanager
def compared() -> Iterator[None]:
    """Observe as ``promoarray compare`` does, findings written down included."""
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(Task(DEFAULT), folder)
        with observing(watch, everywhere=True):
            yield
        watch.close()


WAYS: dict[str, Way] = {
    "plain": nullcontext,
    "trace": pa.trace,
    "shadow of 1": partial(pa.shadow, "torch"),
    "shadow of 8": pa.shadow,
    "compare": compared,
}


# --- Programs ------------------------------------------------------------------------------------


def loop() -> None:
    """Run four small operations over and over, one of them where policies differ."""
    x = pa.asarray([1.0, 2.0, 3.0], dtype=pa.float32)
    y = pa.asarray([1, 2, 3], dtype=pa.int8)
    s = pa.zeros(3, dtype=pa.float32)
    for _ in range(OPERATIONS // 4):
        s = s + x
        t = s * 1.5
        u = t + y
        pa.sum(u)


def other_operations() -> None:
    """Run four operations with more to them: options, a 0-d array, a target, a mask."""
    x = pa.asarray([1.0, 2.0, 3.0], dtype=pa.float32)
    y = pa.asarray([1, 2, 3], dtype=pa.int8)
    half, above = pa.asarray(0.5, dtype=pa.float32), pa.asarray([True, False, True])
    s = pa.zeros(3, dtype=pa.float32)
    for _ in range(OPERATIONS // 4):
        pa.max(x, axis=0, keepdims=True)
        x * half
        s += y
        pa.where(above, x, y)


def in_functions() -> None:
    """Run operations of which each stands in a function of its own frame."""
    x = pa.asarray([1.0, 2.0, 3.0], dtype=pa.float32)
    y = pa.asarray([1, 2, 3], dtype=pa.int8)

    def shifted(value: pa.PArray) -> pa.PArray:
        return value + y

    for _ in range(OPERATIONS):
        shifted(x)


def digits() -> None:
    """Run ``examples/digits.py``, which prints what it finds."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(DIGITS_CODE, {"__name__": "__main__", "__file__": str(DIGITS)})


DIGITS_CODE = compile(DIGITS.read_text(encoding="utf-8"), str(DIGITS), "exec")

OF_NUMPY = f"""
import numpy as np

x, y = np.zeros(3), np.ones(3, np.float32)
for _ in range({OPERATIONS // 4}):
    z = y + x
    z *= 1.5
    x[1:] = y[1:]
    np.exp(y)
"""
"""Four operations and a view, of arrays of which policies have another default dtype."""

PROGRAMS: dict[str, Callable[[], None]] = {
    "a loop of small operations": loop,
    "options, 0-d arrays, targets, masks": other_operations,
    "operations in functions": in_functions,
    "examples/digits.py": digits,
}

BUDGETS: dict[str, dict[str, float]] = {
    "a loop of small operations": {"compare": 3.0},
    "options, 0-d arrays, targets, masks": {"compare": 3.0},
    "operations in functions": {"compare": 3.0},
    "examples/digits.py": {"compare": 1.3},
}
"""Times the plain run."""

MICROSECONDS = {"trace": 2.0, "shadow of 1": 1.5, "shadow of 8": 8 * 1.5}
"""What an operation may cost more, in a loop of those whose verdicts are cached."""


# --- Measuring -----------------------------------------------------------------------------------


def operations_of(program: Callable[[], None]) -> int:
    """Count the operations of a program, and have all that is made once made."""
    with pa.shadow("numpy") as report:
        program()
    return report.operations


def seconds(program: Callable[[], None], ways: dict[str, Way], rounds: int) -> dict[str, float]:
    """Return the least seconds of each way to run a program."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for way, around in ways.items():
            start = time.thread_time()
            with around():
                program()
            least[way] = min(least[way], time.thread_time() - start)
    return least


def growth(rounds: int) -> Iterator[Line]:
    """Yield what each doubling of the number of shadow policies makes of a loop, per operation.

    A doubling may double what the loop takes, and no more: then there is no cliff.
    """
    names = pa.list_policies()
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n < len(names)] + [len(names)]
    ways: dict[str, Way] = {str(n): partial(pa.shadow, *names[:n]) for n in counts}
    least = seconds(loop, ways, rounds)
    for fewer, more in pairwise(counts):
        ratio = least[str(more)] / least[str(fewer)]
        yield f"a loop under {more} shadow policies, against {fewer}", ratio, more / fewer


def recorded(rounds: int) -> Line:
    """Return what recording a loop of NumPy's costs, an operation."""
    plain, hooked = compile(OF_NUMPY, "loop.py", "exec"), rewritten(OF_NUMPY, "loop.py")
    least = {"plain": float("inf"), "recorded": float("inf")}
    recorder = Recorder(as_policy("numpy@2"), tuple(map(as_policy, DEFAULT)))
    for _ in range(rounds):
        for way, code in ("plain", plain), ("recorded", hooked):
            session = Session(recorder) if way == "recorded" else None
            with nullcontext() if session is None else hook().recording(session):
                start = time.thread_time()
                exec(code, {})
                least[way] = min(least[way], time.thread_time() - start)
    added = (least["recorded"] - least["plain"]) / OPERATIONS
    return "a loop of NumPy's own: recorded, us an operation", added * 1e6, 2.0


def lines(rounds: int = ROUNDS) -> list[Line]:
    """Measure what has a budget.

    Returns
    -------
    list of (str, float, float)
        The name, the ratio, and the budget of each.
    """
    found: list[Line] = []
    for name, program in PROGRAMS.items():
        operations, least = operations_of(program), seconds(program, WAYS, rounds)
        for way, budget in BUDGETS[name].items():
            found.append((f"{name}: {way} / plain", least[way] / least["plain"], budget))
        if name == "examples/digits.py":  # most of its verdicts are asked for once
            continue
        for way, budget in MICROSECONDS.items():
            added = (least[way] - least["plain"]) / operations
            found.append((f"{name}: {way}, us an operation", added * 1e6, budget))
    return [*found, recorded(rounds), *growth(rounds)]


def main() -> None:
    """Print the lines as a table, or as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = lines(args.rounds)
    if args.json:
        keys = "name", "ratio", "budget"
        print(json.dumps([dict(zip(keys, each, strict=True)) for each in found], indent=2))
        return
    for name, ratio, budget in found:
        print(f"{name:<64} {ratio:7.2f}  {budget:6.2f}  {'' if ratio <= budget else 'over'}")


if __name__ == "__main__":
    main()
