"""Write the tables of docs/speed.md and docs/cast-speed.md from runs of ``python -m benchmarks``.

Run ``python benchmarks/page.py FILE...`` with what ``--json FILE`` wrote; a file has the chapters
it has, and later ones count. Chapters that no file has stay as they are. ``--kind avx2`` writes
docs/speed-avx2.md and docs/cast-speed-avx2.md, for another kind of machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import growth
from check import OURS, Row, is_over, judged, ratio, read, usual_noises
from passes import CHAPTERS
from report import SHOWN, amount

DOCS = Path(__file__).resolve().parents[1] / "docs"
BEGIN, END = "<!-- benchmarks/page.py writes from here -->", "<!-- to here -->"

Run = dict[str, Any]
Cells = list[str]
Held = tuple[float, bool]
"""A ratio, and whether it is over its budget by more than its noise."""


def table(heads: Cells, rows: Iterable[Cells]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def first(row: Row) -> tuple[str, float | None]:
    """What a line is held to, and its budget."""
    return next(iter(row["bounds"].items()), ("", None))


def shown(row: Row, usual: dict[str, float]) -> str:
    """A line's ratio, or its number where it is held to none; bold if it is over for certain."""
    against, budget = first(row)
    found = ratio(row, against)
    if found is None:
        return ""
    text = f"{found:.2g}" if against else amount(found, row["unit"])
    over = budget is not None and is_over(row, against, found, budget, usual)
    return f"**{text}**" if over else text


def grid(rows: list[Row]) -> str:
    """Lines "what, dtype": one row for what, a column a dtype."""
    cells: dict[str, dict[str, str]] = {}
    usual = usual_noises(rows)
    for row in rows:
        what, _, column = row["name"].rpartition(", ")
        cells.setdefault(what, {})[column] = shown(row, usual)
    columns = list(dict.fromkeys(column for found in cells.values() for column in found))
    common = [c for c in columns if sum(c in found for found in cells.values()) > 1]
    made = []
    for what, found in cells.items():
        others = [f"{c}: {text}" for c, text in found.items() if c not in common]
        made.append([f"`{what}`", *(found.get(c, "") for c in common), ", ".join(others)])
    return table(["", *common, "others"], made)


def listed(rows: list[Row]) -> str:
    """Lines one below the other: the number, the ratio, the budget."""
    made = []
    usual = usual_noises(rows)
    for row in rows:
        against, budget = first(row)
        words = "" if budget is None else f"{budget:g}" if against else amount(budget, row["unit"])
        own = amount(min(row["values"][OURS]), row["unit"])
        made.append([row["name"], own, shown(row, usual) if against else "", against, words])
    return table(["", "promoarray", "ratio", "to", "budget"], made)


def dispatch(rows: list[Row]) -> str:
    """Lines one below the other, with what the peers take."""
    peers = [p for p in ("numpy", "torch", "jax", "paddle") if any(p in r["values"] for r in rows)]
    made = []
    usual = usual_noises(rows)
    for row in rows:
        values = row["values"]
        times = [amount(min(values[p]), "s") if values.get(p) else "" for p in peers]
        own = amount(min(values[OURS]), "s")
        made.append([f"`{row['name']}`", shown(row, usual), f"{first(row)[1]:g}", own, *times])
    return table(["", "ratio", "budget", "promoarray", *peers], made)


def operations(rows: list[Row]) -> str:
    """The lines of each group in one row, and which of them is the worst."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["name"].partition(": ")[0], []).append(row)
    made = []
    usual = usual_noises(rows)
    for group, own in groups.items():
        held = [
            (times, budget is not None and is_over(row, against, times, budget, usual))
            for row in own
            for against, budget in [first(row)]
            if (times := ratio(row, against)) is not None
        ]
        budgets = sorted({budget for _, budget in map(first, own) if budget is not None})
        worst = max(own, key=lambda row: ratio(row, first(row)[0]) or 0.0)["name"]
        words = " or ".join(f"{budget:g}" for budget in budgets)
        made.append([group, words, *_spread(held), f"`{worst.partition(': ')[2]}`"])
    return table(["", "budget", "lines", "middle", "worst", "over", "the worst"], made)


def casts(rows: list[Row]) -> str:
    """What each kind of cast is held to; the pairs by families, the least and the most of each."""
    from cast_lines import FAMILIES, family

    from promoarray import dtypes as dt

    kinds: dict[tuple[str, float], list[Held]] = {}
    usual = usual_noises(rows)
    for row in rows:
        for against, times, budget in judged(row):
            held = times, is_over(row, against, times, budget, usual)
            kinds.setdefault((against, budget), []).append(held)
    budgets = [
        [against, f"{budget:g}", *_spread(held)] for (against, budget), held in kinds.items()
    ]
    found: dict[tuple[str, str], list[float]] = {}
    for source, target, times in _pairs(rows):
        key = family(dt.as_dtype(source)), family(dt.as_dtype(target))
        found.setdefault(key, []).append(times)
    families = [
        [source, *(_range(found.get((source, target), [])) for target in FAMILIES)]
        for source in FAMILIES
    ]
    heads = ["held to", "budget", "lines", "middle", "worst", "over"]
    return f"{table(heads, budgets)}\n\n{table(['from, to', *FAMILIES], families)}"


def _pairs(rows: list[Row]) -> Iterator[tuple[str, str, float]]:
    """Casts by the default rule: from, to, times a copy."""
    for row in rows:
        if (times := ratio(row, "copy")) is not None:
            source, _, target = row["name"].partition(" to ")
            yield source, target, times


def _spread(held: list[Held]) -> Cells:
    times = [number for number, _ in held]
    over = sum(beyond for _, beyond in held)
    return [str(len(times)), f"{median(times):.2g}", f"{max(times):.2g}", str(over)]


def _range(numbers: list[float]) -> str:
    return f"{min(numbers):.2g} to {max(numbers):.2g}" if numbers else ""


def matrix(rows: list[Row]) -> str:
    """Every pair of dtypes, as times a copy of the wider side; then rules and quirks by name."""
    from promoarray import dtypes as dt

    found = {(source, target): times for source, target, times in _pairs(rows)}
    names = list(dict.fromkeys(source for source, _ in found))
    names.sort(key=[str(dtype) for dtype in dt.CONCRETE].index)
    codes = [f"`{dt.as_dtype(name).code}`" for name in names]
    cells = [
        [code, *(f"{found[s, t]:.2g}" if (s, t) in found else "" for t in names)]
        for code, s in zip(codes, names, strict=True)
    ]
    named: dict[tuple[str, float], list[Held]] = {}
    usual = usual_noises(rows)
    for row in rows:
        if (times := ratio(row, "default")) is not None:
            name, budget = row["name"].partition(": ")[2], row["bounds"]["default"]
            held = times, is_over(row, "default", times, budget, usual)
            named.setdefault((name, budget), []).append(held)
    others = [[name, f"{budget:g}", *_spread(held)] for (name, budget), held in named.items()]
    heads = ["rule of a policy, or quirk", "budget", "casts", "middle", "worst", "over"]
    return f"{table(['from, to', *codes], cells)}\n\n{table(heads, others)}"


def memory(rows: list[Row]) -> str:
    """The operations as a grid; the casts in a sentence, as they take alike."""
    operations = [row for row in rows if ", " in row["name"]]
    held = [min(row["values"][OURS]) for row in rows if row not in operations]
    if not held:
        return grid(operations)
    least, most = amount(min(held), "B"), amount(max(held), "B")
    said = least if least == most else f"{least} to {most}"
    return f"{grid(operations)}\n\n{len(held)} casts from and to float32: {said}."


def curves(rows: list[Row]) -> str:
    """What an element costs at some sizes, and the cliffs."""
    made = []
    for name, curve in growth.curves(rows).items():
        sizes = [float(2**power) for power in SHOWN]
        cells = [amount(min(curve[s][OURS]) / s, "s") if s in curve else "" for s in sizes]
        words = [f"{c.times:.1f} times at {c.high:g}" for c in growth.cliffs_of(curve)]
        made.append([f"`{name}`", *cells, ", ".join(words) or "none"])
    return table(["an element of", *(f"2^{p}" for p in SHOWN), "cliffs"], made)


WRITERS = {
    "dispatch": dispatch,
    "operations": operations,
    "throughput": grid,
    "chains": grid,
    "casts": casts,
    "memory": memory,
    "threads": grid,
    "growth": curves,
}


def measured(run: Run) -> str:
    """Say where, when and how, in a sentence."""
    machine = run["machine"]
    loads = [load for load in (machine["load"], machine["load after"]) if load is not None]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    size = "2^20 elements" if machine["quick"] else "2^22 elements"
    return (
        f"{machine['date']}, commit {machine['commit']}; {machine['cpu']}, {machine['cores']} cores"
        f", {machine['simd']}; load {' to '.join(f'{load:.0f}' for load in loads)}; "
        f"median of {machine['passes']}, large arrays of {size}; {versions}."
    )


def texts(runs: list[Run]) -> dict[str, str]:
    """Each chapter, and what it was measured on."""
    latest = {name: run for run in runs for name in run["chapters"]}
    return {name: "\n\n".join(_text(name, run)) for name, run in latest.items()}


def _text(name: str, run: Run) -> Iterator[str]:
    chapter = run["chapters"][name]
    rows = chapter["lines"]
    yield f"### {name}"
    if chapter["left_out"] is not None:
        yield f"Left out: {chapter['left_out']}."
    if rows:
        bounded = [row for row in rows if any(True for _ in judged(row))]
        usual = usual_noises(rows)
        over = sum("**" in shown(row, usual) for row in rows)
        yield measured(run)
        yield WRITERS.get(name, listed)(rows)
        yield f"{len(rows)} lines, {len(bounded)} with a budget; {over} over it."


def parts(page: Path) -> tuple[str, str, str]:
    """What stands before the marks of a page, between them, and after."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    between, _, after = rest.partition(END)
    return before, between.strip(), after


def put(page: Path, body: str) -> None:
    """Write between the marks of a page."""
    before, _, after = parts(page)
    page.write_text(f"{before}{BEGIN}\n\n{body}\n\n{END}{after}", encoding="utf-8")


def kept(body: str) -> dict[str, str]:
    """The chapters of a page as it is."""
    found = (f"### {each.strip()}" for each in body.split("### ") if each.strip())
    return {each.split(maxsplit=2)[1]: each for each in found}


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--kind", default="", help="of machine, whose pages are other ones")
    options = parser.parse_args()
    kind = f"-{options.kind}" if options.kind else ""
    page, casts_page = DOCS / f"speed{kind}.md", DOCS / f"cast-speed{kind}.md"
    try:
        runs = [read(path) for path in options.files]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    chapters = kept(parts(page)[1]) | texts(runs)
    put(page, "\n\n".join(chapters[name] for name in CHAPTERS if name in chapters))
    for run in runs:
        if rows := run["chapters"].get("casts", {}).get("lines"):
            put(casts_page, f"{measured(run)}\n\n{matrix(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
