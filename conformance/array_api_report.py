"""What runs of array-api-tests look like: tables in the terminal, HTML, Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from array_api_gate import KERNELS, key, path_of, read, words
from array_api_run import KINDS, Run
from rich.table import Table

SUITE = "[array-api-tests](https://github.com/data-apis/array-api-tests)"

PROMISE = f"""\
# Conformance to the array API standard

`python conformance/array_api.py --write docs/conformance.md` makes this page: it runs {SUITE},
the test suite of the standard's own authors, on the namespaces of the policies that the gate is set
for. `--policy NAME` runs another one, `--policy all` every one. Each row says when it was run, and
with how many examples for each test that draws them.

The standard fixes the result dtype of 65 ordered pairs of dtypes and leaves the others open. Most
frameworks refuse some of the 65, or give another dtype where a 0-d array takes part, so each policy
is run in two ways:

- **plain**: the suite as it is. A failure counts as *refused* only if all of its errors are
  operations that the policy, asked again, refuses again, or a result dtype that the policy gives
  for such operands. Anything else has *failed*.
- **table**: with the policy's own promotion in place of the suite's, so that every other check
  still applies. Examples that the policy refuses are left out (the test is *narrowed*); a test
  that has no others is *refused*.

*xfailed* are what a kernel computes otherwise than the standard wants: NumPy's own in special cases
(`conformance/array_api/kernels.txt`; array-api-compat lists the same for NumPy, and `array_api` has
kernels that answer as the standard wants), and the policy's where the framework's answer is another
(`conformance/array_api/<policy>.txt`).

A run draws the same examples every time (Hypothesis's `derandomize`), so the same command repeats
a failure; `--select NAME` runs one test alone. `--seed N` draws other examples, the same for the
same N, to look for what the published ones miss; `--examples N` draws more or fewer. Without a seed
its column is empty.
"""

NOTE = """\
The suite sees neither pairs of different kinds (`int64 + float32`), nor reflected and in-place \
operators on them, nor Python scalars of a higher kind, nor dtypes beyond the standard's 13. \
`tests/core/test_blind_spots.py` goes through all of these under every policy.
"""


def table(run: Run) -> Table:
    """Return one run's table, by chapter."""
    grid = Table(title=f"{run.title}, {run.mode}", title_justify="left")
    grid.add_column("chapter")
    for kind in KINDS:
        grid.add_column(kind, justify="right")
    for chapter, counts in run.chapters().items():
        grid.add_row(chapter, *(_shown(kind, counts[kind]) for kind in KINDS))
    grid.add_section()
    grid.add_row("all", *(_shown(kind, run.counts()[kind]) for kind in KINDS))
    return grid


def _shown(kind: str, count: int) -> str:
    if not count:
        return "·"
    return f"[bold red]{count}[/]" if kind == "failed" else str(count)


def summary(runs: Sequence[Run], verdicts: Sequence[Sequence[str]]) -> Table:
    """Return the table of all runs."""
    grid = Table(title="array-api-tests", title_justify="left")
    grid.add_column("policy")
    grid.add_column("mode")
    for kind in (*KINDS, "narrowed", "seconds"):
        grid.add_column(kind, justify="right")
    grid.add_column("gate")
    for run, wrong in zip(runs, verdicts, strict=True):
        counts = run.counts()
        cells = [_shown(kind, counts[kind]) for kind in KINDS]
        cells += [str(narrowed(run)), f"{run.seconds:.0f}"]
        grid.add_row(run.title, run.mode, *cells, "[red]broken[/]" if wrong else "holds")
    return grid


def narrowed(run: Run) -> int:
    """How many tests passed without the examples that the policy refuses."""
    return sum(bool(test.narrowed) for test in run.tests if test.kind == "passed")


def page(runs: Sequence[Run]) -> str:
    """Return all of it as Markdown."""
    text = [PROMISE, _versions(runs), "## Every policy\n", markdown(*_totals(runs)), NOTE]
    for mode in ("plain", "table"):
        of_mode = [run for run in runs if run.mode == mode]
        if of_mode:
            text += [f"## By chapter, {mode}\n", CELLS, markdown(*_by_chapter(of_mode))]
    text += ["## What does not pass, and why\n", *_reasons(runs)]
    text += ["## What is computed otherwise\n", *_otherwise(runs)]
    return "\n".join(text).rstrip("\n") + "\n"


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


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows)) + "\n"


def _reasons(runs: Sequence[Run]) -> list[str]:
    """By run: what fails, with its error; what is refused, under the policy's words."""
    text = []
    for run in runs:
        failed = [test for test in run.tests if test.kind == "failed"]
        refused = [test for test in run.tests if test.kind == "refused"]
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
        for id, reasons in read(path)[""].items():
            groups.setdefault(" ".join(reasons), []).append(f"`{_short(id)}`")
        text += [
            f"- {whose}: {_cell(reason)} {', '.join(names)}" for reason, names in groups.items()
        ]
    return text


def listed_names(ids: Iterable[str]) -> str:
    """Tests by their short names, as code."""
    return ", ".join(f"`{_short(id)}`" for id in ids)


def _short(id: str) -> str:
    file, _, name = id.partition("::")
    chapter = file.rpartition("/")[2].removeprefix("test_").removesuffix(".py")
    return f"{chapter}::{name}" if chapter in ("special_cases", "signatures") else name or chapter


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def html(runs: Sequence[Run]) -> str:
    """Return the same page as one self-contained HTML file."""
    body, rows = [], []
    for line in [*page(runs).splitlines(), ""]:
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if set(line) - set("|- "):
                tag = "th" if not rows else "td"
                rows.append("".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells))
            continue
        if rows:
            body.append("<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>")
            rows = []
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            body.append(f"<h{level}>{_inline(line.lstrip('# '))}</h{level}>")
        elif line.startswith("- "):
            body.append(f"<p>• {_inline(line[2:])}</p>")
        elif line:
            body.append(f"<p>{_inline(line)}</p>")
    return f"<!doctype html><meta charset=utf-8><title>Conformance</title>{STYLE}{''.join(body)}\n"


STYLE = (
    "<style>body{font:15px sans-serif;margin:2em;max-width:110em}table{border-collapse:collapse}"
    "td,th{border-bottom:1px solid #ccc;padding:2px 10px;text-align:left}"
    "code{font-size:90%}</style>"
)


def _inline(text: str) -> str:
    """Markdown's code spans and bold words; everything else as it stands."""
    parts = escape(text.replace("&lt;", "<").replace("\\|", "|")).split("`")
    code = [f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(parts)]
    bold = "".join(code).split("**")
    return "".join(f"<b>{part}</b>" if n % 2 else part for n, part in enumerate(bold))
