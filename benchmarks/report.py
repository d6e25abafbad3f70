"""A run as tables: one a chapter, with the ratio, the budget and a mark for what is over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import growth
from check import BEST, OURS, Row, is_over, judged, noise, ratio, usual_noises
from rich.markup import escape
from rich.table import Table

from promoarray.console import counted, show

UNITS = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((2.0**20, "MiB"), (2.0**10, "KiB")),
    "x": ((1.0, ""),),
}


def amount(number: float, unit: str) -> str:
    """Write a number with the unit that suits it."""
    scale, name = next((s for s in UNITS[unit] if number >= s[0]), UNITS[unit][-1])
    return f"{number / scale:.3g} {name}".rstrip()


def marks(row: Row, usual: dict[str, float]) -> Iterator[str]:
    """Say of each bound that is exceeded by how much, and whether that is beyond the noise."""
    for against, found, budget in judged(row):
        if found > budget:
            sure = "" if is_over(row, against, found, budget, usual) else ", within the noise"
            first = against == next(iter(row["bounds"]))
            yield "over" + sure if first else f"over {budget:g} x {against}: {found:.2f}{sure}"


def shown(name: str, chapter: dict[str, Any]) -> dict[str, Any]:
    """What is printed of a chapter: of thousands of lines those that are over for certain."""
    rows = chapter["lines"]
    if name == "operations":
        usual = usual_noises(rows)
        rows = [row for row in rows if any(not m.endswith("noise") for m in marks(row, usual))]
    return {"lines": rows}


def chapter_table(name: str, chapter: dict[str, Any]) -> Table:
    """One chapter's lines."""
    rows = chapter["lines"]
    ways = list(dict.fromkeys(who for row in rows for who in row["values"]))
    ways.sort(key=lambda who: who != OURS)
    table = Table(title=name, title_justify="left", box=None, header_style="bold")
    table.add_column("")
    for head in (*ways, "ratio", "to", "budget", "noise"):
        table.add_column(head, justify="right")
    table.add_column("mark")
    usual = usual_noises(rows)
    for row in rows:
        table.add_row(*_cells(row, ways, usual))
    return table


def _cells(row: Row, ways: list[str], usual: dict[str, float]) -> Iterator[str]:
    yield escape(row["name"])
    for who in ways:
        numbers = row["values"].get(who)
        yield amount(min(numbers), row["unit"]) if numbers else ""
    against, budget = next(iter(row["bounds"].items()), ("", None))
    found = ratio(row, against)
    yield "" if found is None or against == "" else f"{found:.2f}"
    yield against
    yield "" if budget is None else f"{budget:.3g}" if against else amount(budget, row["unit"])
    yield f"{noise(row, against):.0%}"
    yield "; ".join(marks(row, usual))


SHOWN = (0, 1, 2, 3, 8, 12, 16, 20, 22, 26)
"""Powers of two of the sizes that are shown of a curve."""


def growth_table(chapter: dict[str, Any]) -> Table:
    """The curves: what an element costs, and the cliffs."""
    table = Table(title="growth, by the element", title_justify="left", box=None)
    table.add_column("")
    for power in SHOWN:
        table.add_column(f"2^{power}", justify="right")
    table.add_column("cliffs")
    for name, curve in growth.curves(chapter["lines"]).items():
        found = growth.cliffs_of(curve)
        words = [f"{c.times:.1f} times dearer at {c.high:g} than at {c.low:g}" for c in found]
        sizes = [float(2**power) for power in SHOWN]
        cells = [amount(min(curve[s][OURS]) / s, "s") if s in curve else "" for s in sizes]
        table.add_row(escape(name), *cells, "; ".join(words))
    return table


def print_run(run: dict[str, Any]) -> None:
    """Print the machine, the tables, and what is over."""
    for key, value in run["machine"].items():
        words = [f"{k} {v}" for k, v in value.items()] if isinstance(value, dict) else [str(value)]
        print(f"{key:12}{', '.join(words)}")
    for peer, why in run["left_out"].items():
        print(f"left out: {peer} ({why})")
    over = total = 0
    for name, chapter in run["chapters"].items():
        print()
        if chapter["left_out"] is not None:
            print(f"{name}: left out: {chapter['left_out']}")
        if chapter["lines"]:
            own = chapter_table(name, shown(name, chapter))
            show(growth_table(chapter) if name == "growth" else own)
            print("load", ", ".join(f"{load:.1f}" for load in chapter["load"] if load is not None))
        total += sum(any(True for _ in judged(row)) for row in chapter["lines"])
        over += sum(any(True for _ in marks(row, {})) for row in chapter["lines"])
    best = f"{BEST}: of NumPy, torch and jax"
    print(f"\n{counted(total, 'line')} with a budget, {over} over; {best}.")
