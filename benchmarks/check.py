"""Compare two files that ``python -m benchmarks --json FILE`` wrote, before and after a change.

Run ``python benchmarks/check.py BEFORE AFTER``. It prints the lines that changed beyond the noise
that each run measured itself, and nothing where none did. Exit status 1 if a line became slower, 0
otherwise, 2 if a file cannot be read.

Every line was measured in several passes, each a process of its own. Its ratio is that of the
middle pass, its noise half of what the passes differ by, and at least that of the chapter's middle
line. A line changed if its ratio did by more than twice the noise of both runs together, and by
more than a fiftieth.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

OURS, BEST = "promoarray", "best"
BEST_OF = ("numpy", "torch", "jax")
FORMAT = 1
TIMES_NOISE, LEAST_CHANGE = 2.0, 0.02

Row = dict[str, Any]
"""A line as JSON has it: its name, unit, bounds, and the values of each way, one a pass."""


# --- One line ------------------------------------------------------------------------------------


def reference(row: Row, against: str) -> list[float] | None:
    """What ours is held to, one number a pass; None where that was not measured."""
    values = row["values"]
    if against == "":
        return [1.0] * len(values[OURS])
    if against == BEST:
        passes = [values[who] for who in BEST_OF if values.get(who)]
        return [min(numbers) for numbers in zip(*passes, strict=False)] if passes else None
    return values.get(against) or None


def ratios(row: Row, against: str) -> list[float]:
    """Ours by what it is held to, pass by pass: they took turns, so what slows both cancels."""
    held = reference(row, against) or []
    return [ours / other for ours, other in zip(row["values"][OURS], held, strict=False)]


def ratio(row: Row, against: str) -> float | None:
    """The middle one of the passes' ratios."""
    found = ratios(row, against)
    return median(found) if found else None


def noise(row: Row, against: str) -> float:
    """How much of the ratio is not known: half of what the passes differ by."""
    found = ratios(row, against)
    middle = median(found) if found else 0.0
    return (max(found) - min(found)) / 2 / middle if middle > 0 else 0.0


def usual_noises(rows: Iterable[Row]) -> dict[str, float]:
    """The noise of the middle line, by what lines are held to: with few passes that of a line may
    be small by chance."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for against, _, _ in judged(row):
            found.setdefault(against, []).append(noise(row, against))
    return {against: median(numbers) for against, numbers in found.items()}


def is_over(row: Row, against: str, found: float, budget: float, usual: dict[str, float]) -> bool:
    """Whether a ratio is over its budget by more than the line's noise, and the usual one."""
    return found > budget * (1 + max(noise(row, against), usual.get(against, 0.0)))


def judged(row: Row) -> Iterator[tuple[str, float, float]]:
    """Each of a line's bounds that can be judged: against what, the ratio, the budget."""
    for against, budget in row["bounds"].items():
        if budget is not None and (found := ratio(row, against)) is not None:
            yield against, found, budget


# --- Two runs ------------------------------------------------------------------------------------


class Change(NamedTuple):
    """A line that takes another time than before."""

    chapter: str
    name: str
    against: str
    before: float
    after: float
    noise: float

    @property
    def slower(self) -> bool:
        """Whether it is a regression."""
        return self.after > self.before

    def __str__(self) -> str:
        held = f" x {self.against}" if self.against else ""
        word = "slower" if self.slower else "faster"
        times = self.after / self.before if self.slower else self.before / self.after
        return (
            f"{self.chapter}: {self.name}: {self.before:.3g} to {self.after:.3g}{held}, "
            f"{times:.2f} times {word} (noise {self.noise:.0%})"
        )


def changes(before: Row, after: Row) -> Iterator[Change]:
    """Compare the lines that both runs have, each by the first of its bounds."""
    for chapter, old in before["chapters"].items():
        new = after["chapters"].get(chapter, {"lines": []})
        rows = {row["name"]: row for row in new["lines"]}
        pairs = [(row, rows[row["name"]]) for row in old["lines"] if row["name"] in rows]
        floor = usual_noise(old["lines"]) + usual_noise(new["lines"])
        for one, other in pairs:
            if (change := changed(chapter, one, other, floor)) is not None:
                yield change


def usual_noise(rows: Iterable[Row]) -> float:
    """The noise of the middle line: that of one with few passes may be small by chance."""
    found = [noise(row, next(iter(row["bounds"]), "")) for row in rows]
    return median(found) if found else 0.0


def changed(chapter: str, one: Row, other: Row, floor: float) -> Change | None:
    """Tell of one line, if it changed beyond the noise."""
    for against in one["bounds"]:
        before, after = ratio(one, against), ratio(other, against)
        if before is None or after is None:
            continue
        unsure = max(noise(one, against) + noise(other, against), floor)
        times = max(before, after) / max(min(before, after), 1e-12)
        if times > 1 + max(TIMES_NOISE * unsure, LEAST_CHANGE):
            return Change(chapter, one["name"], against, before, after, unsure)
        return None
    return None


# --- Files ---------------------------------------------------------------------------------------


def read(path: Path) -> Row:
    """Read what a run wrote.

    Raises
    ------
    ValueError
        If it is not that.
    """
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(run, dict) or run.get("format") != FORMAT:
        raise ValueError(f"{path} was not written by python -m benchmarks --json, format {FORMAT}")
    try:
        list(changes(run, run))
        most = max(len(v) for row in _rows(run) for v in row["values"].values())
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise ValueError(f"{path} is damaged: {error!r}") from error
    if most < 2:
        raise ValueError(f"{path} has one pass: what its noise is, only several tell")
    return run


def _rows(run: Row) -> Iterator[Row]:
    return (row for chapter in run["chapters"].values() for row in chapter["lines"])


def main(arguments: list[str] | None = None) -> int:
    """Print what changed; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, metavar="BEFORE")
    parser.add_argument("after", type=Path, metavar="AFTER")
    options = parser.parse_args(arguments)
    try:
        before, after = read(options.before), read(options.after)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    found = sorted(changes(before, after), key=lambda change: change.before / change.after)
    for change in found:
        print(change)
    return int(any(change.slower for change in found))


if __name__ == "__main__":
    sys.exit(main())
