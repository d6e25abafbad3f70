"""Edits whose casts are known: after a refusal of the run, and of casts to a narrower range."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.answers import Port
from promoarray.diagnostics.edits.occurrence import ASTYPE, SETITEM, Asked, Occurrence, span_of
from promoarray.diagnostics.edits.place import SourceOperation, Unedited
from promoarray.diagnostics.edits.planner import written
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.edits.stores import stored_in
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
    source, seen = read(site.file), Occurrence(span_of(site), asked, framework=framework)
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
    # In place a recorded program may as well mean to make a new array.
    if place is None or (framework and (result or asked.name == SETITEM)):
        return ""
    augmented = isinstance(place.node, ast.AugAssign)
    if bool(result) > augmented or (asked.name == SETITEM and 1 not in casts):
        return ""
    given = {1: casts[1]} if asked.name == SETITEM else casts
    try:
        wraps = [_of_operand(place, asked, *cast, rebinds=bool(result)) for cast in given.items()]
        if result is not None:
            wraps.append(place.wrap(place.node, result, "result"))
        text = written(place, tuple(wraps))
    except Unedited:
        return ""
    if result is None or isinstance(place.node.target, ast.Subscript):
        return text
    target = place.source.quoted(place.node.target)  # which other names may stand for
    return f"{target}[...]{text.removeprefix(target)}"


def _of_operand(
    place: SourceOperation, asked: Asked, index: int, dtype: DType, *, rebinds: bool
) -> Wrap:
    node = place.operand(index)
    how = "asarray" if asked.operands[index].rank is Rank.SCALAR else "astype"
    if asked.name == SETITEM:
        (_, node), how = stored_in(place), "astype"
    elif isinstance(place.node, ast.AugAssign) and index == 0:
        node, how = place.node if rebinds else None, "target"
    if node is None:
        raise Unedited
    return place.wrap(node, dtype, how, operand=index)


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
    if ends is None or place is None:
        return ""
    match place.node:  # of a method, and of a function
        case ast.Call(
            func=ast.Attribute(value=array), args=[ast.Attribute(value=ast.Name(id=name))]
        ):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[array, _, *_]):
            pass
        case _:
            return ""
    text = ", ".join(map(_written, ends))
    wrap = Wrap(array, target, "clip", text=text, name=name, operand=0)
    try:
        return written(place, (wrap,))
    except Unedited:
        return ""


def _written(number: Number) -> str:
    whole = number == int(number) and abs(number) < _LONG
    return str(int(number)) if whole or isinstance(number, int) else repr(number)


_LONG = 10**9
