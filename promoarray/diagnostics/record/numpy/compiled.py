"""Functions of a program that Numba compiles, by its source."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from typing import NamedTuple

_AS_PYTHON = frozenset({"jit", "njit", "jitclass", "register_jitable"})
"""Those that leave functions as they are under ``NUMBA_DISABLE_JIT=1``."""

_ALWAYS = frozenset(
    {"vectorize", "guvectorize", "stencil", "cfunc", "cuda.jit", "intrinsic", "overload"}
)


class Compiled(NamedTuple):
    """Definitions and lambdas of a source."""

    left: frozenset[ast.AST] = frozenset()  # what is compiled: its instructions have to be its own
    # what would be, and runs in Python: an int there is an int64 under Numba
    in_python: frozenset[ast.AST] = frozenset()


def compiled(nodes: Sequence[ast.AST]) -> Compiled:
    """Return what decorators and calls of Numba's compile, in a file that imports it."""
    if not _imports_numba(nodes):
        return Compiled()
    as_python = _AS_PYTHON if os.environ.get("NUMBA_DISABLE_JIT") == "1" else frozenset()
    found: dict[bool, set[ast.AST]] = {True: set(), False: set()}
    defined = {x.name: x for x in nodes if isinstance(x, _DEFINITIONS)}
    for node in nodes:
        given = node.args[:1] if isinstance(node, ast.Call) else []
        within = [defined.get(x.id) if isinstance(x, ast.Name) else x for x in given]
        names = {_compiler(node.func)} if isinstance(node, ast.Call) else set()
        if isinstance(node, _DEFINITIONS):
            within, names = [node], {_compiler(each) for each in node.decorator_list}
        if names & (_AS_PYTHON | _ALWAYS):
            found[names <= as_python | {""}] |= {
                x for x in within if isinstance(x, (*_DEFINITIONS, ast.Lambda))
            }
    return Compiled(frozenset(found[False]), frozenset(found[True] - found[False]))


_DEFINITIONS = ast.FunctionDef, ast.ClassDef


def _imports_numba(nodes: Sequence[ast.AST]) -> bool:
    names = [x.module for x in nodes if isinstance(x, ast.ImportFrom)]
    names += [each.name for x in nodes if isinstance(x, ast.Import) for each in x.names]
    return any((name or "").partition(".")[0] == "numba" for name in names)


def _compiler(decorator: ast.expr) -> str:
    """The name of a decorator that may be Numba's; "" of one of another library's."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(called, ast.Name):
        return called.id
    if not isinstance(called, ast.Attribute):
        return ""
    owner = ast.unparse(called.value).rpartition(".")[2]
    name = "" if owner in ("np", "numpy", "jax") else called.attr
    return f"cuda.{name}" if owner == "cuda" else name
