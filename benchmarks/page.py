"""Tables of what was measured, and docs/speed.md.

Each chapter of the page stands between two marks and says when, where and with which commit it was
measured; ``--write`` replaces the chapters of a run, and leaves the others as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pyperf
from measure import CHAPTERS, OURS, Bound, Values

PAGE = Path(__file__).resolve().parents[1] / "docs" / "speed.md"
BEGIN, END = "<!-- {}: written by python -m benchmarks --write -->", "<!-- end of {} -->"
SHOWN = 40
"""Lines of a chapter, after which those within their bounds are summed up by dtype."""


class Row(NamedTuple):
    """A line beside one of its bounds.

    Attributes
    ----------
    ours : float
        The middle one of the processes.
    ratio : float or None
        To the reference, the middle one; None where that was not measured.
    over : bool
        Whether the middle process took more than the line may.
    """

    name: str
    ours: float
    ratio: float | None
    over: bool
    bound: Bound
    unit: str

    def cells(self) -> list[str]:
        """Return the row as text."""
        ratio = "" if not self.bound.ways else f"{self.ratio:.2f}" if self.ratio else "no peer"
        told = [f"`{self.name}`", amount(self.ours, self.unit), ratio]
        return [*told, words(self.bound, self.unit), "**over**" if self.over else ""]


def words(bound: Bound, unit: str) -> str:
    """Say what a line may take."""
    if not bound.ways:
        return amount(bound.times, unit)
    more = f" + {amount(bound.more, unit)}" if bound.more else ""
    return f"{bound.times:g} x {' or '.join(bound.ways)}{more}"


def amount(number: float, unit: str) -> str:
    """Return seconds or bytes with three digits."""
    if unit == "byte":
        return f"{number / 1e6:.3g} MB"
    for scale, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if number >= scale:
            return f"{number / scale:.3g} {name}"
    return f"{number * 1e9:.3g} ns"


def chapters(suite: pyperf.BenchmarkSuite) -> dict[str, dict[str, list[Any]]]:
    """Sort the benchmarks of a suite by chapter and line, in the order they were measured in."""
    found: dict[str, dict[str, list[Any]]] = {}
    for benchmark in suite.get_benchmarks():
        about = benchmark.get_metadata()
        lines = found.setdefault(about["chapter"], {})
        lines.setdefault(about["line"], []).append(benchmark)
    return {name: found[name] for name in CHAPTERS if name in found}


def rows(lines: dict[str, list[Any]]) -> Iterator[Row]:
    """Yield each line beside each of its bounds."""
    for name, ways in lines.items():
        about = ways[0].get_metadata()
        values = {b.get_metadata()["way"]: b.get_values() for b in ways}
        passes: list[Values] = [
            {way: found[n] for way, found in values.items() if n < len(found)}
            for n in range(len(values[OURS]))
        ]
        for times, against, more in json.loads(about["bounds"]):
            bound = Bound(times, tuple(against), more)
            held = [(each[OURS], bound.reference(each)) for each in passes]
            known = [(ours, reference) for ours, reference in held if reference is not None]
            ratio = median(ours / reference for ours, reference in known) if known else None
            shares = [ours / (times * reference + more) for ours, reference in known]
            over = bool(shares) and median(shares) > 1.0
            yield Row(name, median(values[OURS]), ratio, over, bound, about["unit"])


def table(heads: Iterable[str], cells: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    lines = [[*heads], ["---"] * len([*heads]), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def summed(found: list[Row]) -> list[list[str]]:
    """Sum up rows by what stands behind the last comma or before ``to``: a dtype."""
    groups: dict[tuple[str, Bound], list[Row]] = {}
    for row in found:
        what = row.name.partition(" to ")[0] if " to " in row.name else row.name.rpartition(", ")[2]
        groups.setdefault((what, row.bound), []).append(row)
    lines = []
    for (what, bound), of_group in groups.items():
        ratios = [row.ratio for row in of_group if row.ratio is not None]
        worst = max(of_group, key=lambda row: row.ratio or 0.0)
        most = f"{max(ratios):.2f}, `{worst.name}`" if ratios else "no peer"
        middle = f"{median(ratios):.2f}" if ratios else ""
        over = sum(row.over for row in of_group)
        told = [f"`{what}`", str(len(of_group)), middle, most, words(bound, worst.unit)]
        lines.append([*told, f"**{over}**" if over else ""])
    return lines


def chapter_text(lines: dict[str, list[Any]]) -> str:
    """Return one chapter: when and where, its lines, and how many are over."""
    found = [*rows(lines)]
    about = next(iter(lines.values()))[0].get_metadata()
    over = [row for row in found if row.over]
    heads = ["", "promoarray", "ratio", "budget", ""]
    parts = [machine(about)]
    if len(found) <= SHOWN:
        parts.append(table(heads, [row.cells() for row in found]))
    else:
        groups = ["", "lines", "middle ratio", "largest ratio", "budget", "over"]
        parts.append(table(groups, summed(found)))
        if over:
            parts.append(table(heads, [row.cells() for row in over]))
    unmeasured = sum(row.ratio is None for row in found)
    rest = f", {unmeasured} have no peer here" if unmeasured else ""
    parts.append(f"{len(found)} lines, {len(over)} over{rest}.")
    return "\n\n".join(parts)


def machine(about: dict[str, Any]) -> str:
    """Say when, with what and where it was measured."""
    keys = ("cpu_model_name", "cpu_count", "load_avg_1min", "python_version", "versions")
    parts = {"cpu_count": "{} cores", "load_avg_1min": "load {}", "python_version": "Python {}"}
    told = [parts.get(key, "{}").format(about[key]) for key in keys if key in about]
    date = str(about.get("date", "")).partition(".")[0]
    return f"{date}, commit {about.get('commit', 'unknown')}; {'; '.join(told)}."


def text(suite: pyperf.BenchmarkSuite) -> str:
    """Return all chapters."""
    found = chapters(suite).items()
    return "\n\n".join(f"### {name}\n\n{chapter_text(lines)}" for name, lines in found)


def write(suite: pyperf.BenchmarkSuite, page: Path = PAGE) -> None:
    """Replace the chapters that were measured, each between its marks.

    Raises
    ------
    ValueError
        If the page has no place for one.
    """
    content = page.read_text(encoding="utf-8")
    for name, lines in chapters(suite).items():
        begin, end = BEGIN.format(name), END.format(name)
        before, opened, rest = content.partition(begin)
        _, closed, after = rest.partition(end)
        if not opened or not closed:
            raise ValueError(f"{page.name} has no lines {begin} and {end}")
        content = f"{before}{begin}\n\n{chapter_text(lines)}\n\n{end}{after}"
    page.write_text(content, encoding="utf-8")
