"""The table of tests and policies at the end of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from promoarray.console import counted

POLICY, OUTCOME = "pa_policy", "pa_outcome"
"""Of a report's ``user_properties``, by which results come from the processes of pytest-xdist."""

MOST = 20
"""So many tests that failed are shown; of all tests ten times as many."""

_WORDS = {
    "passed": "ok",
    "failed": "FAILED",
    "error": "ERROR",
    "skipped": "skipped",
    "xfailed": "xfailed",
    "xpassed": "XPASS",
}
_NARROWEST = 24

Rows = dict[str, dict[str, str]]
"""From a test to what came of it under each policy."""


def show(terminal: Any, *, policies: Iterable[str], every: bool) -> None:
    """Write the table: a row for each test that failed under some policy, or for every test.

    Parameters
    ----------
    terminal : TerminalReporter
    policies : iterable of str
        Those of the run, in their order; tests may name others.
    every : bool
    """
    rows = _rows(terminal.stats)
    shown = rows if every else {test: row for test, row in rows.items() if _failed(row)}
    most = 10 * MOST if every else MOST
    if not shown:
        return
    terminal.section("tests under each policy")
    first = dict(list(shown.items())[:most])
    for line in lines(first, policies, terminal._tw.fullwidth):
        terminal.write_line(line)
    left = [counted(len(shown) - most, "more test")] if len(shown) > most else []
    agree = len(rows) - len(shown)
    left += [f"{counted(agree, 'other test')} failed under no policy"] if agree else []
    if left:
        terminal.write_line("; ".join(left))


def lines(rows: Rows, order: Iterable[str], width: int) -> Iterator[str]:
    """Yield the table as text; where it is too wide, the policies are in several parts."""
    used = dict.fromkeys(policy for row in rows.values() for policy in row)
    policies = [policy for policy in dict.fromkeys([*order, *used]) if policy in used]
    wide = {p: max(len(p), *(len(row.get(p, "")) for row in rows.values())) for p in policies}
    longest = max(map(len, rows))
    name = max(min(longest, width - sum(wide.values()) - 2 * len(wide)), min(longest, _NARROWEST))
    while policies:
        part = _fitting(policies, wide, width - name)
        policies = policies[len(part) :]
        yield "  ".join([" " * name, *(p.ljust(wide[p]) for p in part)]).rstrip()
        for test, row in rows.items():
            cells = (row.get(p, "").ljust(wide[p]) for p in part)
            yield "  ".join([_ending(test, name), *cells]).rstrip()


def _fitting(policies: list[str], wide: dict[str, int], room: int) -> list[str]:
    """The first policies that there is room for, and one at least."""
    part: list[str] = []
    for policy in policies:
        room -= wide[policy] + 2
        if room < 0 and part:
            break
        part.append(policy)
    return part


def _ending(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else f"...{text[3 - width :]}"


def _rows(stats: dict[str, list[Any]]) -> Rows:
    """What came of each test, from all reports, in the order of the source."""
    rows: Rows = {}
    places: dict[str, tuple[str, int]] = {}
    for outcome, word in _WORDS.items():
        for report in stats.get(outcome, ()):
            said = dict(getattr(report, "user_properties", ()))
            if POLICY in said:
                policy = said[POLICY]
                test = without(report.nodeid, policy)
                rows.setdefault(test, {})[policy] = said.get(OUTCOME) or word
                places[test] = report.location[0], report.location[1] or 0
    return {test: rows[test] for test in sorted(rows, key=places.__getitem__)}


def _failed(row: dict[str, str]) -> bool:
    return any(word not in ("ok", "skipped", "xfailed") for word in row.values())


def without(nodeid: str, policy: str) -> str:
    """Return the id of a test without the policy among its parameters."""
    function, bracket, parameters = nodeid.partition("[")
    parts = parameters[:-1].split("-")
    if not bracket or policy not in parts:
        return nodeid
    parts.remove(policy)
    return f"{function}[{'-'.join(parts)}]" if parts else function
