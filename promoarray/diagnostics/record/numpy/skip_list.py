"""Functions that a program calls as it is, without the hook: they compute nothing with arrays."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence

_BUILTIN = frozenset(dir(builtins))
_NUMERIC = frozenset(
    {"abs", "pow", "divmod", "round", "sum", "min", "max", "sorted", "map", "filter"}
)
LOOK_AROUND = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
"""Builtins that look at the frame they are called in; Python compiles ``super()`` specially."""


def left_alone(tree: ast.Module, nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The names of functions that are called as they are: builtins, and those of the file."""
    own = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and type(n.ctx) is ast.Store}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {alias.asname or alias.name for alias in node.names}
            bound |= _BUILTIN | own if "*" in names else names
    return (_BUILTIN - bound - _NUMERIC) | (own - bound) | LOOK_AROUND
