"""Fewer edits that do the same: what others make needless, and one cast in place of several."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from promoarray.diagnostics.edits.occurrence import (
    COMPUTED,
    DTYPE,
    VALUES,
    Differs,
    Occurrence,
    Span,
    grouped,
)
from promoarray.diagnostics.edits.planner import Edit
from promoarray.diagnostics.edits.source import SourceText, position_of
from promoarray.diagnostics.edits.writing import Wrap
from promoarray.dtypes import INTEGERS


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
    passes = {group[0].place: group for group in grouped(seen)}
    outer = {id(w.node) for e in edits for w in e.wraps if _of_operand(w)}
    edits = [e for e in edits if not (_cast_again(e, outer) and _is_exact(passes[e.place]))]
    for path, source in files.items():
        own = [e for e in edits if Path(e.span.file) == path]
        for several, one in _one_for_several(own, source, final):
            edits = [*(e for e in edits if e not in several), one]
    return edits


def _of_operand(wrap: Wrap) -> bool:
    return wrap.operand is not None and wrap.how == "astype"


def _cast_again(edit: Edit, outer: Collection[int]) -> bool:
    """Whether what an edit casts as a result is cast once more as an operand."""
    (wrap, *more) = edit.wraps or (None,)
    return wrap is not None and not more and wrap.operand is None and id(wrap.node) in outer


def _is_exact(own: list[Occurrence]) -> bool:
    """Whether results are exact under all policies, and none has fewer bits of them."""
    return all(
        each.dtype is not None
        and each.how not in (VALUES, COMPUTED)
        and (each.dtype.kind in INTEGERS or each.dtype.code == "b1")
        and each.dtype.bits >= s.asked.wanted.bits
        for s in own
        for each in (Differs(DTYPE, s.asked.wanted), *s.others.values())
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
            yield several, Edit(span, f"{name} =", policies, (wrap,))


def _value(source: SourceText, scope: ast.AST, name: str, cast: Collection[int]) -> Any:
    """What a name is given, if that is by one assignment to it alone, and all uses are cast."""
    stores: list[Any] = []
    for node in ast.walk(scope):
        match node:
            case ast.arg(arg=given) if given == name:
                return None
            case ast.Name(id=given, ctx=ast.Load()) if given == name and id(node) not in cast:
                return None
            case ast.Name(id=given, ctx=ast.Store() | ast.Del()) if given == name:
                stores.append(node)
    if len(stores) != 1 or source.scope(stores[0]) is not scope:
        return None
    match source.parents[stores[0]]:
        case ast.Assign(targets=[_], value=value):
            return value
    return None
