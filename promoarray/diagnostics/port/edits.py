"""Which casts to write at one expression, so that it answers the same under every policy."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from promoarray.diagnostics.port.places import Extent, Places, cast_dtype
from promoarray.diagnostics.port.seen import ASTYPE, DEFAULT_DTYPE, SETITEM, Seen, Span
from promoarray.diagnostics.shadow.after_casts import Asked, holds, lost
from promoarray.diagnostics.shadow.common_fixes import common_fixes
from promoarray.diagnostics.shadow.fixes import Fix
from promoarray.diagnostics.shadow.shared_causes import MODULES, default_named
from promoarray.diagnostics.shadow.spellings import SPELLINGS
from promoarray.dtypes import INTEGERS, DType
from promoarray.operations import Form
from promoarray.promotion.plan import Rank
from promoarray.promotion.policy import Policy


class Wrap(NamedTuple):
    """One cast.

    Attributes
    ----------
    extent : Extent
        Around which expression; for a dtype that is asked for, of which call.
    dtype : DType
    how : str
        ``astype``, ``asarray`` of a Python number, ``row`` of one that shall have an axis,
        ``wrapped`` of one that does not fit, ``dtype`` for a keyword; ``result`` and ``target`` of
        an augmented assignment, which becomes a plain one: ``x = cast(x - y)``.
    only : tuple of (DType, DType)
        If not empty: what arrays of some dtypes become, and no others.
    name : str
        The name of promoarray there; "" if it has none.
    outer : bool
        Whether it is of an operand: it goes around a cast of the same expression as a result.
    """

    extent: Extent
    dtype: DType
    how: str = "astype"
    only: tuple[tuple[DType, DType], ...] = ()
    name: str = ""
    outer: bool = False


class Edit(NamedTuple):
    """The casts of one operation.

    Attributes
    ----------
    span : Span
    operation : str
    wraps : tuple of Wrap
    policies : tuple of str
        Those that it is for.
    lossy : str
        What is lost; "" if nothing.
    optional : bool
        Whether the dtypes are the same here: a policy holds an array weakly, or computes otherwise.
    """

    span: Span
    operation: str
    wraps: tuple[Wrap, ...]
    policies: tuple[str, ...]
    lossy: str = ""
    optional: bool = False


class Left(NamedTuple):
    """An operation that is not edited, and why."""

    span: Span
    operation: str
    policies: tuple[str, ...]
    why: str
    optional: bool = False


class Port(NamedTuple):
    """From which policy to which others."""

    run: Policy
    policies: tuple[Policy, ...]


def edit_of(port: Port, places: Places, group: Sequence[Seen]) -> Edit | Left | None:
    """Find the edit of one operation of the source, for all operands it was passed with.

    Parameters
    ----------
    port : Port
    places : Places
        The file.
    group : sequence of Seen
        The passes that are not alike.

    Returns
    -------
    Edit, Left or None
        None if all policies agree.
    """
    concerned = [s for s in group if s.concerned]
    if not concerned:
        return None
    first = concerned[0]
    of = {name for s in concerned for name in s.concerned}
    policies = tuple(p.name for p in port.policies if p.name in of)
    optional = not any(s.answers or s.values for s in concerned)
    at = first.span, first.asked.name, policies
    if first.inside:
        return Left(*at, _inside(first), optional)
    if not first.edited:
        return Left(*at, "it is a part of what is called there", optional)
    node = places.node(first)
    if node is None:
        return Left(*at, "it is one of several operations of what the source calls", optional)
    if places.in_debug_text(node):
        return Left(*at, "its source is printed: f'{...=}'", optional)
    found = _BY_NAME.get(first.asked.name, _operation)(port, places, node, concerned, group)
    if isinstance(found, str):
        return Left(*at, found, optional)
    wraps, lossy = found
    (wrap, *more) = wraps or (None,)
    whole = wrap and not more and wrap.how == "astype" and wrap.extent == places.extent(node)
    if first.framework and wrap and whole and cast_dtype(places, node) == wrap.dtype.name:
        return None  # the program casts the result itself
    return Edit(*at[:2], wraps, policies, lossy, optional)


Found = tuple[tuple[Wrap, ...], str] | str
"""Casts and what they lose, or why there are none."""


def _name(seen: Seen, node: Any) -> str:
    """The name of promoarray to write: that which the expression uses, if it does."""
    used = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in seen.names]
    return next(iter((*used, *seen.names)), "")


def _made(port: Port, places: Places, node: Any, concerned: list[Seen], group: Any) -> Found:
    """The dtype to ask for where an array is made of Python numbers."""
    wanted = {s.asked.wanted for s in group}
    if len(wanted) > 1:
        return "it makes arrays of several dtypes"
    dtype = wanted.pop()
    if without := [p.name for p in port.policies if dtype not in p.dtypes]:
        return f"{', '.join(without)} has no {dtype.name}"
    takes = SPELLINGS[concerned[0].framework].takes_dtype(node)
    how = "dtype" if takes else "astype"
    return (Wrap(places.extent(node), dtype, how, name=_name(concerned[0], node)),), ""


def _cast(port: Port, places: Places, node: Any, concerned: list[Seen], group: Any) -> Found:
    """A cast by way of another dtype, where policies make other values of an explicit cast."""
    refused = [s for s in concerned if s.reasons]
    if refused:
        return next(iter(refused[0].reasons.values()))
    routes = [r for r in concerned[0].routes if all(r in s.routes for s in concerned)]
    words = "; ".join(f"{name}: {said}" for s in concerned for name, said in s.values.items())
    if not routes:
        return f"no cast gives the same values ({words})"
    if len(group) > 1 and len({s.asked.operands[0].type for s in group}) > 1:
        return f"it casts arrays of several dtypes ({words})"
    method = (
        isinstance(node.func, ast.Attribute)
        and not node.args[1:]
        and not (isinstance(node.func.value, ast.Name) and node.func.value.id in concerned[0].names)
    )
    inner = node.func.value if method else node.args[0] if node.args else None
    if inner is None:
        return "its operand cannot be told"
    wrap = Wrap(places.extent(inner), routes[0], name=_name(concerned[0], node), outer=True)
    return (wrap,), ""


def _stored(port: Port, places: Places, node: Any, concerned: list[Seen], group: Any) -> Found:
    """A cast of what is written into an array."""
    operands = places.operands(node, concerned[0])
    scalars = {s.asked.operands[1].rank is Rank.SCALAR for s in group}
    wanted = {s.asked.wanted for s in group}
    if len(operands) < 2 or len(scalars) > 1 or len(wanted) > 1:
        return "what is written there cannot be cast in the source"
    how = "asarray" if scalars.pop() else "astype"
    if any(s.wrapped for s in concerned):
        how = "wrapped"
    dtype = wanted.pop()
    lossy = "" if how != "astype" else f"the value is cast to {dtype.name}, as it is in the run"
    extent, name = places.extent(operands[1]), _name(concerned[0], node)
    return (Wrap(extent, dtype, how, name=name, outer=True),), lossy and ""


def _operation(port: Port, places: Places, node: Any, concerned: list[Seen], group: Any) -> Found:
    operands = places.operands(node, concerned[0])
    every = list(dict.fromkeys(s.asked for s in group))
    needing = list(dict.fromkeys(s.asked for s in concerned))
    alike = not any(s.answers for s in concerned)
    name, shared = _name(concerned[0], node), places.shared(node, concerned[0])
    for form in _forms(node, needing[0].form):
        first, *others = (each._replace(form=form) for each in (needing[0], *every))
        for fix in common_fixes(port.run, port.policies, first, alike=alike):
            if not all(holds(port.run, port.policies, o, fix) for o in others if o != first):
                continue
            if (shared | _mixed(every)) & {*dict(fix.casts)}:
                continue
            wraps = _wraps(places, node, operands, fix, concerned, name, form)
            if wraps is not None:
                return wraps, lost(port.run, port.policies, first, fix)
    if shared:
        return f"a cast would change another comparison, too: write {_apart(node)}"
    if len(every) > 1:
        return _by_dtype(port, places, node, operands, every, needing, name)
    if alike:
        return "it computes with other numbers, or by another kernel, and no cast changes that"
    if not operands:
        return "its operands cannot be told apart in the source"
    reasons = [why for s in concerned for why in s.reasons.values()]
    return "; ".join(["no cast gives the same dtype", *dict.fromkeys(reasons)])


def _mixed(every: list[Asked]) -> set[int]:
    """The operands that are arrays in one pass and Python scalars in another."""
    scalar = (tuple(o.rank is Rank.SCALAR for o in asked.operands) for asked in every)
    ranks = zip(*scalar, strict=False)
    return {index for index, each in enumerate(ranks) if len({*each}) > 1}


def _inside(seen: Seen) -> str:
    """Why what a library does is not edited, and what to write for parameters of its modules."""
    why = "it is carried out inside of a library"
    if seen.asked.name == DEFAULT_DTYPE and seen.framework in MODULES:
        why += f": write {default_named(seen.framework, seen.results[0].name)} before it"
    return why


def _apart(node: ast.Compare) -> str:
    """The comparisons of a chain one by one."""
    values = [node.left, *node.comparators]
    pairs = zip(values, node.ops, node.comparators, strict=False)
    return " and ".join(ast.unparse(ast.Compare(a, [op], [b])) for a, op, b in pairs)


def _forms(node: Any, form: Form) -> tuple[Form, ...]:
    """How an operation may be written: ``x -= y`` as ``x = x - y``, where that does no harm."""
    rebinds = isinstance(node, ast.AugAssign) and _simple(node.target)
    return (form, Form.OPERATOR) if rebinds and form is Form.INPLACE else (form,)


def _wraps(
    places: Places,
    node: Any,
    operands: list[Any],
    fix: Fix,
    seen: list[Seen],
    name: str,
    form: Form,
) -> tuple[Wrap, ...] | None:
    """The casts of a fix, or None if its operands are not in the source."""
    wraps = []
    augmented = isinstance(node, ast.AugAssign)
    rebinds = augmented and bool(fix.result or 0 in dict(fix.casts))
    if rebinds and (form is Form.INPLACE or not _simple(node.target)):
        return None
    for index, dtype in fix.casts:
        if index >= len(operands):
            return None
        if augmented and index == 0:
            wraps.append(Wrap(places.extent(node), dtype, "target", name=name))
            continue
        how = ("row" if fix.rows else "asarray") if index in fix.scalars else "astype"
        if any(index in s.wrapped for s in seen):
            how = "wrapped"
        wraps.append(Wrap(places.extent(operands[index]), dtype, how, name=name, outer=True))
    if fix.result:
        how = "result" if augmented else "astype"
        wraps.append(Wrap(places.extent(node), fix.result, how, name=name))
    return tuple(wraps)


def _by_dtype(
    port: Port,
    places: Places,
    node: Any,
    operands: list[Any],
    every: list[Asked],
    needing: list[Asked],
    name: str,
) -> Found:
    """Casts of arrays of some dtypes only, where a line is passed with several."""
    casts: dict[int, dict[DType, DType]] = {}
    kept: dict[int, set[DType]] = {}
    for asked in every:
        fixes = common_fixes(port.run, port.policies, asked) if asked in needing else iter(())
        fix = next(fixes, Fix())
        if fix.result or fix.scalars or (asked in needing and not fix.casts):
            return "it is passed with several dtypes, and no cast is right for all of them"
        chosen = dict(fix.casts)
        for index, operand in enumerate(asked.operands):
            if index not in chosen:
                kept.setdefault(index, set()).add(operand.type)
            elif (
                casts.setdefault(index, {}).setdefault(operand.type, chosen[index])
                is not chosen[index]
            ):
                return "it is passed with several dtypes, which need casts of their own"
    wraps = []
    for index, by_dtype in casts.items():
        mixed = any(asked.operands[index].rank is Rank.SCALAR for asked in every)
        if mixed:
            return (
                "an operand is a Python scalar in one pass and an array in another: cast the array "
                "where it is passed"
            )
        if kept.get(index, set()) & set(by_dtype) or index >= len(operands):
            return "it is passed with several dtypes, which need casts of their own"
        if not _simple(operands[index]):
            return "it is passed with several dtypes; give its operand a name first"
        if index == 0 and isinstance(node, ast.AugAssign):
            return "it is passed with several dtypes, and its target cannot be cast"
        only = tuple(by_dtype.items())
        extent = places.extent(operands[index])
        wraps.append(Wrap(extent, only[0][1], only=only, name=name, outer=True))
    return tuple(wraps), ""


def _simple(node: ast.AST) -> bool:
    """Whether an expression may be written twice."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=inner):
            return _simple(inner)
    return False


_BY_NAME: dict[str, Any] = {DEFAULT_DTYPE: _made, ASTYPE: _cast, SETITEM: _stored}


def groups(seen: Sequence[Seen]) -> Iterator[list[Seen]]:
    """Yield what was recorded of each operation of the source."""
    found: dict[tuple[Span, str], list[Seen]] = {}
    for each in seen:
        found.setdefault((each.span, each.asked.name), []).append(each)
    yield from found.values()


def is_exact(dtype: DType) -> bool:
    """Whether arithmetic in a dtype is not rounded."""
    return dtype.kind in INTEGERS or dtype.code == "b1"
