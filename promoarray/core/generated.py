"""Code that a library generates from a program's: where the program itself has an expression.

TensorFlow's AutoGraph writes ``ag__.ld(x)`` for ``x``, ``ag__.converted_call(f, (x,), None)`` for
``f(x)``, ``ag__.and_(lambda: a, lambda: b)`` for ``a and b``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache

LINES: dict[str, Mapping[int, tuple[str, int]]] = {}
"""From a generated file and a line of it to the file and line that it stands for."""


def origin(file: str) -> str:
    """Return the file that a generated one was made of; that itself if none was."""
    return next((written for written, _ in LINES.get(file, {}).values()), file)


def written(expression: str, source: str, line: int) -> ast.expr | None:
    """Return the expression of a program, at a line of its source, that a generated one stands for;
    None if there is no such, as where a loop became a function."""
    try:
        wanted = ast.dump(_Plain().visit(ast.parse(expression, mode="eval").body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((node for node in _near(source, line) if ast.dump(node) == wanted), None)


def _near(source: str, line: int) -> Iterator[ast.expr]:
    """The expressions of the statements that a line is in, the nearest to it first."""
    nodes = (x for x in _expressions(source) if x.lineno >= line - 1)
    return iter(sorted(nodes, key=lambda x: (abs(x.lineno - line), x.col_offset)))


@lru_cache(maxsize=64)
def _expressions(source: str) -> tuple[ast.expr, ...]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.expr))


class _Plain(ast.NodeTransformer):
    """Writes calls of AutoGraph as they were."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        match name.removeprefix("ag__."), node.args:
            case "ld", [x]:
                return x
            case "converted_call", [func, ast.Tuple(elts=args), keywords, *_]:
                return ast.Call(func, args, _keywords(keywords))
            case ("and_" | "or_") as word, [ast.Lambda(body=left), ast.Lambda(body=right)]:
                return ast.BoolOp(ast.And() if word == "and_" else ast.Or(), [left, right])
            case "not_", [x]:
                return ast.UnaryOp(ast.Not(), x)
        return node


def _keywords(node: ast.expr) -> list[ast.keyword]:
    """Those of ``dict(a=1)``; of None none."""
    return node.keywords if isinstance(node, ast.Call) else []
