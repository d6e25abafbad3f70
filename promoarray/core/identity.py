"""Finds whether a program compares dtypes by identity, ``x.dtype is xp.float32``.

It may, as there is one object a dtype; so it must not be handed another one then.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import sys
from collections.abc import Iterator
from functools import cache
from types import FrameType, FunctionType, ModuleType
from typing import Any

from promoarray.core.call_site import is_library, outside
from promoarray.dtypes import BY_NAME


def compared_by_identity() -> bool:
    """Whether code that a dtype may come to does so, which is read here.

    That is the file that reads it, those that this one imports from, and those that called it.
    """
    frame = outside()
    if frame is None:
        return False
    if _in_file(frame.f_code.co_filename) or _in_imports(frame):
        return True
    frame = frame.f_back
    while frame is not None:
        file = frame.f_code.co_filename
        if _in_file(file) and not is_library(file):
            return True
        frame = frame.f_back
    return False


def _in_imports(frame: FrameType) -> bool:
    """Whether a file does that a frame's module has its modules, functions and classes from."""
    known, names = _imports.get(frame.f_code.co_filename, (False, -1))
    if names != len(frame.f_globals):
        known = any(_in_file(file) for file in set(_imported(frame.f_globals)))
        _imports[frame.f_code.co_filename] = known, len(frame.f_globals)
    return known


_imports: dict[str, tuple[bool, int]] = {}
"""Of files whether those do that they import from, and how many names they had by then."""


def _imported(names: dict[str, Any]) -> Iterator[str]:
    for value in tuple(names.values()):
        if type(value) is ModuleType:
            module: Any = value
        elif type(value) in (FunctionType, type):
            module = sys.modules.get(value.__module__)
        else:
            continue
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and not is_library(file):
            yield file


@cache
def _in_file(file: str) -> bool:
    source = "".join(linecache.getlines(file))
    if not re.search(_LIKELY, source):
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(map(_compares, ast.walk(tree)))


def _compares(node: ast.AST) -> bool:
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    pairs = zip(node.ops, sides, sides[1:], strict=False)
    return any(
        isinstance(op, (ast.Is, ast.IsNot))
        and not any(map(_is_no_dtype, pair))
        and any(_is_dtype(side) for side in pair)
        for op, *pair in pairs
    )


def _is_no_dtype(node: ast.expr) -> bool:
    """Whether this is no dtype of ours for sure: ``None``, ``type(x)``, Python's own ``bool``."""
    python = isinstance(node, ast.Name) and (hasattr(builtins, node.id) or node.id == "_NoValue")
    return python or isinstance(node, (ast.Constant, ast.Call))


def _is_dtype(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in BY_NAME or "dtype" in node.attr
    return isinstance(node, ast.Name) and (node.id in BY_NAME or "dtype" in node.id)


_LIKELY = r"\bis\b.*(?:dtype|bool|float|int|complex|string)|dtype.*\bis\b"
