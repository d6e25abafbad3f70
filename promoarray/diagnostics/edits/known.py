"""Edits whose casts are known: after a refusal of the run, and of casts to a narrower range."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.occurrence import (
    ASTYPE,
    SETITEM,
    Asked,
    Occurrence,
    span_of,
)
from promoarray.diagnostics.edits.place import Port, SourceOperation, Unedited
from promoarray.diagnostics.edits.planner import written
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.edits.stores import cast_operand, stored_in
from promoarray.diagnostics.edits.writing import Wrap
from promoarray.diagnostics.model.value_changes import ValueChange
from promoarray.diagnostics.model.values import Number, limits
from promoarray.dtypes import BY_NAME, DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Rank


def read(file: str) -> SourceText | None:
    """Read the text of a file, as it was when the program began; None if that is no Python."""
    return _parsed("".join(linecache.getlines(file)))


@lru_cache(maxsize=8)
def _parsed(text: str) -> SourceText | None:
    try:
        return SourceText(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _operation(site: Site, asked: Asked, framework: str = "") -> SourceOperation | None:
    """The operation at a place of the source; None if it does not stand there."""
    source, seen = read(site.file), Occurrence(span_of(site), asked, (), framework=framework)
    node = None if source is None else source.node(seen)
    if source is None or node is None:
        return None
    nobody: Any = None  # is asked, as the casts are known
    return SourceOperation(Port(nobody, ()), source, node, [seen], [seen])


# -- after a refusal ------------------------------------------------------------------------------


def after_refusal(
    site: Site,
    asked: Asked,
    casts: Mapping[int, DType],
    result: DType | None,
    framework: str = "",
) -> str:
    """Write the source with the casts after which the run goes on; "" if it cannot be written.

    Parameters
    ----------
    site : Site
    asked : Asked
        What the run refuses.
    casts : mapping
        From the operands to cast to what they become.
    result : DType or None
        What the result of an operation in place is cast to.
    framework : str
        That of a program that was recorded.
    """
    place = _operation(site, asked, framework)
    if place is None:
        return ""
    try:
        wraps = [*_of_operands(place, asked, casts, result)]
        if result is not None:
            wraps.append(place.wrap(place.node, result, "result"))
        text, _ = written(place, tuple(wraps))
    except Unedited:
        return ""
    if result is None or isinstance(place.node.target, ast.Subscript):
        return text
    target = place.source.quoted(place.node.target)  # which other names may stand for
    return f"{target}[...]{text.removeprefix(target)}"


def _of_operands(
    place: SourceOperation, asked: Asked, casts: Mapping[int, DType], result: DType | None
) -> list[Wrap]:
    node, augmented = place.node, isinstance(place.node, ast.AugAssign)
    # In place a recorded program may as well mean to make a new array.
    if (place.words.module != "promoarray" and (result or asked.name == SETITEM)) or (
        bool(result) > augmented
    ):
        raise Unedited
    if asked.name == SETITEM:
        _, value = stored_in(place)
        if value is None or 1 not in casts:
            raise Unedited
        return [place.wrap(value, casts[1], outer=True)]
    wraps = []
    for index, dtype in casts.items():
        operand = place.operand(index)
        if operand is None or (augmented and index == 0 and result is None):
            raise Unedited
        scalar = asked.operands[index].rank is Rank.SCALAR
        if augmented and index == 0:
            wraps.append(place.wrap(node, dtype, "target"))
        else:
            wraps.append(place.wrap(operand, dtype, "asarray" if scalar else "astype", outer=True))
    return wraps


# -- clipped casts --------------------------------------------------------------------------------


def clip(change: ValueChange) -> str:
    """Write a cast of what is clipped to the dtype first; "" where that does not make all agree."""
    site, program, operation, source, target = change.place
    beyond = all(each.beyond for each in tuple(change.differences.values()))
    if operation != ASTYPE or site != program or not beyond:
        return ""
    return _clipped(site, BY_NAME[source], BY_NAME[target])


def _clipped(site: Site, source: DType, target: DType) -> str:
    ends = limits(source, target)
    asked = Asked(ASTYPE, Form.FUNCTION, (Operand(source),), (source,), target)
    place = None if ends is None else _operation(site, asked)
    if ends is None or place is None or not isinstance(place.node.func, ast.Attribute):
        return ""
    call = place.node
    named = call.args if len(call.args) == 1 else [call.func]  # of a method
    namespace = next(filter(None, map(_owner, named)), "")
    array = cast_operand(place.node, {*place.source.modules, namespace, "xp"})
    if array is None or not namespace:
        return ""
    text = ", ".join(map(_written, ends))
    wrap = Wrap(array, target, "clip", text=text, name=namespace, outer=True)
    try:
        return written(place, (wrap,))[0]
    except Unedited:
        return ""


def _owner(node: ast.AST) -> str:
    match node:
        case ast.Attribute(value=ast.Name(id=name)):
            return name
    return ""


def _written(number: Number) -> str:
    whole = number == int(number) and abs(number) < _LONG
    return str(int(number)) if whole or isinstance(number, int) else repr(number)


_LONG = 10**9
