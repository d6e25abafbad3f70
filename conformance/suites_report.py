"""What runs of the suites of others look like: tables in the terminal, a part of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.table import Table
from suites_backends import NUMPY, OURS, STRICT
from suites_record import Module, Record, module
from suites_run import OUTCOMES, Run

INTRO = """\
## Their own tests

`python conformance/suites.py` runs the tests that these libraries come with, those of them that go
over back ends, with promoarray as one more; no file of theirs is changed. NumPy's own namespace and
array-api-strict run beside it.

*refused*: the test fails by a `PromotionError`, which the policy, asked again, raises again.
*differs*: the test compares dtypes, and finds the policy's where NumPy has another. *failed*: all
else, each by name and reason in `conformance/suites/`. *xfailed* and *skipped* is what the suite
itself leaves out, most of it what it runs with NumPy alone. array-api-strict fails where a test
goes over its devices, one of which has no float64.
"""

MODULES = """\
By module, with promoarray itself, under its default policy `numpy`: tests passed, and in
brackets those that failed and are listed.
"""

POLICIES = """\
### Under other policies

Arrays bound to a policy, in the same runs: of each module, the tests passed, and after the dash
those refused, those that differ, and those that failed. Modules with an empty cell were run with
promoarray itself alone.
"""

REFUSALS = """\
What the policies refuse there, and how many tests end so:
"""

REASONS = """\
### What fails, and why

"""


def tables(runs: Sequence[Run]) -> Iterator[Table]:
    """Yield a table for each suite, for the terminal."""
    for suite in dict.fromkeys(run.suite for run in runs):
        grid = Table(title=suite, title_justify="left")
        grid.add_column("module")
        grid.add_column("back end")
        for kind in OUTCOMES:
            grid.add_column(kind, justify="right")
        for run in runs:
            if run.suite != suite:
                continue
            title = run.module
            for name, counts in module(run)["counts"].items():
                cells = [_shown(kind, counts.get(kind, 0)) for kind in OUTCOMES]
                grid.add_row(title, name, *cells)
                title = ""
            grid.add_section()
        yield grid


def _shown(kind: str, count: int) -> str:
    if not count:
        return "·"
    return f"[bold red]{count}[/]" if kind == "failed" else str(count)


def section(record: Record) -> str:
    """Return the part of the page."""
    if not record:
        return INTRO
    text = [INTRO, *map(_about, record, record.values()), "", _totals(record)]
    text += [MODULES, _by_module(record)]
    if bound := _bound(record):
        text += [POLICIES, _by_policy(record, bound), REFUSALS, _refusals(record, bound)]
    return "\n".join([*text, REASONS + _reasons(record)])


def _about(suite: str, modules: Mapping[str, Module]) -> str:
    """Of what versions, commit and date."""

    def every(key: str) -> str:
        return ", ".join(sorted({each["about"].get(key, "") for each in modules.values()}))

    libraries = {suite: suite, "NumPy": "numpy", "array-api-strict": "array-api-strict"}
    libraries |= {"Python": "python", "promoarray at": "commit"}
    named = ", ".join(f"{title} {every(key)}" for title, key in libraries.items())
    return f"- {named}: {every('date')}"


def _sum(modules: Iterable[Module], backend: str, field: str = "counts") -> Counter[str]:
    total: Counter[str] = Counter()
    for each in modules:
        total.update(each[field].get(backend, {}))
    return total


def _backends(record: Record) -> list[str]:
    every = {name for modules in record.values() for m in modules.values() for name in m["counts"]}
    first = [NUMPY, STRICT, OURS]
    return [*first, *sorted(every - {*first})]


def _bound(record: Record) -> list[str]:
    return _backends(record)[3:]


def _totals(record: Record) -> str:
    rows = []
    for suite, modules in record.items():
        for backend in _backends(record):
            counts = _sum(modules.values(), backend)
            if counts:
                cells = [str(counts[kind] or "") for kind in OUTCOMES]
                rows.append([suite if backend == NUMPY else "", f"`{backend}`", *cells])
    return _markdown(["suite", "back end", *OUTCOMES], rows)


def _by_module(record: Record) -> str:
    rows = []
    for suite, modules in record.items():
        for name, each in modules.items():
            cells = []
            for backend in (NUMPY, STRICT, OURS):
                counts = Counter(each["counts"].get(backend, {}))
                failed = f" ({counts['failed']})" if counts["failed"] else ""
                cells.append(f"{counts['passed']}{failed}")
            rows.append([f"{suite} {name}", *cells])
    return _markdown(["", f"`{NUMPY}`", f"`{STRICT}`", f"`{OURS}`"], rows)


def _by_policy(record: Record, bound: Sequence[str]) -> str:
    rows = []
    for suite, modules in record.items():
        for name, each in modules.items():
            cells = []
            for backend in bound:
                if backend not in each["counts"]:
                    cells.append("")
                    continue
                counts = Counter(each["counts"][backend])
                rest = [f"{counts[k]} {k}" for k in ("refused", "differs", "failed") if counts[k]]
                cells.append(f"{counts['passed']}{' – ' * bool(rest)}{', '.join(rest)}")
            rows.append([f"{suite} {name}", *cells])
    return _markdown(["", *(f"`{_policy(name)}`" for name in bound)], rows)


def _policy(backend: str) -> str:
    return backend.removeprefix(f"{OURS}.")


def _refusals(record: Record, bound: Sequence[str]) -> str:
    rows = []
    modules = [each for suite in record.values() for each in suite.values()]
    for backend in bound:
        for reason, count in _sum(modules, backend, "refusals").most_common():
            operation, _, words = reason.partition(": ")
            rows.append([f"`{_policy(backend)}`", str(count), f"`{operation}`", _escaped(words)])
    return _markdown(["policy", "tests", "operation", "the policy's words"], rows)


def _reasons(record: Record) -> str:
    rows = []
    for suite, modules in record.items():
        for backend in _backends(record)[2:]:
            for reason, count in _sum(modules.values(), backend, "reasons").most_common():
                rows.append([suite, f"`{backend}`", str(count), _escaped(reason)])
    return _markdown(["suite", "back end", "tests", "reason"], rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows)) + "\n"
