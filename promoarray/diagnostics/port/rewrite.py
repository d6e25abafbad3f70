"""Writing casts into a source text with libcst, which keeps all else as it is."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from promoarray.diagnostics.port.edits import Wrap
from promoarray.diagnostics.port.places import Extent, Places, position_of

NEW_NAMES = ("pa", "promoarray", "promoarray_")
"""By what name promoarray is imported where a file has none."""


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


def rewritten(text: str, wraps: Sequence[Wrap], names: set[str]) -> Rewritten:
    """Return a source text with casts.

    Parameters
    ----------
    text : str
    wraps : sequence of Wrap
    names : set of str
        The names of the file, none of which is given to promoarray where it has to be imported.

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
    new = next((name for name in NEW_NAMES if name not in names), "")
    by_extent: dict[Extent, list[Wrap]] = {}
    for wrap in dict.fromkeys(wraps):
        by_extent.setdefault(wrap.extent, []).append(wrap._replace(name=wrap.name or new))
    writer = _Writer(text, by_extent)
    module = wrapper.visit(writer)
    if writer.by_extent:
        raise Unkept(f"no expression stands at {next(iter(writer.by_extent))}")
    if not all(wrap.name for wrap in wraps):
        module = _importing(module, new)
    written: str = module.code
    same = _Same(text, wraps)
    try:
        same.compare(written, imports=not all(wrap.name for wrap in wraps))
    except (SyntaxError, ValueError, AttributeError, IndexError, StopIteration) as error:
        raise Unkept(f"the edited text is another program: {error}") from error
    return Rewritten(written, same.found)


class _Writer(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, text: str, by_extent: dict[Extent, list[Wrap]]) -> None:
        super().__init__()
        self.by_extent = by_extent
        self._lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Write the casts of an expression around it."""
        updated: Any = super().on_leave(original_node, updated_node)
        if not isinstance(original_node, cst.BaseExpression) or not self.by_extent:
            return updated
        position: Any = self.get_metadata(PositionProvider, original_node)
        start, end = position.start, position.end
        wraps = self.by_extent.get(Extent(start.line, start.column, end.line, end.column))
        if wraps is None or (
            any(w.how == "dtype" for w in wraps) and not isinstance(updated, cst.Call)
        ):
            return updated
        del self.by_extent[Extent(start.line, start.column, end.line, end.column)]
        whole = updated
        for wrap in sorted(wraps, key=lambda wrap: (wrap.how != "dtype", wrap.outer)):
            updated = _asking(updated, wrap) if wrap.how == "dtype" else _around(updated, wrap)
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


def _around(node: Any, wrap: Wrap) -> Any:
    """A cast around an expression, which needs no parentheses of its own any more."""
    inner = _bare(node)
    target = _dtype(wrap, inner)
    if wrap.how == "astype":
        text = f"{wrap.name}.astype(_, {target})"
    elif wrap.how in ("asarray", "row"):
        text = f"{wrap.name}.asarray(_, dtype={target})"
        text = text if wrap.how == "asarray" else text.replace("_", "[_]", 1)
        number = {"True": "1", "False": "0"}.get(getattr(inner, "value", ""))
        inner = cst.Integer(number) if number else inner  # which not every dtype takes
    else:
        text = f"{wrap.name}.astype({wrap.name}.asarray(_), {target})"
    call: Any = cst.parse_expression(text)
    return call.deep_replace(_placeholder(call), inner)


def _placeholder(call: Any) -> Any:
    inner = call
    while not isinstance(inner, cst.Name):
        inner = inner.args[0].value if isinstance(inner, cst.Call) else inner.elements[0].value
    return inner


def _dtype(wrap: Wrap, inner: Any) -> str:
    target = f"{wrap.name}.{wrap.dtype.name}"
    if not wrap.only:
        return target
    own = cst.Module([]).code_for_node(inner)
    target = f"{own}.dtype"
    for source, dtype in wrap.only:
        name = wrap.name
        target = f"{name}.{dtype.name} if {own}.dtype == {name}.{source.name} else {target}"
    return target


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


def _asking(call: Any, wrap: Wrap) -> Any:
    """A call that asks for a dtype."""
    word = cst.Arg(
        keyword=cst.Name("dtype"),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        value=cst.parse_expression(f"{wrap.name}.{wrap.dtype.name}"),
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


def _importing(module: Any, name: str) -> Any:
    """A module that imports promoarray, after its docstring and what it imports from the future."""
    alias = "" if name == "promoarray" else f" as {name}"
    line = cst.parse_statement(f"import promoarray{alias}\n")
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

    def __init__(self, before: str, wraps: Sequence[Wrap]) -> None:
        self._places = Places(before)
        self._layers: dict[Extent, int] = {}
        self._asked: set[Extent] = set()
        self._rows = {wrap.extent for wrap in wraps if wrap.how == "row"}
        for wrap in dict.fromkeys(wraps):
            if wrap.how == "dtype":
                self._asked.add(wrap.extent)
            else:
                layers = 2 if wrap.how == "wrapped" else 1
                self._layers[wrap.extent] = self._layers.get(wrap.extent, 0) + layers
        self.found: dict[Position, Position] = {}

    def compare(self, after: str, *, imports: bool) -> None:
        new = ast.parse(after)
        if imports:
            new.body.remove(next(n for n in new.body if isinstance(n, ast.Import) and _is_ours(n)))
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
            extent = self._places.extent(old)
            layers = self._layers.get(extent, 0) if isinstance(old, ast.expr) else 0
            for _ in range(layers):
                new = new.args[0]
                new = new.elts[0] if extent in self._rows else new
            asked = extent in self._asked and isinstance(old, ast.Call)
            self.found[position_of(new)] = position_of(old)
            if layers and isinstance(old, ast.Constant) and isinstance(old.value, bool):
                return  # True is written as 1
        if type(old) is not type(new):
            raise Unkept(f"the edited text is another program at line {getattr(new, 'lineno', 0)}")
        for name in old._fields:
            a, b = getattr(old, name, None), getattr(new, name, None)
            self._pair(a, b[:-1] if asked and b and name == "keywords" else b)


def _is_ours(node: ast.Import) -> bool:
    return [alias.name for alias in node.names] == ["promoarray"]


Position = tuple[int, ...]
"""Line, column, end line and end column; the columns in bytes."""
