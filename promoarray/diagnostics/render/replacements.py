"""Edits of places as other tools apply them: texts in the place of others."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from promoarray.diagnostics.edits.writing import import_line
from promoarray.diagnostics.findings.results import edits_in
from promoarray.diagnostics.render.words import Place
from promoarray.diagnostics.spans import Span, span_of


class Replacement(NamedTuple):
    """An edit of a place, for the policies that it is for."""

    text: str
    policies: list[str]
    parts: tuple[tuple[Span, str], ...]  # what is replaced, and by what


def replacements(place: Place) -> Iterator[Replacement]:
    """Yield the edits of a place, each with the import that its file lacks for it."""
    span = span_of(place[0].place)
    before = span.text()
    if not before or ("\n" in before and "#" in before):  # it would drop the comments in between
        return
    needed = {each.edit: each.imports for each in place}
    for text, policies in edits_in(place).items():
        with suppress(SyntaxError):  # of a notebook's cell
            yield Replacement(text, policies, ((span, text), *_imported(span.file, needed[text])))


def _imported(file: str, statement: str) -> Iterator[tuple[Span, str]]:
    if statement:
        line = import_line(ast.parse("".join(linecache.getlines(file))).body)
        yield Span(file, line, 1, line, 1), f"{statement}\n"
