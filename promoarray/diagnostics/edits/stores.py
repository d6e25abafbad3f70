"""Edits of what is no operation: arrays of Python numbers, explicit casts, and assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from promoarray.diagnostics.edits.operands import called_name, is_simple
from promoarray.diagnostics.edits.place import Found, SourceOperation, Unedited
from promoarray.diagnostics.edits.place import Port as Port
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
    operands = [place.operand(index) for index in first.entering]
    if None in operands or any(seen.entering != first.entering for seen in place.group):
        raise Unedited("its operands cannot be told apart in the source")
    return tuple(place.wrap(each, dtype, outer=True) for each in operands), ""


def cast(place: SourceOperation) -> Found:
    """A cast by way of another dtype, where policies make other values of an explicit cast."""
    concerned, node = place.concerned, place.node
    if refused := [s for s in concerned if s.reasons]:
        raise Unedited(next(iter(refused[0].reasons.values())))
    routes = [r for r in concerned[0].routes if all(r in s.routes for s in concerned)]
    words = "; ".join(f"{name}: {said}" for s in concerned for name, said in s.values.items())
    if not routes:
        raise Unedited(f"no cast gives the same values ({words})")
    if len({s.asked.operands[0].type for s in place.group}) > 1:
        raise Unedited(f"it casts arrays of several dtypes ({words})")
    inner = cast_operand(node, {*place.source.modules, *concerned[0].names, "xp"})
    if inner is None:
        raise Unedited("its operand cannot be told")
    return (place.wrap(inner, routes[0], outer=True),), ""


def cast_operand(call: Any, modules: Iterable[str]) -> Any:
    """Return what an explicit cast is of: ``x`` in ``x.astype(...)`` and ``xp.astype(x, ...)``."""
    if not isinstance(call, ast.Call):
        return None
    if isinstance(call.func, ast.Attribute):
        owner = call.func.value
        if not (isinstance(owner, ast.Name) and owner.id in {*modules}):
            return owner
    return call.args[0] if call.args else None


def stored(place: SourceOperation) -> Found:
    """A cast of what is written into an array, or of the array that numbers are stored in."""
    node, concerned = place.node, place.concerned
    if isinstance(node, ast.Call) and (dtype_argument(node) or _is_scalar_type(node, place)):
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
    return (place.wrap(value, concerned[0].asked.wanted, how, text=text, outer=True),), ""


def _is_scalar_type(call: ast.Call, place: SourceOperation) -> bool:
    """Whether a call is ``np.uint8(x)``."""
    single = len(call.args) == 1 and not call.keywords
    return single and called_name(call) in _SCALAR_TYPES and bool(place.name)


_SCALAR_TYPES = {*(name for name, row in BY_NAME.items() if row.kind in INTEGERS)}
_SCALAR_TYPES |= {"ubyte", "byte", "ushort", "short", "uintc", "intc", "uint", "int_"}
_SCALAR_TYPES |= {"ulonglong", "longlong", "uintp", "intp"}


def stored_in(place: SourceOperation) -> tuple[Any, Any]:
    """Return the array that is written to, and what is written, as the source has them."""
    node = place.node
    if isinstance(node, ast.Subscript):
        parent = place.source.parents.get(node)
        alone = isinstance(parent, ast.Assign) and parent.targets == [node]
        return (
            (node.value, parent.value) if alone and isinstance(parent, ast.Assign) else (node, None)
        )
    if isinstance(node, ast.Assign):
        return node.targets[0].value, node.value  # type: ignore[attr-defined]
    given = dict(zip(_WRITES.get(called_name(node), ()), node.args, strict=False))
    given |= {word.arg: word.value for word in node.keywords if word.arg}
    if called_name(node) == "fill":
        given = {"a": node.func.value, "v": node.args[0] if node.args else None}
    target = next((given[n] for n in ("a", "arr") if n in given), node)
    value = next(
        (given[n] for n in ("v", "values", "vals", "fill_value", "val") if n in given), None
    )
    return target, value


_WRITES = {
    "full_like": ("a", "fill_value"),
    "put": ("a", "ind", "v"),
    "place": ("arr", "mask", "vals"),
    "putmask": ("a", "mask", "values"),
    "insert": ("arr", "obj", "values"),
    "fill_diagonal": ("a", "val"),
}
"""NumPy's functions that write numbers into an array, and their parameters."""
