"""Edits of what is no operation: arrays of Python numbers, explicit casts, and assignments."""

from __future__ import annotations

import ast
from typing import Any

from promoarray.diagnostics.edits.occurrence import REFUSED
from promoarray.diagnostics.edits.operands import called_name, is_simple
from promoarray.diagnostics.edits.place import Found, SourceOperation, Unedited
from promoarray.diagnostics.edits.writing import dtype_argument
from promoarray.dtypes import BY_NAME, INTEGERS
from promoarray.promotion.plan import Rank


def made(place: SourceOperation) -> Found:
    """The dtype to ask for where an array is made of Python numbers."""
    if len(place.wanted) > 1:
        raise Unedited("it makes arrays of several dtypes")
    (dtype,) = place.wanted
    if without := [p.name for p in place.port.policies if dtype not in p.dtypes]:
        raise Unedited(f"{', '.join(without)} has no {dtype.name}")
    node, words = place.node, place.words
    match node:
        case ast.Subscript(value=ast.Attribute(attr="ogrid"), slice=ast.Tuple()):
            raise Unedited("it makes several arrays")
    takes = isinstance(node, ast.Call) and (not words.typed or called_name(node) in words.typed)
    return (place.wrap(node, dtype, "dtype" if takes else "astype"),), ""


def entered(place: SourceOperation) -> Found:
    """Casts of data that the framework narrows as they come in, or the dtype to ask for."""
    (first, *_), node, (dtype, *_) = place.concerned, place.node, place.wanted
    if not first.entering:
        if any(word.arg == "dtype" for word in getattr(node, "keywords", ())):
            raise Unedited("it names a dtype")
        return (place.wrap(node, dtype, "dtype"),), ""
    operands = {index: place.operand(index) for index in first.entering}
    if None in operands.values() or any(s.entering != first.entering for s in place.group):
        raise Unedited("its operands cannot be told apart in the source")
    return tuple(place.wrap(each, dtype, operand=i) for i, each in operands.items()), ""


def cast(place: SourceOperation) -> Found:
    """A cast by way of another dtype, where policies make other values of an explicit cast."""
    concerned = place.concerned
    said = [(name, each) for s in concerned for name, each in s.others.items()]
    if refused := next((each.words for _, each in said if each.how == REFUSED), ""):
        raise Unedited(refused)
    routes = [r for r in concerned[0].routes if all(r in s.routes for s in concerned)]
    words = "; ".join(f"{name}: {each.words}" for name, each in said)
    if not routes:
        raise Unedited(f"no cast gives the same values ({words})")
    if len({s.asked.operands[0].type for s in place.group}) > 1:
        raise Unedited(f"it casts arrays of several dtypes ({words})")
    inner = place.operand(0)
    if inner is None or isinstance(place.source.parents[inner], (ast.List, ast.Tuple)):
        raise Unedited("its operand cannot be told")
    return (place.wrap(inner, routes[0], operand=0),), ""


def stored(place: SourceOperation) -> Found:
    """A cast of what is written into an array, or of the array that numbers are stored in."""
    node, concerned = place.node, place.concerned
    if isinstance(node, ast.Call) and (dtype_argument(node) or _is_scalar_type(node)):
        return (place.wrap(node, concerned[0].asked.wanted, "stored"),), ""
    target, value = stored_in(place)
    scalars = {s.asked.operands[1].rank is Rank.SCALAR for s in place.group}
    if value is None or len(scalars) > 1:
        raise Unedited("what is written there cannot be cast in the source")
    how = "asarray" if scalars.pop() else "astype"
    how = "wrapped" if any(s.wrapped for s in concerned) else how
    text = ""
    if len(place.wanted) > 1 or isinstance(node, ast.Call):
        if not is_simple(target):
            raise Unedited("it writes to arrays of several dtypes; give its target a name first")
        text = f"{place.source.quoted(target)}.dtype"
    return (place.wrap(value, concerned[0].asked.wanted, how, text=text, operand=1),), ""


def _is_scalar_type(call: ast.Call) -> bool:
    """Whether a call is ``np.uint8(x)``."""
    return len(call.args) == 1 and not call.keywords and called_name(call) in _SCALAR_TYPES


_SCALAR_TYPES = {*(name for name, row in BY_NAME.items() if row.kind in INTEGERS)}
_SCALAR_TYPES |= {"ubyte", "byte", "ushort", "short", "uintc", "intc", "uint", "int_"}
_SCALAR_TYPES |= {"ulonglong", "longlong", "uintp", "intp"}


def stored_in(place: SourceOperation) -> tuple[Any, Any]:
    """Return the array that is written to, and what is written, as the source has them."""
    node = place.node
    match node, place.source.parents.get(node):
        case ast.Subscript(value=target), ast.Assign(targets=[to], value=value) if to is node:
            return target, value
        case ast.Assign(targets=[ast.Subscript(value=target), *_], value=value), _:
            return target, value
        case ast.Call(func=ast.Attribute(value=target, attr="fill"), args=args), _:
            return target, next(iter(args), None)
        case ast.Call(args=args, keywords=keywords), _:
            given = dict(zip(_WRITES.get(called_name(node), ()), args, strict=False))
            given |= {word.arg: word.value for word in keywords}
            target = next((given[name] for name in ("a", "arr") if name in given), node)
            values = ("v", "values", "vals", "fill_value", "val")
            return target, next((given[name] for name in values if name in given), None)
    return node, None


_WRITES: dict[str, tuple[str | None, ...]] = {
    "full_like": ("a", "fill_value"),
    "put": ("a", "ind", "v"),
    "place": ("arr", "mask", "vals"),
    "putmask": ("a", "mask", "values"),
    "insert": ("arr", "obj", "values"),
    "fill_diagonal": ("a", "val"),
}
"""NumPy's functions that write numbers into an array, and their parameters."""
