"""Which framework a program computes with: told by the user, or by what the program imports."""

from __future__ import annotations

import ast
import os
import sys
import tokenize
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

from promoarray.diagnostics.run import notebook
from promoarray.diagnostics.record.block import RECORDED, REWRITTEN

OWN = "promoarray"
AUTO = "auto"


def framework_of(script: str | None, module: str | None) -> str:
    """Return what a program computes with: the first of ``names`` that it imports at top level.

    If it imports none, it is what the modules beside it import. Those of which none does compute
    with promoarray, if with anything.
    """
    found = imported_by(script, module)
    if REWRITTEN.keys() & found or not found & {*names()}:  # which those of others import as well
        found |= _imported_beside(_path_of(script, module), found)
    return next((name for name in names() if name in found), OWN)


def imported_by(script: str | None, module: str | None) -> set[str]:
    """Return the packages that a program itself imports at top level."""
    path = _path_of(script, module)
    return {name for source in _sources(path) for name in _imported(source)}


def names() -> tuple[str, ...]:
    """What a program may compute with, that first which decides if it imports several."""
    return (OWN, *RECORDED)


def _imported(source: str) -> Iterator[str]:
    """The packages that a source imports, but for what only its functions import."""
    try:
        waiting: list[ast.AST] = [ast.parse(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)):
            waiting += ast.iter_child_nodes(node)


def _imported_beside(path: Path | None, names: set[str]) -> set[str]:
    """The packages that the modules import which lie beside a program, and those that they do."""
    found: set[str] = set()
    waiting, seen = set(names), set[str]()
    while path is not None and waiting - seen:
        name = (waiting - seen).pop()
        seen.add(name)
        each = path.parent / name
        files = sorted(each.glob("*.py")) if each.is_dir() else [each.with_suffix(".py")]
        for file in files[:_MOST]:
            imported = {name for source in _sources(file) for name in _imported(source)}
            found |= imported
            waiting |= imported
    return found


_MOST = 100
"""So many files of a package are looked at."""


def _path_of(script: str | None, module: str | None) -> Path | None:
    """The file of a program."""
    path = Path(script) if script else _file_of(module or "")
    return path / "__main__.py" if path is not None and path.is_dir() else path


def _sources(path: Path | None) -> Iterator[str]:
    """The source of a program, or of each cell of a notebook; nothing if it cannot be read."""
    if path is None:
        return
    if path.suffix == ".ipynb":
        for cell in notebook.cells(str(path)):
            lines = cell.source.splitlines()
            yield "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))
        return
    try:
        with tokenize.open(path) as file:
            yield file.read()
    except (OSError, SyntaxError, ValueError):
        return


def _file_of(module: str) -> Path | None:
    """The file that ``python -m`` runs, found without importing anything."""
    path: list[str] | None = [os.getcwd(), *sys.path]
    spec = None
    for part in module.split("."):
        spec = PathFinder.find_spec(part, path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    if path:
        spec = PathFinder.find_spec("__main__", path)
    return Path(spec.origin) if spec and spec.has_location and spec.origin else None
