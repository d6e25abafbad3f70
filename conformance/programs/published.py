"""The page of the last wide runs: a row a framework, with its date and commit."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from runner import commit

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "differential.md"
RULE = "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"


def write(name: str, said: dict[str, str], count: int, departures: int, differ: int) -> None:
    """Put a run into the table, in place of the one before of the same name."""
    agree = (count - departures - differ) / count
    row = (
        f"| `{name}` | {said['version']} | `{said['policy']}` | {count:,} | {agree:.2%}"
        f" | {departures / count:.2%} | {differ / count:.2%} ({differ}) | {said['seed']}"
        f" | {datetime.now(UTC):%Y-%m-%d}, {commit()} |"
    )
    before, rule, after = PAGE.read_text(encoding="utf-8").partition(f"{RULE}\n")
    if not rule:
        raise ValueError(f"{PAGE} has no table to write into")
    table, blank, rest = after.partition("\n\n")
    rows = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}
    rows[name] = row
    table = "\n".join(rows[key] for key in sorted(rows))
    PAGE.write_text(before + rule + table + (blank or "\n") + rest, encoding="utf-8")
