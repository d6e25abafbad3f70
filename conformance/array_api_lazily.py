"""What docs/distributed.md tells of array-api-tests over lazy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import array_api_gate as gate
from array_api_report import listed_names, markdown
from array_api_run import Case, Run

PAGE = Path(__file__).resolve().parents[1] / "docs" / "distributed.md"
MARKS = "<!-- array-api-tests -->", "<!-- end of array-api-tests -->"


def publish(runs: Sequence[Run], page: Path = PAGE) -> None:
    """Write the runs into the page, in place of those before.

    Raises
    ------
    ValueError
        If the page has no place for them.
    """
    text = page.read_text(encoding="utf-8")
    before, opened, rest = text.partition(MARKS[0])
    _, closed, after = rest.partition(MARKS[1])
    if not opened or not closed:
        raise ValueError(f"{page.name} has no lines {MARKS[0]} and {MARKS[1]}")
    page.write_text(f"{before}{MARKS[0]}\n{section(runs)}{MARKS[1]}{after}", encoding="utf-8")


def section(runs: Sequence[Run]) -> str:
    """What was run, how it went, and what is excepted under which reason."""
    header = ["policy", "blocks", "examples", "passed", "failed", "refused"]
    header += ["lazy arrays excepted", "NumPy's kernels excepted", "skipped", "date", "commit"]
    parts = [markdown(header, [_row(run) for run in runs])]
    for chunk in dict.fromkeys(_chunk(run) for run in runs):
        of_chunk = [run for run in runs if _chunk(run) == chunk]
        parts.append(_exceptions(chunk, of_chunk))
    return "\n".join(parts)


def _chunk(run: Run) -> int | None:
    found: int | None = run.about.get("chunk")
    return found


def _row(run: Run) -> list[str]:
    counts, excepted = run.counts(), gate.excepted("dask", _chunk(run))
    lazy = [test for test in run.tests if test.kind == "xfailed" and test.id in excepted]
    about = run.about
    return [
        f"`{run.policy}`, {run.mode}",
        f"of {_chunk(run)} along each axis" if _chunk(run) else "one an array",
        str(about["examples"]),
        f"{counts['passed']:,}",
        *(str(counts[kind]) for kind in ("failed", "refused")),
        str(len(lazy)),
        str(counts["xfailed"] - len(lazy)),
        str(counts["skipped"]),
        str(about["date"]),
        str(about.get("commit", "")),
    ]


def _exceptions(chunk: int | None, runs: Sequence[Run]) -> str:
    """The excepted tests by reason, those that failed alone."""
    excepted = gate.excepted("dask", chunk)
    groups: dict[str, list[str]] = {}
    for id in dict.fromkeys(t.id for run in runs for t in run.tests if _failed(t)):
        if id in excepted:
            groups.setdefault(" ".join(excepted[id]), []).append(id)
    where = f"in blocks of {chunk}" if chunk else "in one block"
    lines = [f"- {reason} {listed_names(ids)}" for reason, ids in groups.items()]
    return "\n".join([f"Excepted {where}:\n", *lines, ""])


def _failed(test: Case) -> bool:
    return test.kind == "xfailed"
