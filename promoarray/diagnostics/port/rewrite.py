"""Writing casts into a source text with libcst, which keeps all else as it is."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider

from promoarray.diagnostics.port.edits import Wrap
from promoarray.diagnostics.port.places import Extent, Places, position_of
from promoarray.diagnostics.shadow.spellings import OWN, Spelling
from promoarray.dtypes import DType

NEW_NAMES = ("pa", "promoarray", "promoarray_")
"""By what name promoarray is imported where a file has none."""

_HOLE = "__cast__"
"""Stands in a cast where the expression comes that is cast."""


class Unkept(Exception):
    """libcst cannot write a file as it was."""


class Rewritten(NamedTuple):
    """A source text with casts.

    Attributes
    ----------
    text : str
    origins : dict
        From where each expression stands to where it stood.
    """

    text: str
    origins: dict[Position, Position]


def rewritten(
    text: str, wraps: Sequence[Wrap], names: set[str], words: Spelling = OWN
) -> Rewritten:
    """Return a source text with casts.

    Parameters
    ----------
    text : str
    wraps : sequence of Wrap
    names : set of str
        The names of the file, none of which is given to promoarray where it has to be imported.
    words : Spelling
        Those of the framework that the program is written for.

    Raises
    ------
    Unkept
        If libcst does not give the text back as it is, or what it writes is not the same program
        but for the casts.
    """
    try:
        wrapper = MetadataWrapper(cst.parse_module(text))
    except cst.ParserSyntaxError as error:
        raise Unkept(f"libcst cannot read it: {error.message}") from error
    if wrapper.module.code != text:
        raise Unkept("libcst does not keep its form feeds or line ends")
    candidates = NEW_NAMES if words is OWN else (words.namespace, f"{words.namespace}_")
    new = next((name for name in candidates if name not in names), "")
    by_extent: dict[Extent, list[Wrap]] = {}
    for wrap in dict.fromkeys(wraps):
        by_extent.setdefault(wrap.extent, []).append(wrap._replace(name=wrap.name or new))
    writer = _Writer(text, by_extent, words)
    module = wrapper.visit(writer)
    if writer.by_extent:
        raise Unkept(f"no expression stands at {next(iter(writer.by_extent))}")
    if not all(wrap.name for wrap in wraps):
        module = _importing(module, words.module, new)
    written: str = module.code
    same = _Same(text, wraps, words)
    imported = "" if all(wrap.name for wrap in wraps) else new
    try:
        same.compare(written, imported)
    except (SyntaxError, ValueError, AttributeError, IndexError, StopIteration) as error:
        raise Unkept(f"the edited text is another program: {error}") from error
    return Rewritten(written, same.found)


class _Writer(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, text: str, by_extent: dict[Extent, list[Wrap]], words: Spelling) -> None:
        super().__init__()
        self.by_extent, self._words = by_extent, words
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Write the casts of an expression around it."""
        updated: Any = super().on_leave(original_node, updated_node)
        kinds = cst.BaseExpression, cst.AugAssign
        if not isinstance(original_node, kinds) or not self.by_extent:
            return updated
        position: Any = self.get_metadata(PositionProvider, original_node)
        start, end = position.start, position.end
        wraps = self.by_extent.get(Extent(start.line, start.column, end.line, end.column))
        if wraps is None or (
            any(w.how == "dtype" for w in wraps) and not isinstance(updated, cst.Call)
        ):
            return updated
        del self.by_extent[Extent(start.line, start.column, end.line, end.column)]
        if isinstance(updated, cst.AugAssign):
            return _rebound(updated, wraps, self._words)
        whole = updated
        for wrap in _in_order(wraps):
            asks = wrap.how == "dtype"
            updated = (_asking if asks else _around)(updated, wrap, self._words)
        if updated.lpar or not self._after_word(start, whole):
            return updated
        return updated.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])

    def _after_word(self, start: Any, node: Any) -> bool:
        """Whether a word stands directly before an expression: ``return-x``, ``return(x)``."""
        before = self._lines[start.line - 1][: start.column]
        for _ in node.lpar:
            before = before.removesuffix("(")
        last: str = before[-1:]
        return last.isidentifier() or last.isdigit()


def _in_order(wraps: Sequence[Wrap]) -> list[Wrap]:
    """The casts of one expression, the innermost first."""
    return sorted(dict.fromkeys(wraps), key=lambda wrap: (wrap.how != "dtype", wrap.outer))


def _around(node: Any, wrap: Wrap, words: Spelling) -> Any:
    """A cast around an expression, which needs no parentheses of its own any more."""
    inner = _bare(node)
    hole: ast.expr = ast.Name(_HOLE, ast.Load())
    if wrap.how in ("asarray", "row"):
        made = ast.List([hole], ast.Load()) if wrap.how == "row" else hole
        written = words.array_of(made, wrap.dtype, wrap.name)
        number = {"True": "1", "False": "0"}.get(getattr(inner, "value", ""))
        inner = cst.Integer(number) if number else inner  # which not every dtype takes
    elif wrap.how == "wrapped":
        written = words.cast_of(words.number_of(hole, wrap.name), wrap.dtype, wrap.name)
    else:
        written = words.cast_of(hole, _dtype(wrap, inner, words), wrap.name)
        inner = _object(node) if words.casts_by_method else inner
    call: Any = cst.parse_expression(ast.unparse(written))
    (placeholder,) = m.findall(call, m.Name(_HOLE))
    return call.deep_replace(placeholder, inner)


def _dtype(wrap: Wrap, inner: Any, words: Spelling) -> DType | ast.expr:
    if not wrap.only:
        return wrap.dtype
    own = ast.parse(cst.Module([]).code_for_node(inner), mode="eval").body
    held = ast.Attribute(own, "dtype", ast.Load())
    target: ast.expr = held
    for source, dtype in wrap.only:
        at, to = (words.dtype_of(each, wrap.name) for each in (source, dtype))
        target = ast.IfExp(ast.Compare(held, [ast.Eq()], [at]), to, target)
    return target


def _object(node: Any) -> Any:
    """An expression as it stands before the dot of a method: in parentheses, if it needs some."""
    bare = _bare(node)
    if isinstance(bare, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        inner = bare.with_changes(lpar=[], rpar=[])  # which may go over several lines
        folded = node.lpar and "\n" in cst.Module([]).code_for_node(inner)
        return node if folded else bare
    if node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _rebound(statement: Any, wraps: list[Wrap], words: Spelling) -> Any:
    """``x = cast(x - y)`` for ``x -= y``, of which no operand has the dtype to keep."""
    left, value = statement.target, statement.value
    for wrap in wraps:
        left = _around(left, wrap, words) if wrap.how == "target" else left
    if not _binds_closer(value, statement.operator):
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    operator = getattr(cst, type(statement.operator).__name__.removesuffix("Assign"))()
    made: Any = cst.BinaryOperation(left, operator, value)
    for wrap in wraps:
        made = _around(made, wrap, words) if wrap.how == "result" else made
    return cst.Assign([cst.AssignTarget(statement.target)], made)


_CLOSER = cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.MatrixMultiply, cst.Power


def _binds_closer(value: Any, operator: Any) -> bool:
    """Whether what stands right of ``-=`` needs no parentheses right of ``-``."""
    if value.lpar or isinstance(
        value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float)
    ):
        return True
    sums = isinstance(operator, (cst.AddAssign, cst.SubtractAssign))
    return sums and isinstance(value, cst.BinaryOperation) and isinstance(value.operator, _CLOSER)


def _bare(node: Any) -> Any:
    """An expression without its parentheses, but where it or a comment needs them."""
    if isinstance(node, (cst.Yield, cst.NamedExpr, cst.GeneratorExp, cst.Tuple)):
        return node
    spaces = (
        *(p.whitespace_after for p in node.lpar),
        *(p.whitespace_before for p in node.rpar),
    )
    if not all(isinstance(each, cst.SimpleWhitespace) and not each.value for each in spaces):
        return node
    return node.with_changes(lpar=[], rpar=[])


def _asking(call: Any, wrap: Wrap, words: Spelling) -> Any:
    """A call that asks for a dtype."""
    dtype = ast.unparse(words.dtype_of(wrap.dtype, wrap.name))
    word = cst.Arg(
        keyword=cst.Name("dtype"),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        value=cst.parse_expression(dtype),
    )
    args = list(call.args)
    if not args:
        return call.with_changes(args=[word])
    last = args[-1]
    if isinstance(last.comma, cst.Comma):  # f(x,): the new one ends as the last one did
        word = word.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
        between = args[-2].comma if args[1:] else cst.MaybeSentinel.DEFAULT
        last = last.with_changes(comma=between)
    else:
        word = word.with_changes(whitespace_after_arg=last.whitespace_after_arg)
        between = args[-2].comma if args[1:] else cst.MaybeSentinel.DEFAULT
        empty = cst.SimpleWhitespace("")
        last = last.with_changes(comma=between, whitespace_after_arg=empty)
    return call.with_changes(args=[*args[:-1], last, word])


def _importing(module: Any, imported: str, name: str) -> Any:
    """A module with an import, after its docstring and what it imports from the future."""
    alias = "" if name == imported else f" as {name}"
    line = cst.parse_statement(f"import {imported}{alias}\n")
    body, at = list(module.body), 0
    while at < len(body) and _comes_first(body[at], at):
        at += 1
    return module.with_changes(body=[*body[:at], line, *body[at:]])


def _comes_first(statement: Any, at: int) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    small = statement.body[0]
    if isinstance(small, cst.Expr):
        return at == 0 and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))
    return isinstance(small, cst.ImportFrom) and getattr(small.module, "value", "") == "__future__"


# -- the same program -----------------------------------------------------------------------------


class _Same:
    """Compares a program with what was made of it, and pairs their expressions."""

    def __init__(self, before: str, wraps: Sequence[Wrap], words: Spelling) -> None:
        self._places, self._words = Places(before), words
        self._wraps: dict[Extent, list[Wrap]] = {}
        for wrap in dict.fromkeys(wraps):
            self._wraps.setdefault(wrap.extent, []).append(wrap)
        self.found: dict[Position, Position] = {}

    def compare(self, after: str, imported: str) -> None:
        new = ast.parse(after)
        if imported:
            module = self._words.module
            new.body.remove(next(n for n in new.body if _imports(n, module, imported)))
        self._pair(self._places.tree, new)

    def _pair(self, old: Any, new: Any) -> None:
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            for a, b in zip(old, new, strict=True):
                self._pair(a, b)
            return
        if not isinstance(old, ast.AST):
            if type(old) is not type(new) or old != new:
                raise Unkept(f"the edited text is another program: {new!r} instead of {old!r}")
            return
        asked = False
        if isinstance(old, (ast.expr, ast.AugAssign)) and hasattr(old, "lineno"):
            wraps = self._wraps.get(self._places.extent(old), [])
            if wraps and isinstance(old, ast.AugAssign):
                return self._pair_rebound(old, new, wraps)
            new = self._inside(new, wraps)
            asked = any(wrap.how == "dtype" for wrap in wraps)
            self.found[position_of(new)] = position_of(old)
            layers = any(wrap.how != "dtype" for wrap in wraps)
            if layers and isinstance(old, ast.Constant) and isinstance(old.value, bool):
                return  # True is written as 1
        if type(old) is not type(new):
            raise Unkept(f"the edited text is another program at line {getattr(new, 'lineno', 0)}")
        for name in old._fields:
            a, b = getattr(old, name, None), getattr(new, name, None)
            self._pair(a, b[:-1] if asked and b and name == "keywords" else b)

    def _inside(self, new: Any, wraps: list[Wrap]) -> Any:
        """What is cast, without its casts."""
        for wrap in reversed(_in_order(wraps)):
            if wrap.how == "dtype":
                continue
            if wrap.how not in ("asarray", "row"):
                new = new.func.value if self._words.casts_by_method else new.args[0]
            if wrap.how in ("asarray", "row", "wrapped"):
                new = new.args[0]
            new = new.elts[0] if wrap.how == "row" else new
        return new

    def _pair_rebound(self, old: ast.AugAssign, new: ast.Assign, wraps: list[Wrap]) -> None:
        (target,) = new.targets
        made = self._inside(new.value, [wrap for wrap in wraps if wrap.how == "result"])
        self.found[position_of(made)] = position_of(old)
        left = self._inside(made.left, [wrap for wrap in wraps if wrap.how == "target"])
        if not ast.unparse(old.target) == ast.unparse(target) == ast.unparse(left):
            raise Unkept(f"the edited text is another program at line {new.lineno}")
        self._pair(old.op, made.op)
        self._pair(old.value, made.right)


def _imports(node: ast.AST, module: str, name: str) -> bool:
    return isinstance(node, ast.Import) and [
        (alias.name, alias.asname or alias.name) for alias in node.names
    ] == [(module, name)]


Position = tuple[int, ...]
"""Line, column, end line and end column; the columns in bytes."""
