"""Tables of docs/downstream.md: of the suites' own tests, and of functions by policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import tables
from runner import HERE, KINDS, ROOT, markdown
from suites_gate import NUMPY, OURS, STRICT, Module, Record

RECORD = HERE / "downstream.txt"
PAGE = ROOT / "docs" / "downstream.md"

# --- Their own tests -----------------------------------------------------------------------------


def of_suites(record: Record) -> dict[str, str]:
    """Return what is published of the suites, by the marks of the page."""
    bound = _backends(record)[3:]
    about = "\n".join(map(_about, record, record.values()))
    return {
        "suites": f"{about}\n\n{_totals(record)}",
        "suites by module": _by_module(record),
        "suites by policy": _by_policy(record, bound),
        "refused by policies": _refusals_of_suites(record, bound),
        "why tests fail": _reasons(record),
    }


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


def _totals(record: Record) -> str:
    rows = []
    for suite, modules in record.items():
        for backend in _backends(record):
            counts = _sum(modules.values(), backend)
            if counts:
                cells = [str(counts[kind] or "") for kind in KINDS]
                rows.append([suite if backend == NUMPY else "", f"`{backend}`", *cells])
    return markdown(["suite", "back end", *KINDS], rows)


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
    return markdown(["", f"`{NUMPY}`", f"`{STRICT}`", f"`{OURS}`"], rows)


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
    return markdown(["", *(f"`{_policy(name)}`" for name in bound)], rows)


def _policy(backend: str) -> str:
    return backend.removeprefix(f"{OURS}.")


def _refusals_of_suites(record: Record, bound: Sequence[str]) -> str:
    rows = []
    modules = [each for suite in record.values() for each in suite.values()]
    for backend in bound:
        for reason, count in _sum(modules, backend, "refusals").most_common():
            operation, _, words = reason.partition(": ")
            rows.append([f"`{_policy(backend)}`", str(count), f"`{operation}`", _escaped(words)])
    return markdown(["policy", "tests", "operation", "the policy's words"], rows)


def _reasons(record: Record) -> str:
    rows = []
    for suite, modules in record.items():
        for backend in _backends(record)[2:]:
            for reason, count in _sum(modules.values(), backend, "reasons").most_common():
                rows.append([suite, f"`{backend}`", str(count), _escaped(reason)])
    return markdown(["suite", "back end", "tests", "reason"], rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


# --- Functions and estimators --------------------------------------------------------------------


LIBRARIES = ("scipy", "scikit-learn", "array-api-extra")
VERSIONS = """\
Below is what {} functions and estimators do under each policy: `python
conformance/downstream.py --write` runs them, last with SciPy
{}, scikit-learn {} and array-api-extra {}.
"""


def of_functions(path: Path = RECORD) -> dict[str, str]:
    """Return what is recorded of functions, by the marks of the page."""
    about, sections = tables.read(path)
    count = len({case for cells in sections.values() for case, _ in cells})
    return {
        "versions": VERSIONS.format(count, *(about[name] for name in LIBRARIES)),
        **{kind: _table(cells) for kind, cells in sections.items()},
        "refused": _refusals(about),
        "leaves": _leaving(about),
    }


def _table(cells: tables.Cells) -> str:
    policies = list(dict.fromkeys(policy for _, policy in cells))
    rows = [
        [f"`{case}`", *(_cell(cells[case, policy]) for policy in policies)]
        for case in dict.fromkeys(case for case, _ in cells)
    ]
    return markdown(["", *(f"`{policy}`" for policy in policies)], rows)


def _cell(cell: str) -> str:
    return f"({cell[1:]})" if cell.startswith("-") else cell.replace("~", "\\~")


def _refusals(about: Mapping[str, str]) -> str:
    rows = []
    for key, value in about.items():
        if key.startswith("-"):
            refusal, _, why = value.partition(" | ")
            operation, _, place = refusal.partition(" in ")
            rows.append([key[1:], f"`{operation}`", f"`{place}`", why.replace("|", "\\|")])
    return markdown(["", "operation", "called by", "policies, and their words"], rows)


def _leaving(about: Mapping[str, str]) -> str:
    suffix = " leaves by"
    rows = [
        [f"`{key.removesuffix(suffix)}`", f"`{value}`"]
        for key, value in about.items()
        if key.endswith(suffix)
    ]
    return markdown(["", "taken by"], rows)
