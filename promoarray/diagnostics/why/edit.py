"""Edits with which a program gets past the call that stopped it, each to be checked by a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.attempt import (
    Edit,
    as_edit,
    at_origin,
    dtype_given,
    edited,
    framework_of,
    is_left_out,
    namespace,
    operands_of,
    source_at,
    written,
)
from promoarray.diagnostics.edits.place import Wrap
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.model.failed import (
    GIVEN_BACK,
    Asked,
    Failed,
    FailedOperand,
    Limit,
    Remedy,
    Whole,
)
from promoarray.diagnostics.model.flow import (
    CAST,
    DEFAULT,
    ENTRY,
    MADE,
    RecordedOperation,
)
from promoarray.diagnostics.why.origin import Step
from promoarray.dtypes import BY_NAME, DType, Kind


def edits(failed: Failed, ways: list[list[Step]], framework: str) -> Iterator[Edit]:
    """Yield edits that may mend a failed call, the best first.

    What the program wrote down, a cast or a dtype that it names, is meant; a default or what a
    promotion widened is not, and is changed first. Where it came into being is the better place, as
    all that read the array agree then.
    """
    met: set[tuple[str, str]] = set()
    for each in _every(failed, ways, framework):
        if (each.file, each.text) not in met:
            met.add((each.file, each.text))
            yield each


def _every(failed: Failed, ways: list[list[Step]], framework: str) -> Iterator[Edit]:
    limit = failed.limit and _with_limit(failed, failed.limit, framework)
    of_integers = failed.limit is not None and type(failed.limit.low) is int
    if limit and not of_integers:  # -1e9 stands for the least number there is; 300 is meant
        yield limit
    if failed.asked is not None and (found := _with_asked(failed, failed.asked, framework)):
        yield found
    if failed.whole is not None:
        yield from _with_number(failed, failed.whole, framework)
    remedies = best_first(failed, ways, framework)
    for remedy in remedies:
        # What keeps every value comes before a cast that may not.
        lossy = any(_loses(failed.operands[n], dtype) for n, dtype in remedy)
        meant = any(failed.operands[n].written and _is_meant(ways[n]) for n, _ in remedy)
        if remedy is not remedies[0] or lossy or meant:
            yield from _out_of_place(failed)
        for each in _edits_of(remedy, failed, ways, framework):
            yield replace(each, loses=lossy)
    if remedies:
        yield from _out_of_place(failed)
    if limit and of_integers:
        yield limit


def best_first(failed: Failed, ways: list[list[Step]], framework: str) -> list[Remedy]:
    """Return the changes of dtypes with which a call runs, those first that lose the least."""
    return sorted(failed.remedies, key=lambda each: _cost(each, failed, ways, framework))


def _out_of_place(failed: Failed) -> Iterator[Edit]:
    """Write ``x = x + y`` for ``x += y``, which makes an array of the dtype that it has."""
    source = source_at(failed.program)
    extent: Any = failed.program.extent
    for node in source.at(extent) if source else []:
        if source is None or not isinstance(node, ast.AugAssign):
            continue
        if isinstance(node.target, (ast.Name, ast.Attribute)):
            (start, end), target = source.extent(node), source.quoted(node.target)
            value = source.quoted(node.value)
            if not isinstance(node.value, (ast.Name, ast.Attribute, ast.Call, ast.Constant)):
                value = f"({value})"
            symbol = source.text[source.extent(node.target)[1] : end].split("=")[0].strip()
            new = f"{target} = {target} {symbol} {value}"
            yield as_edit(source, failed.program, source.text[:start] + new + source.text[end:])


def _with_limit(failed: Failed, limit: Limit, framework: str) -> Edit | None:
    """Write the end of a dtype's range for a number beyond it, where the line has that number."""
    source = source_at(failed.program)
    extent: Any = failed.program.extent
    nodes = source.at(extent) if source else []
    for node in (inner for each in nodes[:1] for inner in ast.walk(each)):
        if source is not None and _value(node) == limit.number:
            name, dtype = namespace(source, node, framework), BY_NAME[limit.dtype]
            about = "finfo" if dtype.kind is Kind.FLOAT else "iinfo"
            text = f"{name}.{about}({name}.{limit.dtype}).{limit.end}"
            wrap = Wrap(node, dtype, "retyped", text=text, name=name)
            return edited(source, failed.program, [wrap], framework)
    return None


def _with_asked(failed: Failed, asked: Asked, framework: str) -> Edit | None:
    """Write another dtype where one is asked for that is refused."""
    source = source_at(failed.program)
    extent: Any = failed.program.extent
    calls = [x for x in source.at(extent) if isinstance(x, ast.Call)] if source else []
    for call in calls[:1]:
        given = [*call.args, *(word.value for word in call.keywords)]
        known = next((x for x in given if ast.unparse(x) in asked.names), dtype_given(call))
        if source is not None and known is not None:
            return written(source, failed.program, [("retyped", known)], asked.dtype, framework)
    return None


def _with_number(failed: Failed, whole: Whole, framework: str) -> Iterator[Edit]:
    """Write a Python number of the other kind: for a float the quotient of integers, or ``int``."""
    other = int if type(whole.number) is float else float
    source = source_at(failed.program)
    if source is None:
        return
    extent: Any = failed.program.extent
    if whole.dtype:
        called = (each for each in source.at(extent) if isinstance(each, ast.expr))
        given = [x for each in called for x in operands_of(each, source)]
        numbers = whole.number, *whole.others
        nodes = [x for x in given if _value(x) in numbers or ast.unparse(x) in whole.names]
        wraps: list[_Change] = [("asarray", node, None) for node in nodes]
        if wraps and (found := _with_dtype(source, failed.program, wraps, whole.dtype, framework)):
            yield found
        return
    numbers = whole.number, *whole.others
    changes = []
    for node in (inner for each in source.at(extent)[:1] for inner in ast.walk(each)):
        match node:
            case ast.BinOp(op=ast.Div(), left=left, right=right) if other is int:
                text = f"{source.quoted(left)} // {source.quoted(right)}"
            case ast.Constant() | ast.UnaryOp() if any(_same(_value(node), x) for x in numbers):
                text = str(other(_value(node)))
            case ast.Name(id=name) if name in whole.names:
                text = f"{other.__name__}({name})"
            case _:
                continue
        changes.append(Wrap(node, BY_NAME["int64"], "retyped", text=text, name=""))
    for some in [changes] if whole.others else ([each] for each in changes):
        if some and (found := edited(source, failed.program, some, framework)):
            yield found


def _same(value: Any, number: float) -> bool:
    return type(value) is type(number) and bool(value == number)


def _value(node: ast.AST) -> Any:
    """The number that an expression is; None of any other."""
    match node:
        case ast.Constant(value=int() | float() as value) if type(value) is not bool:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return None


def _cost(
    remedy: Remedy, failed: Failed, ways: list[list[Step]], framework: str
) -> tuple[int, ...]:
    """How much of what is meant a remedy changes, and how many values it may lose."""
    lossy = sum(_loses(failed.operands[n], dtype) for n, dtype in remedy)
    written = sum(failed.operands[n].written for n, _ in remedy)
    meant = sum(_is_meant(ways[n]) for n, _ in remedy)
    # Each framework's default float is the other's surprise, which spreads; not what is named.
    named = {x.dtype for x, way in zip(failed.operands, ways, strict=True) if _is_named(way)}
    surprise = _UNUSUAL.get(framework, "float64")
    unusual = sum(dtype == surprise and dtype not in named for _, dtype in remedy)
    unusual += sum(2 * dtype.startswith("complex") for _, dtype in remedy)
    digits = sum(_narrows(failed.operands[n].dtype, dtype) for n, dtype in remedy)
    returned = sum(failed.operands[n].role == GIVEN_BACK for n, _ in remedy)
    rest = unusual, digits, returned, len(remedy), failed.remedies.index(remedy)
    return lossy + written, meant, lossy, *rest


_UNUSUAL = {"numpy": "float32"}


def _is_meant(way: list[Step]) -> bool:
    """Whether the program has named the dtype, or has it from outside."""
    if not way:
        return True
    made = way[-1].made
    return not is_left_out(made) and (made.kind in (CAST, ENTRY) or _is_named(way))


def _is_named(way: list[Step]) -> bool:
    """Whether an array is made in a dtype that the program names."""
    made = way[-1].made if way else None
    named = made is not None and made.kind == MADE and bool(made.options.get("named"))
    return named and not is_left_out(way[-1].made)


def _narrows(own: str, target: str) -> bool:
    """Whether a dtype of the same kind has fewer bits."""
    a, b = BY_NAME.get(own), BY_NAME.get(target)
    return a is not None and b is not None and a.kind is b.kind and 0 < b.bits < a.bits


def _loses(operand: FailedOperand, target: str) -> int:
    """How far a cast gives up a fraction, a sign or more: floats to integers, any to bool.

    A mask of floats is another thing, which is added.
    """
    if operand.dtype == "object":  # of whatever numbers
        return target not in ("float64", "complex128")
    if operand.dtype.startswith(("datetime64", "timedelta64")):
        return 2
    order = {Kind.BOOL: 0, Kind.UINT: 1, Kind.INT: 1, Kind.FLOAT: 2, Kind.COMPLEX: 3}
    known = [BY_NAME.get(name) for name in (operand.dtype, target)]
    kinds = [order.get(each.kind, 0) if each else 0 for each in known]
    if operand.keyword.endswith("mask") and kinds[0] == 1:
        return kinds[1] == 2
    return kinds[1] < kinds[0]


def _edits_of(
    remedy: Remedy, failed: Failed, ways: list[list[Step]], framework: str
) -> Iterator[Edit]:
    at_origin = _where_made(remedy, ways, framework)
    at_stop = _where_it_stopped(remedy, failed, ways, framework)
    # Other lines may rely on a dtype that is meant, or on the fractions that a cast gives up.
    kept = any(_is_meant(ways[n]) or _passes_on(failed.operands[n], ways[n], d) for n, d in remedy)
    n = remedy[0][0]
    if failed.operands[n].role == GIVEN_BACK:  # a cast or dtype stands in the function
        kept = not ways[n] or ways[n][-1].made.kind not in (CAST, MADE, DEFAULT)
    yield from (*at_stop, *at_origin) if kept else (*at_origin, *at_stop)


def _passes_on(operand: FailedOperand, way: list[Step], target: str) -> bool:
    """Whether lines between read what a cast to another dtype gives up."""
    return len(way) > 1 and bool(_loses(operand, target))


def _where_made(remedy: Remedy, ways: list[list[Step]], framework: str) -> Iterator[Edit]:
    """Another dtype where all operands of a remedy are made, as by a module of a library."""
    (n, dtype), *others = remedy
    for step in reversed([step for step in ways[n] if step.ends]):
        site = step.made.place.program
        made_there = all(
            other == dtype and any(x.ends and x.made.place.program == site for x in ways[m])
            for m, other in others
        )
        own = framework_of(step.made, dtype, framework)
        for how, node, source in at_origin(step.made) if made_there else ():
            if others and how == "astype":
                continue  # of one of them
            if found := _with_dtype(source, site, [(how, node, step.made)], dtype, own):
                yield found
    if others and (found := _where_each_is_made(remedy, ways, framework)):
        yield found


def _where_each_is_made(remedy: Remedy, ways: list[list[Step]], framework: str) -> Edit | None:
    """Another dtype at each of the places of one file where operands are made."""
    ends = [[step.made for step in ways[n] if step.ends][-1:] for n, _ in remedy]
    places = [next(at_origin(each), None) for some in ends for each in some]
    found = [each for each in places if each is not None]
    dtype = remedy[0][1]
    owns = {framework_of(each, dtype, framework) for some in ends for each in some}
    alike = {d for _, d in remedy} == {dtype} and len({source for *_, source in found}) == 1
    if len(found) < len(remedy) or not alike or len(owns) > 1:
        return None
    every = [(how, node, made) for (how, node, _), (made,) in zip(found, ends, strict=True)]
    return _with_dtype(found[0][2], ends[0][0].place.program, every, dtype, owns.pop())


_Change = tuple[str, Any, RecordedOperation | None]
"""How an expression gets another dtype, the expression, and what made it, if that is known."""


def _with_dtype(
    source: SourceText, site: Site, changes: Sequence[_Change], dtype: str, framework: str
) -> Edit | None:
    name = namespace(source, changes[0][1], framework)
    if BY_NAME[dtype].weak and not all(_is_number(node) for _, node, _ in changes):
        return None
    wraps = [
        _recast(source, node, made, BY_NAME[dtype], name)
        or Wrap(node, BY_NAME[dtype], how, name=name)
        for how, node, made in changes
    ]
    return edited(source, site, wraps, framework)


def _recast(
    source: SourceText, node: Any, made: RecordedOperation | None, dtype: DType, name: str
) -> Wrap | None:
    """Write another cast in the place of ``x.double()``, or none if ``x`` has the dtype."""
    if dtype.weak:  # what a Python number is taken for
        text = repr(_PYTHON[dtype.kind](ast.literal_eval(node)))
        return Wrap(node, dtype, "retyped", text=text, name="")
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=attr), args=[], keywords=[]):
            if made is None or made.kind != CAST or attr not in _CASTS:
                return None
            before = [each.code for each in made.operands] == [dtype.code]
            cast = "" if before else f".to({name}.{dtype.name})"
            text = source.quoted(owner) + cast
            return Wrap(node, dtype, "retyped", text=text, name="" if before else name)
        case ast.Call(func=ast.Attribute(value=owner, attr="to" | "astype" as attr)):
            if made is None or made.kind != CAST or dtype.name == "bool" or len(node.args) != 1:
                return None
            cast = "astype" if attr == "astype" else "to"
            text = f"{source.quoted(owner)}.{cast}({name}.{dtype.name})"
            return Wrap(node, dtype, "retyped", text=text, name=name) if not node.keywords else None
    return None


_PYTHON = {Kind.INT: int, Kind.FLOAT: float, Kind.COMPLEX: complex}

_CASTS = frozenset(
    {"double", "float", "half", "bfloat16", "long", "int", "short", "char", "bool", "cfloat"}
)
"""The methods of PyTorch that cast."""


def _where_it_stopped(
    remedy: Remedy, failed: Failed, ways: list[list[Step]], framework: str
) -> Iterator[Edit]:
    source = source_at(failed.program)
    if source is None or any(failed.operands[n].written for n, _ in remedy):
        return
    if len({dtype for _, dtype in remedy}) != 1:
        return
    firsts = [ways[n][0].made if ways[n] else None for n, _ in remedy]
    for which in range(max(len(failed.operands[n].returned) or 1 for n, _ in remedy)):
        nodes = [_at_stop(source, failed, n, which) for n, _ in remedy]
        if all(nodes):
            hows = ["asarray" if _is_number(node) else "astype" for node in nodes]
            every = [*zip(hows, nodes, firsts, strict=True)]
            if found := _with_dtype(source, failed.program, every, remedy[0][1], framework):
                yield found


def _is_made(node: ast.AST) -> bool:
    """Whether an argument is computed there: no variable, number or function."""
    return not (isinstance(node, (ast.Name, ast.Attribute, ast.Lambda)) or _is_number(node))


def _is_number(node: ast.AST) -> bool:
    """Whether an argument is a number as it stands there, ``float("-inf")`` among them."""
    match node:
        case ast.Call(func=ast.Name(id="float" | "int"), args=[ast.Constant()]):
            return True
    return _value(node) is not None


def _returned(source: SourceText, failed: Failed, operand: FailedOperand, place: int) -> Any:
    """The expression that a function gives back in one of its places; None if none is known."""
    which, count = operand.part
    for site in operand.returned[place : place + 1]:
        extent: Any = site.extent
        nodes = source.at(extent) if site.file == failed.program.file else []
        parts = [each for node in nodes[:1] for each in _parts(node)]
        if len(parts) == count:
            return parts[which]
    return None


def _parts(node: Any, *, by_key: bool = True) -> list[Any]:
    """The expressions in a tuple, list or dict, and those in them; JAX has a dict's by key."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            pass
        case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
            named = {ast.unparse(k): x for k, x in zip(keys, values, strict=True) if k}
            parts = [named[key] for key in (sorted(named) if by_key else named)]
        case ast.Constant(value=None):
            return []
        case _:
            return [node]
    return [x for each in parts for x in _parts(each, by_key=by_key)]


def _at_stop(source: SourceText, failed: Failed, n: int, place: int) -> Any:
    """The expression of the failed call that is one of its operands; None if none is known."""
    if failed.operands[n].role == GIVEN_BACK:
        return _returned(source, failed, failed.operands[n], place)
    extent: Any = failed.program.extent
    nodes = [each for each in source.at(extent) if isinstance(each, ast.expr)]
    names = failed.operands[n].names
    stores = any(isinstance(getattr(each, "ctx", None), ast.Store) for each in nodes[:1])
    if stores and n == len(failed.operands) - 1:  # the extent is the target's
        whole = (each for each in ast.walk(source.tree) if isinstance(each, ast.Assign))
        return next((each.value for each in whole if each.targets == nodes[:1]), None)
    for node in nodes[:1]:
        inner = [each for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute))]
        found = next((each for each in inner if ast.unparse(each) in names), None)
        if found is not None and found is not getattr(node, "func", None):
            return found
        given = operands_of(node, source)
        if isinstance(node, ast.Subscript) and failed.operands[n].source is None:
            keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            given = [node.value, *(x for x in keys if not isinstance(x, ast.Slice))]
        given = [x for each in given for x in _parts(each, by_key=False)]
        if len(given) > len(failed.arguments):
            given = [each for each in given if not _is_number(each)]
        if failed.site == failed.program and n < len(given) == len(failed.arguments):
            return given[n]
        nameless = [i for i, each in enumerate(failed.arguments) if not each.names]
        unnamed = [] if isinstance(node, ast.BinOp) else [x for x in given if _is_made(x)]
        if nameless == [n] and len(unnamed) == 1:
            return unnamed[0]  # the parameters of a module have names, and so have functions
    return None
