"""A source text with casts, which is the same program but for these."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from promoarray.diagnostics.edits.source import Extent, Position, SourceText, position_of
from promoarray.diagnostics.edits.spelling import OWN, Spelling
from promoarray.diagnostics.edits.writing import Piece, Wrap, Writer


class Unkept(Exception):
    """A file with its casts is another program, or cannot be written."""


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


def spliced(text: str, pieces: Sequence[Piece], start: int = 0, end: int | None = None) -> str:
    """Return a text with pieces put in, or a part of it."""
    parts, at = [], start
    for piece in pieces:
        parts += [text[at : piece.start], piece.text]
        at = piece.end
    return "".join([*parts, text[at : len(text) if end is None else end]])


def rewritten(source: SourceText, wraps: Sequence[Wrap], words: Spelling = OWN) -> Rewritten:
    """Return a source text with casts.

    Raises
    ------
    Unkept
        If what is written is not the same program but for the casts.
    """
    writer = Writer(source, words)
    pieces = [*writer.imported(wraps), *writer.pieces(wraps)]
    pieces.sort(key=lambda piece: piece.order)
    if any(a.end > b.start for a, b in pairwise(pieces)):
        raise Unkept("two edits of one expression contradict each other")
    text = spliced(source.text, pieces)
    try:
        new = SourceText(text)
    except (SyntaxError, ValueError) as error:
        raise Unkept(f"the edited text is no program: {error}") from error
    return Rewritten(text, _origins(source, new, pieces, writer.replaced))


def _origins(
    source: SourceText, new: SourceText, pieces: Sequence[Piece], replaced: set[Extent]
) -> dict[Position, Position]:
    """Pair the expressions of two texts, of which one is the other with casts.

    Raises
    ------
    Unkept
        If an expression is not where it has to be then.
    """
    found: dict[Position, Position] = {}
    there: dict[Position, list[Any]] = {}
    for node in ast.walk(new.tree):
        if isinstance(node, (ast.expr, ast.stmt)):
            there.setdefault(position_of(node), []).append(node)
    for node in ast.walk(source.tree):
        if not isinstance(node, (ast.expr, ast.stmt)):
            continue
        extent = source.extent(node)
        if isinstance(node, ast.AugAssign) and extent in replaced:
            found[_computed(source, new, node, pieces)] = position_of(node)
            continue
        start, end = _moved(extent, pieces)
        position = (*new.place(start), *new.place(end))
        if any(a <= extent[0] and extent[1] <= b for a, b in replaced):
            found[position] = position_of(node)
            continue
        if not any(_alike(node, other) for other in there.get(position, ())):
            raise Unkept(f"the edited text is another program at line {node.lineno}")
        found[position] = position_of(node)
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


def _computed(
    source: SourceText, new: SourceText, node: ast.AugAssign, pieces: Sequence[Piece]
) -> Position:
    """Where ``x - y`` stands that has taken the place of ``x -= y``."""
    line, column = new.place(_moved(source.extent(node), pieces)[0])
    for each in ast.walk(new.tree):
        if isinstance(each, ast.Assign) and (each.lineno, each.col_offset) == (line, column):
            (target,), inner = each.targets, each.value
            while not (isinstance(inner, ast.BinOp) and type(inner.op) is type(node.op)):
                inner = _uncast(inner)
            if ast.unparse(target) == ast.unparse(node.target):
                return position_of(inner)
    raise Unkept(f"the edited text is another program at line {node.lineno}")


def _uncast(node: Any) -> Any:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.BinOp() as inner)):
            return inner
        case ast.Call(args=[inner, *_]):
            return inner
    raise Unkept(f"the edited text is another program at line {node.lineno}")


def _alike(a: Any, b: Any) -> bool:
    """Whether two nodes are of one sort, whatever is below them."""
    if type(a) is not type(b):
        return False
    for name in a._fields:
        mine, its = (_below(getattr(x, name, None)) for x in (a, b))
        if mine != its and not (mine != mine and its != its):  # a NaN
            return False
    return True


def _below(x: Any) -> Any:
    """What a field of a node holds: operators by their types, of other nodes nothing."""
    if isinstance(x, list):
        return [type(each) for each in x if isinstance(each, ast.cmpop)]
    if isinstance(x, (ast.operator, ast.unaryop, ast.boolop)):
        return type(x)
    return None if isinstance(x, ast.AST) else x
