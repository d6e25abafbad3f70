"""A run as the pictures of docs/speed.md; it needs matplotlib."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import growth
from check import OURS, ratio

NARROW = ("e3m4", "e4m3", "e4m3b11fnuz", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")
SHOWN = [
    *(f"float8_{name}" for name in NARROW),
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "bfloat16", "float16", "int8"),
]
"""The dtypes whose casts from and to float32 are drawn."""

Run = dict[str, Any]


def draw(run: Run, folder: Path) -> None:
    """Draw what a run has measured."""
    plt = import_module("matplotlib.pyplot")
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        rows = run["chapters"].get(name, {}).get("lines")
        if rows:
            figure = picture(plt, rows)
            figure.suptitle(f"{name}: {caption(run['machine'])}", fontsize=10)
            figure.savefig(folder / f"{name}.png", dpi=110)
            plt.close(figure)


def caption(machine: dict[str, Any]) -> str:
    """Say of which machine, when, and of which commit it is."""
    loads = [load for load in (machine["load"], machine["load after"]) if load is not None]
    busy = f", load {' to '.join(f'{load:.0f}' for load in loads)}" if loads else ""
    where = f"{machine['cpu']}, {machine['cores']} cores{busy}"
    return f"{where}; {machine['date']}, commit {machine['commit']}"


def casts(plt: Any, rows: list[Run]) -> Any:
    """The casts between float32 and others, as ratios to a copy of the wider side."""
    by_name = {row["name"]: row for row in rows}
    figure, panels = plt.subplots(1, 2, figsize=(11, 5.5), sharey=True, layout="constrained")
    for axes, pattern in zip(panels, ("float32 to {}", "{} to float32"), strict=True):
        for who, mark in ((OURS, "o"), ("numpy", "s"), ("torch", "^")):
            points = []
            for place, dtype in enumerate(SHOWN):
                values = by_name.get(pattern.format(dtype), {}).get("values", {})
                if who in values:
                    points.append((place, min(values[who]) / min(values["copy"])))
            if points:
                axes.plot(*zip(*points, strict=True), mark, label=who)
        axes.set_xticks(range(len(SHOWN)), SHOWN, rotation=60, ha="right")
        axes.set_yscale("log")
        axes.axhline(1, color="gray", linewidth=0.8)
        axes.grid(axis="y", alpha=0.3)
        axes.set_title(pattern.format("…"))
    panels[0].set_ylabel("time / time to copy the wider side")
    panels[1].legend(frameon=False)
    return figure


def bars(plt: Any, rows: list[Run]) -> Any:
    """Ratios with their budgets; what is over is marked by its colour."""
    shown = []
    for row in rows:
        against, budget = next(iter(row["bounds"].items()))
        if budget is not None and (found := ratio(row, against)) is not None:
            shown.append((row["name"], found, budget))
    names, ratios, budgets = zip(*shown, strict=True)
    figure, axes = plt.subplots(figsize=(9, 1 + 0.16 * len(shown)), layout="constrained")
    colors = ["tab:red" if r > b else "tab:blue" for _, r, b in shown]
    axes.barh(range(len(shown)), ratios, color=colors, height=0.7)
    axes.plot(budgets, range(len(shown)), "|", color="black", label="budget")
    axes.set_yticks(range(len(shown)), names, fontsize=6)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("ratio")
    axes.legend(frameon=False)
    return figure


def curves(plt: Any, rows: list[Run]) -> Any:
    """What an element costs, from one to the most; and what policies add to an operation."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for name, curve in growth.curves(rows).items():
        sizes = sorted(curve)
        axes, scale = (left, 1e9) if growth.COPY in curve[sizes[0]] else (right, 1e6)
        axes.plot(sizes, [min(curve[n][OURS]) / n * scale for n in sizes], ".-", label=name)
    for axes, what, unit in ((left, "elements", "ns an element"), (right, "policies", "µs each")):
        axes.set_xlabel(what)
        axes.set_ylabel(unit)
        axes.legend(frameon=False, fontsize=7)
        axes.grid(alpha=0.3)
    left.set_xscale("log", base=2)
    left.set_yscale("log")
    right.set_ylim(bottom=0)
    return figure


PICTURES = {
    "casts": casts,
    "growth": curves,
    "dispatch": bars,
    "throughput": bars,
}
