"""Elements that a line computes for ``where`` and that it chooses.

The condition is computed once more, if that changes nothing: of names, parts and operators.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from types import FrameType
from typing import Any

import numpy as np

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.source import read


def chooses(node: ast.AST, part: ast.AST) -> bool:
    """Return whether a call chooses from a part of it, which is not what it chooses by."""
    match node:
        case ast.Call(func=ast.Attribute(attr="where" | "select"), args=[by, *_]):
            return part is not by
    return False


def is_chosen_from(site: Site) -> bool:
    """Return whether an expression stands in a call that chooses from it."""
    around = nodes_around(site)
    return any(map(chooses, around[1:], around))


def chosen_at(site: Site, frame: FrameType, shape: tuple[int, ...]) -> Any:
    """Return which elements of an expression are chosen, as an array; None if nobody knows."""
    around, chosen = nodes_around(site), np.ones(shape, bool)
    for node, part in zip(around[1:], around, strict=False):
        if not chooses(node, part):
            continue
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Attribute)
        if node.func.attr != "where" or len(node.args) not in (2, 3):
            return None
        condition = _computed(node.args[0], frame)
        is_first = part is (node.func if len(node.args) == 2 else node.args[1])
        try:
            chosen &= np.broadcast_to(condition if is_first else ~condition, shape)
        except (ValueError, TypeError):  # of another shape, or no array
            return None
    return chosen


def _computed(node: ast.expr, frame: FrameType) -> Any:
    """A condition once more, as an array of bools; None if that may change something."""
    if not all(isinstance(x, _WITHOUT_EFFECT) for x in ast.walk(node)):
        return None
    try:
        code = compile(ast.Expression(node), "<condition>", "eval")
        return np.asarray(eval(code, frame.f_globals, frame.f_locals)).astype(bool)
    except Exception:  # as of a variable of a comprehension, or of what is traced
        return None


_WITHOUT_EFFECT = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.Compare),
    *(ast.BinOp, ast.UnaryOp, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop),
)


@lru_cache(maxsize=1024)
def nodes_around(site: Site) -> tuple[ast.AST, ...]:
    """Return what stands around an expression in its source, the innermost first, with itself."""
    extent: Any = site.extent
    source = read(site.file) if extent else None
    found: Any = next(reversed(source.at(extent)), None) if source is not None else None
    around: list[ast.AST] = []
    while source is not None and found not in (None, source.tree):
        around.append(found)
        found = source.parents[found]
    return tuple(around)
