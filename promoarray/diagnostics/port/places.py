"""The expressions of a source file by where they stand, and the operands of each.

Python counts the columns of its positions in bytes of UTF-8, libcst in characters.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Any, NamedTuple

from promoarray.diagnostics.port.seen import ASTYPE, DEFAULT_DTYPE, SETITEM, Seen
from promoarray.diagnostics.shadow.fixes import operand_nodes
from promoarray.operations import OPERATIONS, Form

OTHER_NAMES = {
    "abs": {"absolute", "fabs"},
    "concat": {"concatenate", "hstack", "vstack"},
    "pow": {"power"},
    "divide": {"true_divide"},
    "remainder": {"mod"},
    "matmul": {"dot"},
    "vecdot": {"dot", "inner"},
    "max": {"amax"},
    "min": {"amin"},
    "clip": {"clamp"},
    "asin": {"arcsin"},
    "acos": {"arccos"},
    "atan": {"arctan"},
    "atan2": {"arctan2"},
    "cumulative_sum": {"cumsum"},
    "cumulative_prod": {"cumprod"},
    "bitwise_invert": {"invert"},
    "vector_norm": {"norm"},
    "matrix_norm": {"norm"},
}
"""From an operation to what functions and methods of it are called besides."""


class Extent(NamedTuple):
    """From where to where an expression goes; columns are in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


class Places:
    """A file's expressions.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._at: dict[tuple[int, ...], list[Any]] = {}
        self._calls: dict[tuple[int, ...], Any] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, (ast.expr, ast.AugAssign, ast.Assign)):
                self._at.setdefault(position_of(node), []).append(node)
            if isinstance(node, ast.Call):
                self._calls[position_of(node)[2:]] = node

    @cached_property
    def names(self) -> set[str]:
        """Every name in the file."""
        found = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        arguments = {node.arg for node in ast.walk(self.tree) if isinstance(node, ast.arg)}
        return found | arguments | self.modules

    @cached_property
    def modules(self) -> set[str]:
        """The names that the file imports."""
        return {
            (alias.asname or alias.name).partition(".")[0]
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }

    def extent(self, node: ast.AST) -> Extent:
        """Return where an expression stands, for libcst."""
        line, column, end_line, end_column = position_of(node)
        return Extent(
            line, self._characters(line, column), end_line, self._characters(end_line, end_column)
        )

    def _characters(self, line: int, column: int) -> int:
        return len(self._lines[line - 1].encode()[:column].decode(errors="replace"))

    def node(self, seen: Seen) -> Any:
        """Return the operation that was recorded, as the source has it; None if it is no such."""
        if not seen.edited:
            return None
        at = tuple(seen.span[1:5])
        found = [node for node in self._at.get(at, []) if _is(node, seen)]
        if not found and (call := self._calls.get(at[2:])) is not None and _is(call, seen):
            return call  # of a method on a line of its own, which begins there
        return found[0] if found else None

    def beginning(self, line: int, column: int) -> list[Any]:
        """Return the expressions that begin at a place, whose column is in bytes."""
        return [n for at, nodes in self._at.items() if at[:2] == (line, column) for n in nodes]

    def operands(self, node: Any, seen: Seen) -> list[Any]:
        """Return the operands as the source has them; fewer where they cannot be told apart."""
        match node:
            case ast.Subscript():
                parent = self.parents.get(node)
                if isinstance(parent, ast.Assign) and parent.targets == [node]:
                    return [node, parent.value]
                return []
            case ast.AugAssign():
                return [node.target, node.value]
            case ast.Assign():
                return [node.targets[0], node.value]
            case ast.Compare(left=left, comparators=comparators):
                return [left, *comparators][seen.span.part :][:2]
        return operand_nodes(node, {*self.modules, *seen.names, "xp"})

    def shared(self, node: Any, seen: Seen) -> set[int]:
        """Return the operands that another comparison has, too: ``b`` in ``a < b < c``."""
        if not isinstance(node, ast.Compare):
            return set()
        part, last = seen.span.part, len(node.ops) - 1
        return ({0} if part > 0 else set()) | ({1} if part < last else set())

    def in_debug_text(self, node: ast.AST) -> bool:
        """Whether the source of an expression is printed: ``f"{x / 2=}"``."""
        inner: ast.AST | None = node
        while inner is not None and not isinstance(inner, ast.stmt):
            outer = self.parents.get(inner)
            if isinstance(outer, ast.FormattedValue) and self._prints_source(outer):
                return True
            inner = outer
        return False

    def _prints_source(self, value: ast.FormattedValue) -> bool:
        segment = ast.get_source_segment(self.text, value.value) or ""
        joined = self.parents.get(value)
        if not isinstance(joined, ast.JoinedStr):
            return False
        before = joined.values[: joined.values.index(value)][-1:]
        told = before and isinstance(before[0], ast.Constant) and str(before[0].value)
        return bool(told and segment and told.rstrip().rstrip("=").rstrip().endswith(segment))


def position_of(node: Any) -> tuple[int, int, int, int]:
    """Return where a node of Python's own tree stands."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def cast_dtype(places: Places, node: ast.AST) -> str:
    """Return the dtype that an expression is cast to where it stands; "" if it is not cast."""
    outer: Any = places.parents.get(node)
    if isinstance(outer, ast.Attribute):
        outer = places.parents.get(outer)
    match outer:
        case ast.Call(func=ast.Attribute(value=value, attr="astype" | "to"), args=[dtype, *_]) if (
            value is node
        ):
            return _last_name(dtype)
    return ""


def _last_name(dtype: ast.expr) -> str:
    match dtype:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str(name)):
            return name.removesuffix("_")
    return ""


def _is(node: Any, seen: Seen) -> bool:
    """Whether a piece of source is the operation: a call of ``xp.var`` makes others, too."""
    name = seen.asked.name
    match node:
        case ast.Subscript():
            return name == SETITEM and seen.span.stores
        case ast.Assign(targets=[ast.Subscript()]):
            return name == SETITEM
        case ast.BinOp():
            return seen.asked.form is Form.OPERATOR and _symbol(node.op) == _symbol_of(name)
        case ast.AugAssign():
            return _symbol(node.op) == _symbol_of(name)
        case ast.Compare(ops=ops) if seen.span.part < len(ops):
            return _symbol(ops[seen.span.part]) == _symbol_of(name)
        case ast.UnaryOp():
            return _UNARY.get(type(node.op)) == name
        case ast.Call() if seen.framework:  # its calls are known by the tables of the recorder
            return name != DEFAULT_DTYPE or not any(word.arg == "dtype" for word in node.keywords)
        case ast.Call():
            return _calls(node, name)
    return False


def _calls(call: ast.Call, name: str) -> bool:
    called = called_name(call)
    if name == DEFAULT_DTYPE:
        return called in MAKERS and not any(word.arg == "dtype" for word in call.keywords)
    if name == ASTYPE:
        return called in ("astype", "asarray", "array")
    return called == name or called in OTHER_NAMES.get(name, ())


def called_name(call: ast.Call) -> str:
    """Return the last name of what is called."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


MAKERS = frozenset(
    ("arange", "array", "asarray", "empty", "eye", "full", "linspace", "logspace", "ones", "zeros")
)
"""The functions that take the dtype of what they make."""


_SYMBOLS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_UNARY: dict[type, str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "bitwise_invert"}


def _symbol(op: ast.AST) -> str:
    return _SYMBOLS.get(type(op), "")


def _symbol_of(name: str) -> str:
    return OPERATIONS[name].symbol if name in OPERATIONS else "?"
