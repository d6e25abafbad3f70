"""Imports go down only: no file of the package names one on a higher floor, nor in a circle.

Imports inside functions and for type checking count too, and modules that are imported by their
name, as by ``import_module``: of those the ones that do run up are listed with the reason.
``docs/architecture.md`` draws the floors.
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
    [
        *("diagnostics", "io", "linalg", "fft", "namespaces", "extras"),
        *("array_methods", "numpy_api"),
    ],
    ["functions"],
    ["parray"],
    ["core"],
    ["backends", "policies"],
    ["promotion"],
    ["kernels", "threads"],
    [
        "console",
        "context",
        "errors",
        "dtypes",
        "once",
        "operations",
        "pages",
        "other_names",
    ],
]
"""From the roof to the ground; a file's room is its first folder, or the file itself."""
ROOMS = {room for rooms in FLOORS for room in rooms}

BY_NAME = {
    "namespaces -> __init__": "a chapter of a bound namespace is a module of the package",
    "numpy_api -> __init__": "np.add(x, y) computes in the namespace of the arrays",
    "promotion -> policies": "the registry loads a framework when it is first asked for",
}
"""The rooms that import from above by name, once all is loaded, and what for."""

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


def named(path: Path) -> Iterator[str]:
    """The rooms of the package that strings of a file name, in tables and where one is imported.

    Of a string that is put together the beginning counts, where the room stands; where none does,
    any may be meant, and that is the roof.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        room = beginning(node).removeprefix("promoarray.").partition(".")[0]
        if beginning(node).startswith("promoarray.") and room in ROOMS:
            yield room
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith("module")
            and any(beginning(arg) in ("promoarray", "promoarray.") for arg in node.args)
        ):
            yield "__init__"


def beginning(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def room_of(file: str) -> str:
    return file.split(".")[1]


def floor(room: str) -> int:
    return next(n for n, rooms in enumerate(FLOORS) if room in rooms)


@cache
def imports() -> dict[str, set[str]]:
    return {file: set(imported(path)) for file, path in FILES.items()}


@cache
def by_name() -> set[tuple[str, str]]:
    return {(room_of(file), room) for file, path in FILES.items() for room in named(path)}


def test_no_import_runs_up() -> None:
    up = [
        f"{a} -> {b}"
        for a, known in imports().items()
        for b in known
        if floor(room_of(b)) < floor(room_of(a))
    ]
    assert sorted(up) == []


def test_what_is_imported_by_name_from_above_is_known() -> None:
    up = {f"{a} -> {b}" for a, b in by_name() if floor(b) < floor(a)}
    assert up == BY_NAME.keys()


def test_rooms_side_by_side_do_not_know_each_other() -> None:
    pairs = {(room_of(a), room_of(b)) for a, known in imports().items() for b in known} | by_name()
    assert not pairs & {("backends", "policies"), ("policies", "backends")}


def test_no_imports_run_in_a_circle() -> None:
    _straight(imports())


def test_no_folders_of_diagnostics_import_each_other() -> None:
    def folder(file: str) -> str:
        return ".".join(file.split(".")[2:3])

    arrows: dict[str, set[str]] = {}
    for a, known in imports().items():
        others = {folder(b) for b in known if room_of(b) == "diagnostics"} - {folder(a)}
        if room_of(a) == "diagnostics":
            arrows.setdefault(folder(a), set()).update(others)
    _straight(arrows)


def _straight(arrows: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None
