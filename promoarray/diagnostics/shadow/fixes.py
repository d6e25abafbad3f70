"""An edit of one operation: which casts to write, and how the source reads with them.

``common_fixes`` finds it.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from promoarray.diagnostics.shadow.spellings import OWN, SPELLINGS, Spelling
from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand

Operands = tuple[Operand, ...]


class Fix(NamedTuple):
    """Which casts to write.

    Attributes
    ----------
    casts : tuple of (int, DType)
        The operands to cast, counted from 0, and to what.
    result : DType or None
        What to cast the result to.
    made : DType or None
        Of an array that is made of Python numbers: the dtype to ask for.
    scalars : tuple of int
        Those of the operands cast that are Python scalars: an array is made of each.
    rows : bool
        Whether these arrays have an axis, of one element.
    """

    casts: tuple[tuple[int, DType], ...] = ()
    result: DType | None = None
    made: DType | None = None
    scalars: tuple[int, ...] = ()
    rows: bool = False

    def __str__(self) -> str:
        if self.made:
            return f"dtype={self.made.name}"
        parts = [f"x{index + 1} to {dtype.name}" for index, dtype in self.casts]
        parts += [f"the result to {self.result.name}"] if self.result else []
        return f"cast {' and '.join(parts)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the casts as data."""
        return {
            "casts": [{"operand": index, "dtype": dtype.name} for index, dtype in self.casts],
            "result": self.result.name if self.result else None,
            "dtype": self.made.name if self.made else None,
        }

    def written(
        self,
        expression: str,
        file: str,
        framework: str = "",
        operation: str = "",
        mixed: Collection[int] = (),
    ) -> str:
        """Write the expression with the casts; "" if its operands are not to be told apart.

        Parameters
        ----------
        expression : str
            The source of the operation.
        file : str
            The program it stands in, which says by what name it has the array namespace.
        framework : str
            The framework of a program that was recorded, in whose words it is written.
        operation : str
            Its name, which tells comparisons that Python mirrors.
        mixed : collection of int
            The operands that are Python numbers in some passes and arrays in others.
        """
        words = SPELLINGS.get(framework)
        if words is None:
            return ""
        namespace = namespace_in(file, expression, words)
        try:
            (statement,) = ast.parse(expression.strip()).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
        if isinstance(statement, ast.AugAssign):
            return self._augmented(statement, words, namespace, mixed)
        if not isinstance(statement, ast.Expr):
            return ""
        tree = statement.value
        if self.made:
            return _made(tree, self.made, words, namespace)
        nodes = operand_nodes(tree, {namespace, *modules_in(file)}, operation)
        if self.casts and max(index for index, _ in self.casts) >= len(nodes):
            return ""
        casts = {id(nodes[index]): dtype for index, dtype in self.casts}
        numbers = {id(nodes[index]) for index in self.scalars}
        both = {id(nodes[index]) for index in mixed if index < len(nodes)}
        edited: ast.expr = _Writer(casts, numbers, both, words, namespace).written(tree)
        if self.result:
            edited = words.cast_of(edited, self.result, namespace)
        return ast.unparse(edited)

    def _augmented(
        self, statement: ast.AugAssign, words: Spelling, namespace: str, mixed: Collection[int]
    ) -> str:
        """``x += y`` with a cast of ``y``; no other leaves ``x`` the array that it is."""
        casts = dict(self.casts)
        if self.result or self.made or [*casts] != [1]:
            return ""
        dtypes, value = {id(statement.value): casts[1]}, {id(statement.value)}
        numbers, both = value if 1 in self.scalars else set(), value if 1 in mixed else set()
        writer = _Writer(dtypes, numbers, both, words, namespace)
        cast = writer.written(statement.value)
        return ast.unparse(ast.AugAssign(statement.target, statement.op, cast))


def operand_nodes(tree: ast.expr, modules: Collection[str], operation: str = "") -> list[ast.expr]:
    """Return the operands of an operation as they stand in its expression.

    The first operand of ``x.sum(0)`` is ``x``, of ``xp.sum(x)`` the argument: ``modules`` are the
    names that stand for modules and namespaces.
    """
    match tree:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return compared_nodes(left, op, right, operation)
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Call():
            return _given_to(tree, modules)
    return []


def compared_nodes(
    left: ast.expr, op: ast.cmpop, right: ast.expr, operation: str
) -> list[ast.expr]:
    """Return the operands of a comparison in the operation's order.

    Where a Python number stands on the left, Python asks the array on the right for the mirrored
    comparison: ``300 > a`` is ``less(a, 300)``.
    """
    alike = isinstance(op, (ast.Eq, ast.NotEq)) and _is_number(left)
    mirrored = alike or (operation and _MIRRORED.get(type(op)) == operation)
    return [right, left] if mirrored else [left, right]


_MIRRORED: dict[type[ast.cmpop], str] = {
    ast.Lt: "greater",
    ast.LtE: "greater_equal",
    ast.Gt: "less",
    ast.GtE: "less_equal",
}


def _given_to(call: ast.Call, modules: Collection[str]) -> list[ast.expr]:
    """The operands among what a call is given, by position or by name."""
    if any(word.arg is None for word in call.keywords):
        return []
    named = sorted(
        (_RANK[word.arg], i) for i, word in enumerate(call.keywords) if word.arg in _RANK
    )
    by_name = [call.keywords[i].value for _, i in named]
    if array := _method_of(call, modules):
        return [array, *call.args, *by_name]
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return []
    match call.func:
        case ast.Attribute(attr="where") | ast.Name(id="where"):
            return [*call.args[1:], *by_name]
    match [*call.args, *by_name]:
        case [ast.List(elts=parts) | ast.Tuple(elts=parts), *_]:
            return parts
        case given:
            return given


_RANK: dict[str | None, int] = {
    name: rank
    for rank, names in enumerate(
        (
            "input self tensor tensors x x1 a arr array arrays lhs m",
            "other x2 y b rhs exponent mat2 vec vec2 target weights",
            "min a_min",
            "max a_max",
        )
    )
    for name in names.split()
}
"""Which operand a parameter is, by its names in the frameworks."""


def _method_of(call: ast.Call, modules: Collection[str]) -> ast.expr | None:
    """The array that a method is called on; None of a function."""
    if not isinstance(call.func, ast.Attribute):
        return None
    root: ast.expr = call.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return None if isinstance(root, ast.Name) and root.id in modules else call.func.value


class _Writer(ast.NodeTransformer):
    """Puts casts around some expressions."""

    def __init__(
        self,
        casts: dict[int, DType],
        numbers: set[int],
        mixed: set[int],
        words: Spelling,
        namespace: str,
    ) -> None:
        self._casts, self._numbers, self._mixed = casts, numbers, mixed
        self._words, self._namespace = words, namespace

    def written(self, tree: ast.expr) -> ast.expr:
        """Return an expression with its casts."""
        edited = self.visit(tree)
        assert isinstance(edited, ast.expr)
        return edited

    def visit(self, node: ast.AST) -> ast.AST:
        dtype = self._casts.get(id(node))
        if dtype is None:
            return self.generic_visit(node)
        assert isinstance(node, ast.expr)
        if id(node) in self._mixed:
            return self._words.array_of_either(node, dtype, self._namespace)
        if id(node) in self._numbers or _is_number(node):
            return self._words.array_of(_as_number(node), dtype, self._namespace)
        return self._words.cast_of(node, dtype, self._namespace)


def _made(tree: ast.expr, dtype: DType, words: Spelling, namespace: str) -> str:
    match tree:
        case ast.Subscript(value=ast.Attribute(attr="ogrid"), slice=ast.Tuple()):
            return ""  # several arrays
        case ast.Subscript():  # np.mgrid[0:3]
            return ast.unparse(words.cast_of(tree, dtype, namespace))
    if not isinstance(tree, ast.Call) or any(word.arg == "dtype" for word in tree.keywords):
        return ""
    return ast.unparse(words.made(tree, dtype, namespace))


def namespace_in(file: str, expression: str, words: Spelling = OWN) -> str:
    """Return by what name a program has a namespace: as it imports it, or as it calls it here."""
    for line in linecache.getlines(file):
        found = _IMPORTED.match(line)
        if found and found[1] == words.module:
            return found[2] or found[1]
    called = _CALLED.match(expression) if words is OWN else None
    return called[1] if called else words.namespace


def modules_in(file: str) -> set[str]:
    """Return the names that a program imports, or that it gives to namespaces."""
    lines = "".join(linecache.getlines(file))
    imported = (names.split(",") for names in _IMPORTS.findall(lines))
    named = {
        name.split(" as ")[-1].strip().partition(".")[0] for names in imported for name in names
    }
    return named | set(_NAMESPACES.findall(lines))


_IMPORTS = re.compile(r"^\s*(?:from [\w.]+ )?import ([\w., ]+)", re.MULTILINE)
_NAMESPACES = re.compile(r"^\s*(\w+)\b[^=\n]*=.*namespace\w*\(", re.MULTILINE)
_IMPORTED = re.compile(r"\s*import ([\w.]+)(?: as (\w+))?\s*(?:#.*)?$")
_CALLED = re.compile(r"(\w+)\.\w+\(")


def _is_number(node: ast.AST) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _as_number(node: ast.expr) -> ast.expr:
    """A number; 1 and 0 for True and False, which not every dtype takes."""
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        return ast.Constant(int(node.value))
    return node
