"""Edits of operations: numbers that fit, casts of operands or of the result, and conditions."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from promoarray.diagnostics.edits.answers import Casts, candidates, holds, lost
from promoarray.diagnostics.edits.occurrences import DTYPE, REFUSED, fits
from promoarray.diagnostics.edits.operands import (
    called_name,
    is_simple,
    is_sum,
    method_of,
    number_text,
    symbol_of,
)
from promoarray.diagnostics.edits.place import (
    RESULT,
    Found,
    SourceOperation,
    Unedited,
    Wrap,
    by_dtype,
)
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.edits.writing import dtype_argument
from promoarray.dtypes import BY_NAME, INTEGERS, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.plan import Rank


def operation(place: SourceOperation) -> Found:
    """Numbers that fit, casts of operands, or of the result."""
    if any(seen.foreign for seen in place.group):
        raise Unedited("policies take NumPy's operands in otherwise: write pa.asarray(...) around")
    found = _of_bools(place) or _summed(place)
    if found is not None:
        return found
    port, first = place.port, place.concerned[0]
    shared = place.source.shared(place.node, first)
    alike = not any(d.how in (DTYPE, REFUSED) for s in place.concerned for d in s.others.values())
    numbers = _numbers(place, shared)
    for form in _forms(place, place.needing[0].form):
        asked = place.needing[0]._replace(form=form)
        own = not first.framework  # whose kernels are ours
        for casts in candidates(port, asked, numbers, alike=alike, kernels=own):
            guarded = _guarded(place, casts)
            if shared & {*casts.operands} or not _hold(place, form, casts, guarded):
                continue
            wraps = _wraps(place, casts, form, guarded)
            if wraps is not None:
                return wraps, lost(port, asked, casts)
    if shared:
        raise Unedited(
            f"a cast would change another comparison, too: write {_apart(place.source, place.node)}"
        )
    if len(place.every) > 1:
        return _conditional(place), ""
    if alike:
        raise Unedited(
            "it computes with other numbers, or by another kernel, and no cast changes that"
        )
    if not place.operands:
        raise Unedited("its operands cannot be told apart in the source")
    reasons = [d.words for s in place.concerned for d in s.others.values() if d.how == REFUSED]
    raise Unedited("; ".join(["no cast gives the same dtype", *dict.fromkeys(reasons)]))


def _hold(place: SourceOperation, form: Form, casts: Casts, guarded: Mapping[int, str]) -> bool:
    """Whether casts are right for every pass; of what is guarded Python numbers stay."""
    types = [o.type for o in place.needing[0].operands]
    wrapped = {index for seen in place.concerned for index in seen.wrapped}
    for each in place.every:
        asked, given = each._replace(form=form), casts.operands.items()
        if any(i not in wrapped and not fits(asked.operands[i], to) for i, to in given):
            return False
        stay = {i for i in asked.scalars if guarded.get(i) == "guarded"}
        cast = casts._replace(operands={i: to for i, to in given if i not in stay})
        if not holds(place.port, asked, cast, lossy=types == [o.type for o in asked.operands]):
            return False
    return True


def _guarded(place: SourceOperation, casts: Casts) -> dict[int, str]:
    """The operands that are arrays in one pass and Python numbers in another, and what to write."""
    found = {}
    for index, to in casts.operands.items():
        node = place.operand(index)
        if node is None or to.weak:
            continue
        ranks = place.ranks(index)
        if len(ranks) > 1 and Rank.SCALAR in ranks:
            of_numbers = (asked for asked in place.every if index in asked.scalars)
            stays = is_simple(node) and all(holds(place.port, asked) for asked in of_numbers)
            found[index] = "guarded" if stays else "either"
        elif ranks != {Rank.SCALAR} and place.source.may_be_number(node):
            found[index] = "guarded"
    return found


def _of_bools(place: SourceOperation) -> Found | None:
    """``a & b`` for ``a * b`` of truth values, which not every framework multiplies."""
    node = place.node
    name, symbol = _OF_BOOLS.get(place.needing[0].name, ("", ""))
    if not symbol or not isinstance(node, ast.BinOp) or not symbol_of(node.op):
        return None
    if any(o.type.code != "b1" for asked in place.every for o in asked.operands):
        return None
    if not all(holds(place.port, asked._replace(name=name)) for asked in place.every):
        return None
    return (place.wrap(node, place.needing[0].wanted, "operator", text=symbol),), ""


def _summed(place: SourceOperation) -> Found | None:
    """``sum(x, np.int64(0))``: what is summed so far has the dtype from the start on."""
    node, wanted = place.node, place.wanted
    if place.needing[0].name != "add" or not (place.words.scalars and is_sum(node)):
        return None
    if len(wanted) != 1:  # of the first pass and the others
        return None
    if any(number_text(start) is None for start in node.args[1:]) or node.keywords:
        return None
    if any(isinstance(each, ast.Starred) for each in node.args):  # which may give the start, too
        raise Unedited("a starred argument stands for several")
    casts = Casts(operands={0: next(iter(wanted))})
    if not all(holds(place.port, asked, casts) for asked in place.every):
        return None
    return (place.wrap(node, casts.operands[0], "start", operand=0),), ""


_OF_BOOLS = {"multiply": ("bitwise_and", "&"), "add": ("bitwise_or", "|")}


def _numbers(place: SourceOperation, shared: set[int]) -> dict[int, DType]:
    """The operands that may be written as a Python number, and of which type.

    A literal int as a float, and a NumPy scalar as the number that it is.
    """
    found: dict[int, DType] = {}
    for index, node in enumerate(place.operands):
        known = node and all(index < len(asked.operands) for asked in place.every)
        target = index == 0 and isinstance(place.node, ast.AugAssign)
        if index in shared or not known or target or place.folds:
            continue
        ranks, types = place.ranks(index), {asked.operands[index].type for asked in place.every}
        literal = type(number_text(node)) is int and place.source.quoted(node)[-1:].isdecimal()
        if literal and ranks == {Rank.SCALAR} and not place.source.quoted(node).startswith("0x"):
            found[index] = WEAK[float]
        elif ranks == {Rank.ZERO_D} and place.words.scalars and not _is_constructor(node):
            kinds = {_PYTHON.get(dtype.kind) for dtype in types}
            if len(kinds) == 1 and (kind := kinds.pop()) is not None:
                found[index] = WEAK[kind]
    return found


_PYTHON: dict[Kind, Any] = {Kind.BOOL: bool, Kind.INT: int, Kind.UINT: int}
_PYTHON |= {Kind.FLOAT: float, Kind.COMPLEX: complex}
"""From kinds of dtypes to Python's types that hold the same numbers."""


def _is_constructor(node: ast.AST) -> bool:
    """Whether an expression names the dtype of its scalar: ``np.float64(0.5)``."""
    return isinstance(node, ast.Call) and called_name(node) in {*BY_NAME, "float_", "half"}


def _forms(place: SourceOperation, form: Form) -> tuple[Form, ...]:
    """How an operation may be written: ``x -= y`` as ``x = x - y``, where that does no harm."""
    node = place.node
    if form is not Form.INPLACE or not isinstance(node, ast.AugAssign):
        return (form,)
    own = place.port.proved or _is_own(place.source, node.target)
    return (form, Form.OPERATOR) if own and is_simple(node.target) else (form,)


def _is_own(source: SourceText, name: ast.AST) -> bool:
    """Whether no other name may stand for the array of a local name.

    Each value that it is given is computed there, and it is only computed with.
    """
    if not isinstance(name, ast.Name):
        return False
    scope = source.scope(name)
    for node in ast.walk(scope):
        if isinstance(node, ast.arg) and node.arg == name.id:
            return False
        if not isinstance(node, ast.Name) or node.id != name.id:
            continue
        parent = source.parents[node]
        if isinstance(node.ctx, ast.Load):
            computed = isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Return))
            if not computed and not _only_reads(parent):
                return False
        elif not isinstance(parent, ast.AugAssign) and not (
            isinstance(parent, ast.Assign)
            and parent.targets == [node]
            and (isinstance(parent.value, ast.BinOp) or _makes_anew(parent.value))
        ):
            return False
    return True


def _only_reads(parent: ast.AST) -> bool:
    match parent:
        case ast.Call(func=ast.Name(id="print" | "len" | "float" | "int" | "str" | "list")):
            return True
        case ast.FormattedValue():
            return True
        case ast.Attribute(attr="dtype" | "shape" | "sum" | "mean" | "max" | "min" | "tolist"):
            return True
    return False


def _makes_anew(value: ast.AST) -> bool:
    made = {"zeros", "ones", "full", "arange", "empty", "array", "linspace", "copy", "astype"}
    return isinstance(value, ast.Call) and called_name(value) in made


def _wraps(
    place: SourceOperation, casts: Casts, form: Form, guarded: Mapping[int, str]
) -> tuple[Wrap, ...] | None:
    """The casts as they are written, or None if the operands are not in the source."""
    node, wraps = place.node, []
    augmented = isinstance(node, ast.AugAssign)
    rebinds = augmented and bool(casts.result or 0 in casts.operands)
    if rebinds and (form is Form.INPLACE or not is_simple(node.target)):
        return None
    for index, dtype in casts.operands.items():
        operand, how = place.operand(index), guarded.get(index)
        if operand is None or (how and not is_simple(operand)):
            return None
        if augmented and index == 0:
            operand, how = node, "target"
        elif how is None:
            operand, how = _of_operand(place, operand, index, dtype, rows=casts.rows)
        wraps.append(place.wrap(operand, dtype, how, operand=index))
    if casts.result:
        wraps.append(place.wrap(node, casts.result, "result" if augmented else "astype"))
    if any(w.how != "guarded" for w in wraps) and place.source.may_be_number(node):
        return None  # which Python computes in another pass
    return tuple(wraps)


def _of_operand(
    place: SourceOperation, node: Any, index: int, dtype: DType, *, rows: bool
) -> tuple[Any, str]:
    """The expression that is cast for an operand, and how."""
    if dtype.weak:
        return node, "literal" if number_text(node) is not None else _WEAK_NAMES[dtype]
    if any(index in s.wrapped for s in place.concerned):
        return node, "wrapped"
    if place.ranks(index) == {Rank.SCALAR} or place.folds:
        return node, "row" if rows else "asarray"
    named = _named_dtype(place, node, index)
    return (node, "astype") if named is None else (named, "retyped")


_WEAK_NAMES = {weak: kind.__name__ for kind, weak in WEAK.items()}


def _named_dtype(place: SourceOperation, node: Any, index: int) -> Any:
    """The dtype in ``np.float64(3)``, if it is so written.

    The number is the same in the dtype that is there, so that a cast makes no other of it.
    """
    if not _is_constructor(node) or not place.words.scalars:
        return None
    number = number_text(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    same = number is not None and all(
        _is_exactly(a.operands[index].type, number) for a in place.every
    )
    return node.func if same and isinstance(node.func, ast.Attribute) else None


def _is_exactly(dtype: DType, number: Any) -> bool:
    with np.errstate(all="ignore"), contextlib.suppress(OverflowError):
        return bool(np.asarray(number, dtype.storage).item() == number)
    return False


def _apart(source: SourceText, node: ast.Compare) -> str:
    """The comparisons of a chain one by one."""
    values = [node.left, *node.comparators]
    pairs = zip(values, node.ops, node.comparators, strict=False)
    return " and ".join(
        f"{source.quoted(a)} {symbol_of(op) or '?'} {source.quoted(b)}" for a, op, b in pairs
    )


def _conditional(place: SourceOperation) -> tuple[Wrap, ...]:
    """Casts of arrays of some dtypes only, where a line is passed with several."""
    wraps, source = [], place.source
    for rule in by_dtype(place.port, place.every, place.needing):
        index, used = rule.operand, rule.operands
        if any(place.operand(i) is None for i in used) or place.folds:
            raise Unedited("it is passed with several dtypes, which need casts of their own")
        numbers = {i for i in used if source.may_be_number(place.operands[i])}
        if numbers - {index} or (index == RESULT and source.may_be_number(place.node)):
            raise Unedited("an operand is a Python number in another pass")
        if not all(is_simple(place.operands[i]) for i in used):
            raise Unedited("it is passed with several dtypes; give its operand a name first")
        if index <= 0 and isinstance(place.node, ast.AugAssign):
            raise Unedited("it is passed with several dtypes, and its target cannot be cast")
        texts = [operand and source.quoted(operand) for operand in place.operands]
        text = rule.written(texts, lambda dtype: place.words.dtype_of(dtype, place.name))
        if index == RESULT:
            wraps.append(place.wrap(place.node, rule.dtype, text=text))
            continue
        number = Rank.SCALAR in place.ranks(index) or bool(numbers)
        how, node = "guarded" if number else "astype", place.operands[index]
        wraps.append(place.wrap(node, rule.dtype, how, text=text, operand=index))
    return tuple(wraps)


# -- what is no operation ----------------------------------------------------------------------


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
    match node:
        case ast.Call(args=[_], keywords=[]) if called_name(node) in _SCALAR_TYPES:
            asks = True  # np.uint8(x)
        case _:
            asks = isinstance(node, ast.Call) and dtype_argument(node) is not None
    if asks:
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


_SCALAR_TYPES = {*(name for name, row in BY_NAME.items() if row.kind in INTEGERS)}
_SCALAR_TYPES |= {"ubyte", "byte", "ushort", "short", "uintc", "intc", "uint", "int_"}
_SCALAR_TYPES |= {"ulonglong", "longlong", "uintp", "intp"}


def stored_in(place: SourceOperation) -> tuple[Any, Any]:
    """Return the array that is written to, and what is written, as the source has them."""
    node, parents = place.node, place.source.parents
    parent = parents.get(node)
    match node, parent, parents.get(parent):
        case ast.Subscript(value=target), ast.Assign(targets=[to], value=value), _ if to is node:
            return target, value
        case ast.Subscript(value=target), ast.Tuple(elts=to), ast.Assign(
            value=ast.Tuple(elts=values)
        ) if len(to) == len(values):
            return target, values[to.index(node)]
        case ast.Assign(targets=[ast.Subscript(value=target), *_], value=value), _, _:
            return target, value
        case ast.Call(args=args, keywords=keywords), _, _:
            array = method_of(node, place.source.modules)
            positional = [*([] if array is None else [array]), *args]
            given = dict(zip(_WRITES.get(called_name(node), ()), positional, strict=False))
            given |= {_WRITTEN[word.arg]: word.value for word in keywords if word.arg in _WRITTEN}
            return given.get(_TO, node), given.get(_WHAT)
    return node, None


_TO, _WHAT = "to", "what"

_WRITES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("fill", "full_like", "fill_diagonal", "copyto"), (_TO, _WHAT)),
    **dict.fromkeys(("put", "place", "putmask", "insert", "itemset"), (_TO, "at", _WHAT)),
}
"""NumPy's functions and methods that write numbers into an array, and what they are given."""

_WRITTEN: dict[str | None, str] = {
    **dict.fromkeys(("a", "arr", "dst"), _TO),
    **dict.fromkeys(("v", "values", "vals", "value", "fill_value", "val", "src"), _WHAT),
}
"""Their parameters."""
