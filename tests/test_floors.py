"""Imports go down only: no file of the package names one on a higher floor, nor in a circle.

Imports inside functions and for type checking count too. ``docs/architecture.md`` draws the floors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import promoarray

ROOT = Path(promoarray.__file__).parent
FLOORS = [
    ["__main__"],
    ["cli", "threadpool"],
    ["__init__"],
    ["testing"],
    ["diagnostics", "io", "linalg", "fft", "namespaces", "extras", "array_methods", "numpy_api"],
    ["functions"],
    ["parray"],
    ["core"],
    ["backends", "policies"],
    ["promotion"],
    ["kernels", "threads"],
    [
        "console",
        "contextdecorator",
        "data_class",
        "enumeration",
        "errors",
        "headroom",
        "dtypes",
        "named_tuple",
        "once",
        "one_block",
        "operations",
        "pages",
        "renamed",
        "resumed",
        "other_names",
    ],
]
"""From the roof to the ground; a file's room is its first folder, or the file itself."""

FILES = {
    ".".join(("promoarray", *path.relative_to(ROOT).with_suffix("").parts)): path
    for path in ROOT.rglob("*.py")
}


def imported(path: Path) -> Iterator[str]:
    """The files of the package that a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:  # a module, a package, or what stands in either
            near = (name, f"{name}.__init__", name.rpartition(".")[0])
            found = [n for n in (*near, f"{near[-1]}.__init__") if n in FILES]
            yield from found[:1]


def floor(file: str) -> int:
    room = file.split(".")[1]
    return next(n for n, rooms in enumerate(FLOORS) if room in rooms)


@cache
def imports() -> dict[str, set[str]]:
    return {file: set(imported(path)) for file, path in FILES.items()}


def test_no_import_runs_up() -> None:
    up = [f"{a} -> {b}" for a, known in imports().items() for b in known if floor(b) < floor(a)]
    assert sorted(up) == []


def test_rooms_side_by_side_do_not_know_each_other() -> None:
    for a, known in imports().items():
        for b in known:
            rooms = {a.split(".")[1], b.split(".")[1]}
            assert rooms != {"backends", "policies"}, f"{a} -> {b}"


def test_no_imports_run_in_a_circle() -> None:
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None
