"""Writing casts into a source text: pieces put in at the ends of expressions, all else as it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from promoarray.diagnostics.edits.operands import called_name, symbol_of
from promoarray.diagnostics.edits.place import OWN, Spelling, Wrap
from promoarray.diagnostics.edits.source import Extent, Position, SourceText, position_of


class Piece(NamedTuple):
    """A text in the place of another; of one that is put in, ``start`` is ``end``."""

    start: int
    end: int
    text: str
    wrapped: Extent  # the extent of what is cast
    opens: bool = False  # whether it stands before that

    @property
    def order(self) -> tuple[int, ...]:
        """Inner casts end first, and outer ones begin first."""
        start, end = self.wrapped
        return (
            (self.start, 1, -end)
            if self.opens
            else (self.start, 2 * (self.start < self.end), -start)
        )


class Writer:
    """Makes pieces of casts, in the words of the framework that the program is written for."""

    def __init__(self, source: SourceText, words: Spelling = OWN) -> None:
        self.source, self.words = source, words
        self.replaced: set[Extent] = set()

    def pieces(self, wraps: Iterable[Wrap]) -> list[Piece]:
        """Return what is to be put in, in the order of the text."""
        by_node: dict[Any, list[Wrap]] = {}
        for wrap in dict.fromkeys(wraps):
            by_node.setdefault(wrap.node, []).append(wrap)
        found: list[Piece] = []
        for node, several in by_node.items():
            if isinstance(node, ast.AugAssign):
                found += self._rebound(several, by_node)
                continue
            around = []
            for wrap in sorted(several, key=lambda wrap: wrap.operand is not None):
                if inside := _INSIDE.get("dtype" if "dtype" in wrap.how else wrap.how):
                    found += inside(self, wrap)
                else:
                    around.append(wrap)
            found += self._around(around) if around else ()
        return sorted(found, key=lambda piece: piece.order)

    def imported(self, wraps: Iterable[Wrap]) -> list[Piece]:
        """Return the import of the namespace, if the file has no name for it."""
        new = next((wrap.name for wrap in wraps if wrap.name not in self.source.names), "")
        if not new:
            return []
        module, text = self.words.module, self.source.text
        start = self.source.offset(import_line(self.source.tree.body), 0)
        line_end = "\r\n" if "\r\n" in text else "\n"
        written = f"import {module}{'' if new == module else f' as {new}'}{line_end}"
        return [Piece(start, start, written, (start, len(text) + 1), True)]

    def _dtype(self, wrap: Wrap) -> str:
        # NumPy's arrays and scalars, which may stand there, know no dtype of such a framework.
        cast = self.words.quotes and wrap.how in ("astype", "guarded") and wrap.operand is not None
        if cast and not wrap.text and self.source.imports("numpy"):
            return f'"{wrap.dtype.name}"'
        return wrap.text or self.words.dtype_of(wrap.dtype, wrap.name)

    def _parts(self, wrap: Wrap) -> list[str]:
        """The text of a cast before, between and behind the expressions that it has in it."""
        template = self.words.template(wrap.how)
        return template.format(ns=wrap.name, dtype=self._dtype(wrap), x="\0").split("\0")

    def _replaced(self, extent: Extent, text: str) -> Piece:
        """Another text in the place of an expression."""
        self.replaced.add(extent)
        return Piece(*extent, text, extent)

    # -- around an expression ---------------------------------------------------------------------

    def _around(self, wraps: Sequence[Wrap]) -> Iterator[Piece]:
        node = wraps[0].node
        (start, end), text = self.source.extent(node), self.source.quoted(node)
        outer = self.source.in_parentheses((start, end))
        a, b = outer or (start, end)
        parts = [self._parts(wrap) for wrap in wraps]
        if len(parts[0]) > 2:
            yield self._replaced((a, b), text.join(parts[0]))
            return
        before = "".join(part[0] for part in reversed(parts))
        after = "".join(part[1] for part in parts)
        if parts[0][0]:
            brackets = outer is not None and isinstance(node, _KEEPS)
        else:  # a method of it is called
            brackets = not isinstance(node, _POSTFIX) or (outer is not None and "\n" in text)
        if brackets and outer:
            start, end = a, b
        elif brackets:
            before, after = f"{before}(", f"){after}"
        last = self.source.text[a - 1 : a]
        if before[:1].isidentifier() and (last.isidentifier() or last.isdigit()):
            yield Piece(a, a, " ", (a, len(self.source.text)), True)  # as of ``return-x``
        yield Piece(a, start, before, (a, b), True)
        if isinstance(node, ast.Constant) and type(node.value) is bool and wraps[0].how in MADE:
            yield self._replaced((start, end), str(int(node.value)))
        yield Piece(end, b, after, (a, b))

    # -- inside of an expression ------------------------------------------------------------------

    def _asks(self, wrap: Wrap) -> Iterator[Piece]:
        """``f(x, dtype=...)``, or another keyword."""
        yield self._argument(wrap.node, f"{wrap.how}={self._dtype(wrap)}")

    def _start(self, wrap: Wrap) -> Iterator[Piece]:
        """``sum(x, np.int64(0))`` for ``sum(x)``."""
        call = wrap.node
        first, *given = call.args
        start = self.source.quoted(given[0]) if given else "0"
        number = f"{self._dtype(wrap)}({start})"
        within, whole = self.source.extent(first), self.source.extent(call)
        if given:
            yield self._replaced(self.source.extent(given[0]), number)
        elif isinstance(first, ast.GeneratorExp) and within[1] == whole[1]:  # in the call's own ()
            yield Piece(within[0], within[0], "(", within, True)
            yield Piece(within[1], within[1], f", {number})", within)
        else:
            yield self._argument(call, number)

    def _argument(self, call: ast.Call, text: str) -> Piece:
        """A last argument of a call."""
        extent = self.source.extent(call)
        given = [*call.args, *(word.value for word in call.keywords)]
        at = max((self.source.extent(each)[1] for each in given), default=extent[1] - 1)
        while given and (outer := self.source.text.find(")", at, extent[1] - 1)) >= 0:
            if self.source.text[at:outer].strip():
                break
            at = outer + 1
        return Piece(at, at, f"{', ' if given else ''}{text}", extent)

    def _retyped(self, wrap: Wrap) -> Iterator[Piece]:
        """Another dtype where one is named; ``node`` is that."""
        yield self._replaced(self.source.extent(wrap.node), self._dtype(wrap))

    def _literal(self, wrap: Wrap) -> Iterator[Piece]:
        """``2.0`` for ``2``."""
        yield self._replaced(self.source.extent(wrap.node), f"{self.source.quoted(wrap.node)}.0")

    def _stored(self, wrap: Wrap) -> Iterator[Piece]:
        """``np.array([-1]).astype(np.uint8)``, and ``np.asarray(-1).astype(np.uint8)[()]``."""
        call, extent = wrap.node, self.source.extent(wrap.node)
        dtype = dtype_argument(call)
        if dtype is None:
            yield self._replaced(self.source.extent(call.func), f"{wrap.name}.asarray")
            named, item = call.func, "[()]"
        else:
            named, item = dtype.value if isinstance(dtype, ast.keyword) else dtype, ""
            given = sorted(map(self.source.extent, (*call.args, *call.keywords)))
            at = given.index(self.source.extent(dtype))
            start, end = given[at]
            self.replaced.add((start, end))
            if at:
                start = self.source.text.index(",", given[at - 1][1])
            else:
                end = given[1][0]
            yield Piece(start, end, "", extent)
        after = f".astype({self.source.quoted(named)}){item}"
        yield Piece(extent[1], extent[1], after, extent)

    def _operator(self, wrap: Wrap) -> Iterator[Piece]:
        """``(a & b)`` for ``a * b``."""
        node, extent = wrap.node, self.source.extent(wrap.node)
        self.replaced.add(extent)
        start, end = self.source.extent(node.left)[1], self.source.extent(node.right)[0]
        at = self.source.text.index(symbol_of(node.op), start, end)
        yield Piece(at, at + len(symbol_of(node.op)), wrap.text, extent)
        alone = isinstance(self.source.parents.get(node), (ast.Assign, ast.Return, ast.Call))
        if self.source.in_parentheses(extent) is None and not alone:
            yield Piece(extent[0], extent[0], "(", extent, True)
            yield Piece(extent[1], extent[1], ")", extent)

    def _rebound(self, wraps: Sequence[Wrap], cast: Collection[Any]) -> Iterator[Piece]:
        """``x = cast(x - y)`` for ``x -= y``."""
        node, extent = wraps[0].node, self.source.extent(wraps[0].node)
        self.replaced.add(extent)
        target, own = self.source.extent(node.target), self.source.extent(node.value)
        value = self.source.in_parentheses(own) or own
        left, before, after = self.source.quoted(node.target), "", ""
        for wrap in wraps:
            a, b = self._parts(wrap)
            if wrap.how == "target":
                left = f"{a}{left}{b}"
            else:
                before, after = (a, b) if a else ("(", f"){b}")
        bare = node.value in cast or value != own or _binds_closer(node)
        text = f" = {before}{left} {symbol_of(node.op)} {'' if bare else '('}"
        yield Piece(target[1], value[0], text, extent)
        yield Piece(value[1], value[1], f"{'' if bare else ')'}{after}", extent)


_INSIDE: dict[str, Callable[[Writer, Wrap], Iterator[Piece]]] = {
    "dtype": Writer._asks,
    "start": Writer._start,
    "retyped": Writer._retyped,
    "literal": Writer._literal,
    "stored": Writer._stored,
    "operator": Writer._operator,
}
"""What is written inside of an expression, and by which method."""

MADE = ("asarray", "row")
_POSTFIX = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_KEEPS = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.GeneratorExp, ast.Tuple, ast.Starred)
_CLOSER = ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.Pow


def _binds_closer(node: ast.AugAssign) -> bool:
    """Whether what stands right of ``-=`` needs no parentheses right of ``-``."""
    if isinstance(node.value, (*_POSTFIX, ast.Constant)):
        return True
    sums = isinstance(node.op, (ast.Add, ast.Sub))
    return sums and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, _CLOSER)


def dtype_argument(call: ast.Call) -> Any:
    """Return the argument of a constructor that names its dtype; None if there is none."""
    named = next((word for word in call.keywords if word.arg == "dtype"), None)
    at = _DTYPE_AT.get(called_name(call))
    return named or (call.args[at] if at is not None and len(call.args) > at else None)


_DTYPE_AT = {"array": 1, "asarray": 1, "asanyarray": 1, "full": 2, "zeros": 1, "ones": 1}
"""Functions that store numbers in a dtype, and where it stands among their arguments."""


def import_line(body: list[ast.stmt]) -> int:
    """Return the line of a file before which an import can stand."""
    at = 0
    while at < len(body) and _comes_first(body[at], at):
        at += 1
    first: Any = body[at]
    line: int = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
    return min(line, (body[at - 1].end_lineno or 0) + 1) if at else line


def _comes_first(statement: ast.stmt, at: int) -> bool:
    """Whether a statement has to stand before all imports."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str())):
            return at == 0
        case ast.ImportFrom(module="__future__"):
            return True
    return False


# -- a whole file ------------------------------------------------------------------------------


class Unkept(Exception):
    """A file with its casts is another program, or cannot be written."""


class Rewritten(NamedTuple):
    """A source text with casts."""

    source: SourceText
    origins: dict[Position, Position]  # from where each expression stands to where it stood

    @property
    def text(self) -> str:
        """The text."""
        return self.source.text


def spliced(text: str, pieces: Sequence[Piece], start: int = 0, end: int | None = None) -> str:
    """Return a text with pieces put in, or a part of it."""
    parts, at = [], start
    for piece in pieces:
        parts += [text[at : piece.start], piece.text]
        at = piece.end
    return "".join([*parts, text[at : len(text) if end is None else end]])


def rewritten(source: SourceText, wraps: Sequence[Wrap], words: Spelling = OWN) -> Rewritten:
    """Return a source text with casts; ``Unkept`` if it is not the same program but for them."""
    writer = Writer(source, words)
    pieces = [*writer.imported(wraps), *writer.pieces(wraps)]
    pieces.sort(key=lambda piece: piece.order)
    if any(a.end > b.start for a, b in pairwise(pieces)):
        raise Unkept("two edits of one expression contradict each other")
    try:
        new = SourceText(spliced(source.text, pieces))
    except (SyntaxError, ValueError) as error:
        raise Unkept(f"the edited text is no program: {error}") from error
    return Rewritten(new, _origins(source, new, pieces, writer.replaced))


def _origins(
    source: SourceText, new: SourceText, pieces: Sequence[Piece], replaced: set[Extent]
) -> dict[Position, Position]:
    """Pair the expressions of two texts, of which one is the other with casts; ``Unkept`` if one is
    not where it has to be then."""
    found: dict[Position, Position] = {}
    for node in ast.walk(source.tree):
        if not isinstance(node, (ast.expr, ast.stmt)):
            continue
        extent = source.extent(node)
        start, end = _moved(extent, pieces)
        position = (*new.place(start), *new.place(end))
        if isinstance(node, ast.AugAssign) and extent in replaced:
            there = _computed(new, node, new.place(start))
        elif any(a <= extent[0] and extent[1] <= b for a, b in replaced):
            there = position
        else:
            alike = any(_own(node) == _own(other) for other in new.at(position))
            there = position if alike else None
        if there is None:
            raise Unkept(f"the edited text is another program at line {node.lineno}")
        found[there] = position_of(node)
    return found


def _moved(extent: Extent, pieces: Sequence[Piece]) -> Extent:
    """Where an expression stands in the edited text."""
    (start, end), first, last = extent, extent[0], extent[1]
    for piece in pieces:
        more = len(piece.text) - (piece.end - piece.start)
        put_in = piece.start == piece.end
        if piece.start < start or (
            piece.start == start and piece.opens and piece.wrapped[1] >= end and put_in
        ):
            first += more
        if piece.start < end or (
            piece.start == end and not piece.opens and piece.wrapped[0] > start and put_in
        ):
            last += more
    return first, last


def _computed(new: SourceText, node: ast.AugAssign, place: tuple[int, int]) -> Position | None:
    """Where ``x - y`` stands that has taken the place of ``x -= y``; None if it does not."""
    wanted = ast.unparse(node.target)
    for each in new.beginning(*place):
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == wanted:
            every = (inner for inner in ast.walk(each.value) if isinstance(inner, ast.BinOp))
            return next((position_of(e) for e in every if type(e.op) is type(node.op)), None)
    return None


def _own(node: ast.AST) -> list[str]:
    """A node's type, and what it has besides other expressions: names, numbers, operators."""
    found = [type(node).__name__]
    for _, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
                found.append(type(each).__name__)
            elif not isinstance(each, ast.AST):
                found.append(repr(each))
    return found
