"""What it costs a program that promoarray observes: a loop of small operations, and an example.

Run ``python benchmarks/observed.py``. A program runs plainly, in a ``pa.trace()``, in a
``pa.shadow()`` of the eight default policies, and as ``promoarray compare`` runs it, all in one
process and taking turns. The thread's own time on the processor counts, of which the least is
taken. Starting Python and printing the report are not in it. Nothing is asserted.
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
from pathlib import Path

from measure import OURS, Line, Options
from peers import Peer

import promoarray as pa
from promoarray.core.observers import observing
from promoarray.diagnostics.compare.task import Task
from promoarray.diagnostics.compare.watch import Watch
from promoarray.diagnostics.shadow.observer import DEFAULT

DIGITS = Path(__file__).resolve().parents[1] / "examples" / "digits.py"
ROUNDS = 10_000


@contextlib.contextmanager
def compared() -> Iterator[None]:
    """Observe as ``promoarray compare`` does, findings written down included."""
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(Task(DEFAULT), folder)
        with observing(watch, everywhere=True):
            yield
        watch.close()


WAYS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "plain": nullcontext,
    "trace": pa.trace,
    "shadow": pa.shadow,
    "compare": compared,
}


def loop() -> None:
    """Run four small operations over and over, one of them where policies differ."""
    x = pa.asarray([1.0, 2.0, 3.0], dtype=pa.float32)
    y = pa.asarray([1, 2, 3], dtype=pa.int8)
    s = pa.zeros(3, dtype=pa.float32)
    for _ in range(ROUNDS):
        s = s + x
        t = s * 1.5
        u = t + y
        pa.sum(u)


def digits() -> None:
    """Run ``examples/digits.py``, which prints what it finds."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(DIGITS_CODE, {"__name__": "__main__", "__file__": str(DIGITS)})


DIGITS_CODE = compile(DIGITS.read_text(encoding="utf-8"), str(DIGITS), "exec")

PROGRAMS: dict[str, Callable[[], None]] = {
    "a loop of small operations": loop,
    "examples/digits.py": digits,
}


def operations_of(program: Callable[[], None]) -> int:
    """Count the operations of a program, and have all that is made once made."""
    with pa.shadow("numpy") as report:
        program()
    return report.operations


def seconds(program: Callable[[], None], rounds: int) -> dict[str, float]:
    """Return the least seconds of each way to run a program."""
    least = dict.fromkeys(WAYS, float("inf"))
    for _ in range(rounds):
        for way, around in WAYS.items():
            start = time.thread_time()
            with around():
                program()
            least[way] = min(least[way], time.thread_time() - start)
    return least


SHADOW, TRACE = 1.5e-6, 2e-6
"""Seconds added to an operation, by a policy of a shadow run and by a trace."""

TIMES = {"a loop of small operations": 3.0, "examples/digits.py": 1.3}
"""At most so many times the plain run under `compare`."""


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """What is promised of reports: each program is run for all lines of it at once."""
    for name, program in PROGRAMS.items():
        operations = operations_of(program)
        least = seconds(program, 2 if options.quick else 5)
        each = {way: (took - least["plain"]) / operations for way, took in least.items()}
        shadow, small = each["shadow"] / len(DEFAULT), program is loop
        ratio = {OURS: least["compare"], "plain": least["plain"]}
        for what, numbers, bounds in (
            ("shadow, an operation and policy", {OURS: shadow}, {"": SHADOW if small else None}),
            ("trace, an operation", {OURS: each["trace"]}, {"": TRACE if small else None}),
            ("compare", ratio, {"plain": TIMES[name]}),
        ):
            yield Line(f"{what}: {name}", {}, bounds, found=lambda numbers=numbers: numbers)


def main() -> None:
    """Print a table for each program, or all of them as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found: dict[str, dict[str, object]] = {}
    for name, program in PROGRAMS.items():
        operations, least = operations_of(program), seconds(program, args.rounds)
        found[name] = {"operations": operations, "seconds": least}
        if not args.json:
            print(f"{name}: {operations} operations")
            for way, took in least.items():
                ratio, added = took / least["plain"], (took - least["plain"]) / operations
                shown = f"{took * 1e3:9.1f} ms  {ratio:5.2f} x  {added * 1e6:+7.2f} us each"
                print(f"  {way:<8} {shown}")
    if args.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
