"""Smaller sets of edits, which are worth to be tried."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from promoarray.diagnostics.edits.occurrence import Occurrence, Span
from promoarray.diagnostics.edits.planner import Edit, is_exact
from promoarray.diagnostics.edits.source import SourceText, position_of
from promoarray.diagnostics.port.sources import Source

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module, ast.ClassDef)


def not_needed(
    edits: list[Edit],
    seen: list[Occurrence],
    files: Mapping[Path, tuple[Source, SourceText]],
    final: Collection[str],
) -> Iterator[Edit]:
    """Yield the edits that may not be needed: without them nothing is rounded otherwise.

    These are casts of weakly typed arrays, and of exact results that no policy has fewer bits of,
    unless they are what a global is in the end.
    """
    for edit in edits:
        own = [s for s in seen if (s.span, s.asked.name) == (edit.span, edit.operation)]
        exact = all(
            is_exact(s.asked.wanted)
            and all(
                dtype is not None and is_exact(dtype) and dtype.bits >= s.asked.wanted.bits
                for dtype in s.answers.values()
            )
            for s in own
        )
        weak = bool(own) and all(s.weak for s in own)
        if not weak and (not exact or _is_final(edit, files[Path(edit.span.file)][1], final)):
            continue
        if own and not any(s.values or s.computed for s in own):
            yield edit


def _is_final(edit: Edit, places: SourceText, final: Collection[str]) -> bool:
    """Whether what an edit casts is all that a global is given."""
    whole = {
        position_of(node.value)
        for node in places.tree.body
        if isinstance(node, ast.Assign)
        and any(isinstance(n, ast.Name) and n.id in final for n in node.targets)
    }
    return tuple(edit.span[1:5]) in whole


def one_for_several(
    edits: list[Edit], places: SourceText, final: Collection[str]
) -> Iterator[tuple[list[Edit], Edit]]:
    """Yield several edits that cast one name to one dtype, and one where the name gets its value.

    Parameters
    ----------
    edits : list of Edit
        Of one file.
    places : SourceText
    final : collection of str
        The globals that are compared at the end: they keep their dtypes.
    """
    uses: dict[tuple[Any, str, str], list[Edit]] = {}
    for edit in edits:
        (wrap, *others) = edit.wraps or (None,)
        node = wrap and wrap.node
        if (
            not wrap
            or others
            or not isinstance(node, ast.Name)
            or wrap.text
            or wrap.how != "astype"
        ):
            continue
        scope = _scope(places, node)
        if not (isinstance(scope, ast.Module) and node.id in final):
            uses.setdefault((scope, node.id, wrap.dtype.name), []).append(edit)
    for (scope, name, _), several in uses.items():
        value = _value(places, scope, name)
        if len(several) > 1 and value is not None:
            wrap = several[0].wraps[0]._replace(node=value)
            policies = tuple(dict.fromkeys(p for edit in several for p in edit.policies))
            span = Span(several[0].span.file, *position_of(value))
            yield several, Edit(span, f"{name} =", (wrap,), policies)


def _scope(places: SourceText, node: ast.AST) -> Any:
    while not isinstance(node, _SCOPES):
        node = places.parents[node]
    return node


def _value(places: SourceText, scope: ast.AST, name: str) -> Any:
    """What a name of a scope is given, if that is once and by an assignment to it alone."""
    given = [
        n
        for n in ast.walk(scope)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    arguments = [n for n in ast.walk(scope) if isinstance(n, ast.arg) and n.arg == name]
    if len(given) != 1 or arguments or _scope(places, given[0]) is not scope:
        return None
    parent = places.parents[given[0]]
    return parent.value if isinstance(parent, ast.Assign) and parent.targets == given else None
