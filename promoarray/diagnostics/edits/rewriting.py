"""A source text with casts, which is the same program but for these."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from promoarray.diagnostics.edits.source import Extent, Position, SourceText, position_of
from promoarray.diagnostics.edits.spelling import OWN, Spelling
from promoarray.diagnostics.edits.writing import Piece, Wrap, Writer


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
    try:
        new = SourceText(spliced(source.text, pieces))
    except (SyntaxError, ValueError) as error:
        raise Unkept(f"the edited text is no program: {error}") from error
    return Rewritten(new, _origins(source, new, pieces, writer.replaced))


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
