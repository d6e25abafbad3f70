"""Tables of runs of array-api-tests: in the terminal, and in pages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import runner
from array_api_gate import KERNELS, Run, excepted, key, path_of, words
from rich.table import Table
from runner import ROOT, cells, markdown, read_list

KINDS = ("passed", "failed", "refused", "xfailed", "skipped")
LAZY_PAGE = ROOT / "docs" / "distributed.md"
PAGE = ROOT / "docs" / "conformance.md"


def table(run: Run) -> Table:
    """Return one run's table, by chapter."""
    grid = runner.grid(f"{run.title}, {run.mode}", ["chapter"], KINDS)
    for chapter, counts in run.chapters().items():
        grid.add_row(chapter, *cells(counts, KINDS))
    grid.add_section()
    grid.add_row("all", *cells(run.counts(), KINDS))
    return grid


def summary(runs: Sequence[Run], verdicts: Sequence[Sequence[str]]) -> Table:
    """Return the table of all runs."""
    more = ("narrowed", "seconds")
    grid = runner.grid("array-api-tests", ["policy", "mode"], (*KINDS, *more, "gate"))
    for run, wrong in zip(runs, verdicts, strict=True):
        told = [str(narrowed(run)), f"{run.seconds:.0f}"]
        gate = "[red]broken[/]" if wrong else "holds"
        grid.add_row(run.title, run.mode, *cells(run.counts(), KINDS), *told, gate)
    return grid


def narrowed(run: Run) -> int:
    """How many tests passed without the examples that the policy refuses."""
    return sum(bool(test.narrowed) for test in run.cases if test.kind == "passed")


def results(runs: Sequence[Run]) -> str:
    """Return all of it as Markdown."""
    text = ["", _versions(runs), "## Every policy\n", markdown(*_totals(runs))]
    for mode in ("plain", "table"):
        of_mode = [run for run in runs if run.mode == mode]
        if of_mode:
            text += [f"## By chapter, {mode}\n", CELLS, markdown(*_by_chapter(of_mode))]
    text += ["## What does not pass, and why\n", *_reasons(runs)]
    text += ["## What is computed otherwise\n", *_otherwise(runs)]
    return "\n".join(text).rstrip("\n") + "\n\n"


CELLS = (
    "Tests passed, and after the dash those that did not: failed, refused, xfailed or skipped.\n"
)


def _versions(runs: Sequence[Run]) -> str:
    def of(key: str) -> str:
        return ", ".join(sorted({str(run.about.get(key, ""))[:7] for run in runs}))

    return (
        f"array-api-tests {of('array-api-tests')} with the standard {of('array-api')}, edition "
        f"{of('api_version')}; Hypothesis {_all(runs, 'hypothesis')}, NumPy {_all(runs, 'numpy')}, "
        f"Python {_all(runs, 'python')}.\n"
    )


def _all(runs: Sequence[Run], key: str) -> str:
    return ", ".join(sorted({str(run.about.get(key, "")) for run in runs}))


def _totals(runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    header = ["policy", "mode", *KINDS, "narrowed", "pairs"]
    header += ["examples", "seed", "date", "left out"]
    rows = []
    for run in runs:
        counts, pairs, seed = run.counts(), run.about.get("pairs"), run.about.get("seed")
        rows.append(
            [
                f"`{run.title}`",
                run.mode,
                *(str(counts[kind] or "") for kind in KINDS),
                str(narrowed(run) or ""),
                str(pairs or ""),
                str(run.about.get("examples", "")),
                "" if seed is None else str(seed),
                str(run.about.get("date", "")),
                " ".join(run.about.get("left out", ())),
            ]
        )
    return header, rows


def _by_chapter(runs: Sequence[Run]) -> tuple[list[str], list[list[str]]]:
    chapters = sorted({chapter for run in runs for chapter in run.chapters()})
    rows = []
    for run in runs:
        counted = run.chapters()
        cells = []
        for chapter in chapters:
            counts = counted.get(chapter, {})
            rest = sum(counts.values()) - counts.get("passed", 0)
            cells.append(f"{counts.get('passed', 0)}{f' − {rest}' if rest else ''}")
        rows.append([f"`{run.title}`", *cells])
    return ["policy", *chapters], rows


def _reasons(runs: Sequence[Run]) -> list[str]:
    """By run: what fails, with its error; what is refused, under the policy's words."""
    text = []
    for run in runs:
        failed = [test for test in run.cases if test.kind == "failed"]
        refused = [test for test in run.cases if test.kind == "refused"]
        if not failed and not refused:
            continue
        text.append(f"### `{run.title}`, {run.mode}\n")
        text += [f"- **fails** `{_short(test.id)}`: {_cell(test.why)}" for test in failed]
        of_reason = sorted(refused, key=lambda test: words(test.refusals))
        for reasons, tests in groupby(of_reason, key=lambda test: words(test.refusals)):
            names = sorted({_short(key(test)) for test in tests})
            text.append(f"- {_cell('; '.join(reasons))}: {', '.join(f'`{n}`' for n in names)}")
        text.append("")
    return text


def _otherwise(runs: Sequence[Run]) -> list[str]:
    """The xfailed tests, from the lists: of every policy, then of single ones."""
    text = []
    of_policies = {f"`{run.policy}`": path_of(run.policy) for run in runs}
    lists = {"every policy but `array_api`": KERNELS, **of_policies}
    for whose, path in lists.items():
        groups: dict[str, list[str]] = {}
        for id, reasons in read_list(path)[""].items():
            groups.setdefault(" ".join(reasons), []).append(f"`{_short(id)}`")
        text += [
            f"- {whose}: {_cell(reason)} {', '.join(names)}" for reason, names in groups.items()
        ]
    return text


def _short(id: str) -> str:
    file, _, name = id.partition("::")
    chapter = file.rpartition("/")[2].removeprefix("test_").removesuffix(".py")
    return f"{chapter}::{name}" if chapter in ("special_cases", "signatures") else name or chapter


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


# --- Over lazy arrays ----------------------------------------------------------------------------


def lazy_section(runs: Sequence[Run]) -> str:
    """Say what was run over lazy arrays, how it went, and what is excepted for which reason."""
    header = ["policy", "blocks", "examples", "passed", "failed", "refused"]
    header += ["lazy arrays excepted", "NumPy's kernels excepted", "skipped", "date", "commit"]
    parts = [markdown(header, map(_lazy_row, runs))]
    for chunk in dict.fromkeys(run.about.get("chunk") for run in runs):
        of_chunk = [run for run in runs if run.about.get("chunk") == chunk]
        parts.append(_exceptions(chunk, of_chunk))
    return "\n".join(parts)


def _lazy_row(run: Run) -> list[str]:
    about, counts, chunk = run.about, run.counts(), run.about.get("chunk")
    known = excepted("dask", chunk)
    lazy = sum(test.kind == "xfailed" and test.id in known for test in run.cases)
    return [
        f"`{run.policy}`, {run.mode}",
        f"of {chunk} along each axis" if chunk else "one an array",
        str(about["examples"]),
        f"{counts['passed']:,}",
        *(str(counts[kind]) for kind in ("failed", "refused")),
        str(lazy),
        str(counts["xfailed"] - lazy),
        str(counts["skipped"]),
        str(about["date"]),
        str(about.get("commit", "")),
    ]


def _exceptions(chunk: int | None, runs: Sequence[Run]) -> str:
    """The excepted tests by reason, those that failed alone."""
    known = excepted("dask", chunk)
    groups: dict[str, list[str]] = {}
    for id in dict.fromkeys(t.id for run in runs for t in run.cases if t.kind == "xfailed"):
        if id in known:
            groups.setdefault(" ".join(known[id]), []).append(f"`{_short(id)}`")
    where = f"in blocks of {chunk}" if chunk else "in one block"
    lines = [f"- {reason} {', '.join(names)}" for reason, names in groups.items()]
    return "\n".join([f"Excepted {where}:\n", *lines, ""])
