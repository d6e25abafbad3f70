"""Where the source of a documented name stands, for the links that Sphinx's viewcode makes.

It finds functions and classes itself. Elementwise functions are assignments, and the methods of
arrays that are NumPy's are rows of a table.
"""

from __future__ import annotations

import ast
import re
from importlib.util import find_spec
from pathlib import Path

ELEMENTWISE = "promoarray.functions.elementwise"
METHODS = "promoarray.array_methods"

Tags = dict[str, tuple[str, int, int]]
"""From a name to "def", and its first and last line."""


def module_of(module: str, name: str) -> str | None:
    """The module in which a public name is written, where its object does not say so."""
    if module == "promoarray":
        for written in (ELEMENTWISE, METHODS):
            if name in source_of(written)[1]:
                return written
    return None


def source_of(module: str) -> tuple[str, Tags]:
    """The text of one of these modules, and where its names are written."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    text = Path(spec.origin).read_text(encoding="utf-8")
    return text, (rows if module == METHODS else assignments)(text)


def assignments(text: str) -> Tags:
    """The names that calls are assigned to at top level, and the functions."""
    found: Tags = {}
    for node in ast.parse(text).body:
        lines = node.lineno, node.end_lineno or node.lineno
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            found |= {t.id: ("def", *lines) for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = ("def", *lines)
    return found


def rows(text: str) -> Tags:
    """The rows of the table of methods."""
    before, _, after = text.partition('_TABLE = """\n')
    first = before.count("\n") + 2
    lines = after.partition('"""')[0].splitlines()
    names = (re.split(r"\s", line, maxsplit=1)[0] for line in lines)
    return {f"PArray.{name}": ("def", first + n, first + n) for n, name in enumerate(names)}
