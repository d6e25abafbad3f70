"""Fewer edits that do the same: what others make needless, and one cast in place of several."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from promoarray.diagnostics.edits.occurrence import Occurrence, Span
from promoarray.diagnostics.edits.planner import Edit, is_exact
from promoarray.diagnostics.edits.source import SourceText, position_of


def simplified(
    edits: list[Edit],
    seen: Sequence[Occurrence],
    files: Mapping[Path, SourceText],
    final: Collection[str],
) -> list[Edit]:
    """Return edits without those that others make needless, and with one in place of several.

    Parameters
    ----------
    edits : list of Edit
    seen : sequence of Occurrence
        What they are for.
    files : mapping
        The files that they are of.
    final : collection of str
        The globals that are compared at the end: they keep their dtypes.
    """
    by_place: dict[tuple[Span, str], list[Occurrence]] = {}
    for each in seen:
        by_place.setdefault(each.place, []).append(each)
    outer = {id(w.node) for e in edits for w in e.wraps if w.outer and w.how == "astype"}
    edits = [e for e in edits if not (_cast_again(e, outer) and _is_exact(by_place[e[:2]]))]
    for path, source in files.items():
        own = [e for e in edits if Path(e.span.file) == path]
        for several, one in _one_for_several(own, source, final):
            edits = [*(e for e in edits if e not in several), one]
    return edits


def _cast_again(edit: Edit, outer: Collection[int]) -> bool:
    """Whether what an edit casts as a result is cast once more as an operand."""
    (wrap, *more) = edit.wraps or (None,)
    return wrap is not None and not more and not wrap.outer and id(wrap.node) in outer


def _is_exact(own: list[Occurrence]) -> bool:
    """Whether results are exact under all policies, and none has fewer bits of them."""
    return all(
        is_exact(s.asked.wanted)
        and not (s.values or s.computed)
        and all(
            dtype is not None and is_exact(dtype) and dtype.bits >= s.asked.wanted.bits
            for dtype in s.answers.values()
        )
        for s in own
    )


def _one_for_several(
    edits: list[Edit], source: SourceText, final: Collection[str]
) -> Iterator[tuple[list[Edit], Edit]]:
    """Yield several edits that cast one name to one dtype, and one where the name gets its value.

    Wherever the name is used, it is cast so.
    """
    uses: dict[tuple[Any, str, str], list[Edit]] = {}
    for edit in edits:
        (wrap, *others) = edit.wraps or (None,)
        if wrap is None or others or not isinstance(wrap.node, ast.Name):
            continue
        scope = source.scope(wrap.node)
        plain = wrap.how == "astype" and not wrap.text
        if plain and not (isinstance(scope, ast.Module) and wrap.node.id in final):
            uses.setdefault((scope, wrap.node.id, wrap.dtype.name), []).append(edit)
    for (scope, name, _), several in uses.items():
        value = _value(source, scope, name, {id(edit.wraps[0].node) for edit in several})
        if len(several) > 1 and value is not None:
            wrap = several[0].wraps[0]._replace(node=value)
            policies = tuple(dict.fromkeys(p for edit in several for p in edit.policies))
            span = Span(several[0].span.file, *position_of(value))
            yield several, Edit(span, f"{name} =", (wrap,), policies)


def _value(source: SourceText, scope: ast.AST, name: str, cast: Collection[int]) -> Any:
    """What a name is given, if that is by one assignment to it alone, and all uses are cast."""
    given = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name]
    loads = [n for n in given if isinstance(n.ctx, ast.Load)]
    stores = [n for n in given if n not in loads]
    arguments = [n for n in ast.walk(scope) if isinstance(n, ast.arg) and n.arg == name]
    if len(stores) != 1 or arguments or source.scope(stores[0]) is not scope:
        return None
    if any(id(n) not in cast for n in loads):
        return None
    parent = source.parents[stores[0]]
    alone = isinstance(parent, ast.Assign) and parent.targets == stores
    return parent.value if alone and isinstance(parent, ast.Assign) else None
