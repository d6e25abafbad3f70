"""The expressions of a source file by where they stand, and the operands of each.

Python counts the columns of its positions in bytes of UTF-8; offsets into a text count characters.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

from promoarray.core.call_site import source_of
from promoarray.diagnostics.edits.occurrences import Occurrence
from promoarray.diagnostics.edits.operands import (
    MIRRORED,
    called_name,
    folded,
    given_to,
    is_operation,
    operator_of,
)
from promoarray.promotion.plan import Rank

Position = tuple[int, int, int, int]
"""Line, column, end line and end column; the columns in bytes."""

Extent = tuple[int, int]
"""The offsets of an expression's first character and behind its last."""


class SourceText:
    """The expressions of the text of a file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
        self._at: dict[Position, list[Any]] = {}
        self._calls: dict[tuple[int, ...], ast.Call] = {}  # by their ends
        self.parents: dict[Any, Any] = {}
        for node in ast.walk(self.tree):
            self.parents |= dict.fromkeys(ast.iter_child_nodes(node), node)
            if isinstance(node, (ast.expr, ast.stmt)):
                self._at.setdefault(position_of(node), []).append(node)
            if isinstance(node, ast.Call):
                self._calls[position_of(node)[2:]] = node

    def at(self, position: Position) -> list[Any]:
        """Return the expressions and statements of some extent."""
        return self._at.get(position, [])

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

    def imports(self, package: str) -> bool:
        """Whether the file imports a package, or from it."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] == package for name in names):
                return True
        return False

    # -- where ------------------------------------------------------------------------------------

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place whose column is in bytes."""
        start = self._starts[line - 1]
        if self.text.isascii():
            return start + column
        return start + len(
            self.text[start : start + column].encode()[:column].decode("utf-8", "replace")
        )

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line of an offset, and its column in bytes."""
        line = bisect_right(self._starts, offset)
        return line, len(self.text[self._starts[line - 1] : offset].encode())

    def extent(self, node: Any) -> Extent:
        """Return where an expression stands."""
        line, column, end_line, end_column = position_of(node)
        return self.offset(line, column), self.offset(end_line, end_column)

    def quoted(self, node: Any) -> str:
        """Return the text of an expression, as it stands there."""
        start, end = self.extent(node)
        return self.text[start:end]

    def in_parentheses(self, extent: Extent) -> Extent | None:
        """Return an expression's extent with parentheses directly around it; None without."""
        start, end = extent
        if self.text[start - 1 : start] != "(" or self.text[end : end + 1] != ")":
            return None
        before = self.text[: start - 1].rstrip(" \t")[-1:]
        if before.isidentifier() or before.isdigit() or before in tuple(")]\"'}"):
            return None  # of a call, or behind a word
        return start - 1, end + 1

    def statement(self, node: ast.AST) -> Any:
        """Return the statement that an expression is a part of."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    # -- what -------------------------------------------------------------------------------------

    def node(self, seen: Occurrence) -> Any:
        """Return the operation that was recorded, as the source has it; None if it is no such."""
        position = seen.span[1:5]
        call = self._calls.get(position[2:])
        if not seen.edited:
            name = seen.asked.name
            known = call and (folded(call, name) or operator_of(call.func) == name)
            return call if known else None
        # A method on a line of its own begins there.
        every = [*self.at(position), *([call] if call else ())]
        return next((node for node in every if is_operation(node, seen)), None)

    def call(self, seen: Occurrence) -> Any:
        """Return the call at the place of an operation; None if the source has none there."""
        return next((n for n in self.at(seen.span[1:5]) if isinstance(n, ast.Call)), None)

    def beginning(self, line: int, column: int) -> list[Any]:
        """Return the expressions that begin at a place, whose column is in bytes."""
        return [n for at, nodes in self._at.items() if at[:2] == (line, column) for n in nodes]

    def operands(self, node: Any, seen: Occurrence) -> list[Any]:
        """Return the operands as the source has them; fewer where they cannot be told apart."""
        match node:
            case ast.AugAssign():
                return [node.target, node.value]
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.UnaryOp(operand=operand):
                return [operand]
            case ast.Compare(left=left, comparators=comparators):
                pair = [left, *comparators][seen.span.part :][:2]
                op = node.ops[seen.span.part]
                return self._in_order(pair, op, seen) if len(node.ops) == 1 else pair
            case ast.Call() if elements := folded(node, seen.asked.name):
                return elements
            case ast.Call():
                return given_to(node, {*self.modules, *seen.names, "xp"})
        return []

    def _in_order(self, pair: list[Any], op: ast.cmpop, seen: Occurrence) -> list[Any]:
        """The operands of a comparison in the operation's order; none where it is not known.

        Where a Python number stands on the left, Python asks the array on the right for the
        mirrored comparison: ``300 > a`` is ``less(a, 300)``.
        """
        if not isinstance(op, (ast.Eq, ast.NotEq)):
            return pair[::-1] if MIRRORED.get(type(op)) == seen.asked.name else pair
        if not any(operand.rank is Rank.SCALAR for operand in seen.asked.operands):
            return pair
        left, right = map(self.may_be_number, pair)
        if left is right:
            return []
        return pair[::-1] if left else pair

    def shared(self, node: Any, seen: Occurrence) -> set[int]:
        """Return the operands that another comparison has, too: ``b`` in ``a < b < c``."""
        if not isinstance(node, ast.Compare):
            return set()
        part, last = seen.span.part, len(node.ops) - 1
        return ({0} if part > 0 else set()) | ({1} if part < last else set())

    def in_debug_text(self, node: ast.AST) -> bool:
        """Whether the source of an expression is printed: ``f"{x / 2=}"``."""
        while not isinstance(node, ast.stmt):
            node, inner = self.parents[node], node
            if isinstance(node, ast.FormattedValue) and node.value is inner:
                behind = self.text[self.extent(inner)[1] :].lstrip(" )")
                if behind.startswith("="):
                    return True
        return False

    # -- scopes -----------------------------------------------------------------------------------

    def scope(self, node: ast.AST) -> Any:
        """Return the function, class or module whose names an expression uses."""
        while not isinstance(node, _SCOPES):
            node = self.parents[node]
        return node

    def names_of(self, module: str, node: ast.AST, known: Sequence[str]) -> list[str]:
        """Return the names of a module at an expression: those of its function's own imports first,
        then those that are known, then the file's."""
        scope = self.scope(node)
        if isinstance(scope, ast.Module):
            return [*known, *self._imported(scope, module)]
        hidden, own = set(), []
        for each in ast.walk(scope):
            match each:
                case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    hidden.add(name)
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(func=ast.Attribute(attr="__array_namespace__")),
                ) if module == "promoarray":
                    own.append(name)
        outer = [name for name in self._imported(self.tree, module) if name not in hidden]
        return [*self._imported(scope, module), *own, *known, *outer]

    def _imported(self, scope: ast.AST, module: str) -> list[str]:
        """The names by which a function, or the file, imports a module."""
        imports = [n for n in ast.walk(scope) if isinstance(n, ast.Import)]
        every = [alias for n in imports if self.scope(n) is scope for alias in n.names]
        names = [alias.asname or alias.name for alias in every if alias.name == module]
        for each in ast.walk(scope):
            match each:
                case ast.Assign(
                    targets=[ast.Name(id=name)],
                    value=ast.Call(
                        func=ast.Attribute(attr="import_module") | ast.Name(id="import_module"),
                        args=[ast.Constant(value=asked)],
                    ),
                ) if asked == module and self.scope(each) is scope:
                    names.append(name)
        return [name for name in names if name.isidentifier()]

    def bindings(self, name: ast.Name) -> list[ast.AST]:
        """Return where a name of an expression's scope is given, arguments among them.

        What was given before the last statement that always gives it does not count.
        """
        scope = self.scope(name)
        found = [
            node
            for node in ast.walk(scope)
            if (isinstance(node, ast.arg) and node.arg == name.id)
            or (
                isinstance(node, ast.Name)
                and node.id == name.id
                and not isinstance(node.ctx, ast.Load)
            )
            if self.scope(node) is scope
        ]
        lines = [
            node.lineno
            for node in found
            if isinstance(node, ast.Name) and self.statement(node) in getattr(scope, "body", ())
            if node.lineno < name.lineno and isinstance(self.statement(node), ast.Assign)
        ]
        return [node for node in found if node.lineno >= max(lines, default=0)]

    def may_be_number(self, node: ast.AST, known: frozenset[str] = frozenset()) -> bool:
        """Whether the file gives a Python number to an expression, in some pass of it."""
        match node:
            case ast.Constant(value=bool() | int() | float() | complex()):
                return True
            case ast.UnaryOp(operand=inner):
                return self.may_be_number(inner, known)
            case ast.BinOp(left=a, right=b) | ast.Compare(left=a, comparators=[b]):
                if (together := self._given_together(a, b)) is not None:
                    return any(all(self.may_be_number(x) for x in pair) for pair in together)
                return self.may_be_number(a, known) and self.may_be_number(b, known)
            case ast.IfExp(body=a, orelse=b):
                return self.may_be_number(a, known) or self.may_be_number(b, known)
            case ast.Call(func=ast.Name(id="int" | "float" | "bool" | "len" | "round")):
                return True
            case ast.Name(id=name) if name not in known:
                every = (v for b in self.bindings(node) for v in self._given(b))
                return any(self.may_be_number(v, known | {name}) for v in every)
        return False

    def _given_together(self, a: ast.AST, b: ast.AST) -> list[tuple[ast.AST, ...]] | None:
        """What two arguments of one function are given, for each call of it.

        None if they are no such arguments, or are given otherwise, too.
        """
        if not isinstance(a, ast.Name) or not isinstance(b, ast.Name):
            return None
        bound, function = [*self.bindings(a), *self.bindings(b)], self.scope(a)
        if len(bound) != 2 or not all(isinstance(each, ast.arg) for each in bound):
            return None
        columns = [[*self._given(each)] for each in bound]
        once = all(len(each) == len(self._calls_of(function)) for each in columns)
        return [*zip(*columns, strict=True)] if once else None

    def _given(self, binding: ast.AST) -> Iterator[ast.AST]:
        """What a name is given where it is bound: values, and what functions are called with."""
        parent = self.parents[binding]
        match parent, self.parents.get(parent):
            case ast.Assign(value=value), _:
                yield value
            case ast.Tuple(elts=to), ast.Assign(value=ast.Tuple(elts=values)):
                if len(to) == len(values):
                    yield from (x for x, name in zip(values, to, strict=True) if name is binding)
            case ast.arguments(defaults=defaults), function if isinstance(binding, ast.arg):
                positional = [*parent.posonlyargs, *parent.args]
                at = positional.index(binding) if binding in positional else -1
                if at >= 0 and (default := at - len(positional) + len(defaults)) >= 0:
                    yield defaults[default]
                at -= bool(positional) and positional[0].arg in ("self", "cls")
                for call in self._calls_of(function):
                    yield from (word.value for word in call.keywords if word.arg == binding.arg)
                    yield from call.args[at : at + 1] if at >= 0 else ()
                if self._is_vectorized(function):
                    yield ast.Constant(0)

    def _is_vectorized(self, function: Any) -> bool:
        """Whether a function is given to ``np.vectorize`` or the like, which call it with elements
        of object arrays: Python numbers, but for the first call."""
        name = getattr(function, "name", "")
        takers = [call for call in self._calls.values() if called_name(call) in _VECTORIZE]
        given = [x for call in takers for x in call.args[:1]]
        decorators = [ast.unparse(each) for each in getattr(function, "decorator_list", ())]
        return any(x is function or (isinstance(x, ast.Name) and x.id == name) for x in given) or (
            any(each.rpartition(".")[2] in _VECTORIZE for each in decorators)
        )

    def _calls_of(self, function: Any) -> list[ast.Call]:
        name = getattr(function, "name", None)
        return [call for call in self._calls.values() if called_name(call) == name]


def read(file: str) -> SourceText | None:
    """Read the text of a file, as it was when the program began; None if that is no Python."""
    return _parsed(source_of(file))


@lru_cache(maxsize=8)
def _parsed(text: str) -> SourceText | None:
    try:
        return SourceText(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_VECTORIZE = frozenset({"vectorize", "frompyfunc"})
_LINE_END = re.compile(r"\r\n|\r|\n")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module, ast.ClassDef)


def position_of(node: Any) -> Position:
    """Return where a node of Python's own tree stands."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def cast_dtype(source: SourceText, node: ast.AST) -> str:
    """Return the dtype that an expression is cast to where it stands; "" if it is not cast."""
    outer: Any = source.parents.get(node)
    if isinstance(outer, ast.Attribute):
        outer = source.parents.get(outer)
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
