"""What is published of runs: counts, by suite and module, as JSON under version control."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import suites_gate as gate
from suites_backends import OURS
from suites_run import OUTCOMES, Run

RECORD = Path(__file__).resolve().parent / "suites" / "record.json"

Module = dict[str, Any]
"""`about`, `seconds`, and by back end the `counts`, the `reasons` listed and the `refusals`."""

Record = dict[str, dict[str, Module]]
"""By suite and module."""


def joined(runs: Iterable[Run]) -> list[Run]:
    """The runs, of each module the last one only."""
    return [*{(run.suite, run.module): run for run in runs}.values()]


def module(run: Run) -> Module:
    """What is kept of a run."""
    return {
        "about": run.about,
        "seconds": run.seconds,
        "counts": {name: _ordered(run.counts(name)) for name in run.backends},
        "reasons": {
            name: dict(gate.explained([run], run.suite, name).most_common())
            for name in gate.ours(run)
        },
        "refusals": {
            name: dict(gate.refused([run], name).most_common()) for name in gate.ours(run)
        },
    }


def _beside(before: Module | None, now: Module) -> Module:
    """What is kept of a run, with back ends that only one before it had."""
    if before is None or before["counts"].keys() <= now["counts"].keys():
        return now
    about = dict(now["about"])
    if any(name.startswith(OURS) for name in before["counts"].keys() - now["counts"].keys()):
        commits = (before["about"].get("commit", ""), about.get("commit", ""))
        about["commit"] = ", ".join(dict.fromkeys(filter(None, commits)))
    counted = {name: before[name] | now[name] for name in ("counts", "reasons", "refusals")}
    return {"about": about, "seconds": now["seconds"], **counted}


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return {kind: counts[kind] for kind in OUTCOMES if counts[kind]}


def read(path: Path = RECORD) -> Record:
    """Read what was published."""
    found: Record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def write(runs: Iterable[Run], path: Path = RECORD) -> None:
    """Replace what is published of the modules and back ends that were run, and keep the others."""
    record = read(path)
    for run in runs:
        modules = record.setdefault(run.suite, {})
        modules[run.module] = _beside(modules.get(run.module), module(run))
    ordered = {suite: dict(sorted(record[suite].items())) for suite in record}
    path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
