"""The edit of one operation of the source, valid for every pass through it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from promoarray.diagnostics.edits.answers import fits, holds, lost
from promoarray.diagnostics.edits.by_dtype import RESULT, Rules, by_dtype
from promoarray.diagnostics.edits.candidates import Candidate, candidates
from promoarray.diagnostics.edits.occurrence import (
    ASTYPE,
    DEFAULT_DTYPE,
    SETITEM,
    Asked,
    Occurrence,
    Span,
    grouped,
)
from promoarray.diagnostics.edits.source import (
    SourceText,
    called_name,
    cast_dtype,
    is_fold,
    is_simple,
    number_text,
    symbol_of,
)
from promoarray.diagnostics.edits.spelling import SPELLINGS, Spelling
from promoarray.diagnostics.edits.writing import Wrap, Writer, dtype_argument, spliced
from promoarray.dtypes import BY_NAME, INTEGERS, WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.plan import Rank
from promoarray.promotion.policy import Policy


class Change(NamedTuple):
    """A text to put in the place of another: offsets in the file's text, in characters."""

    start: int
    end: int
    text: str


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
    text : str
        The expression, or the statement where that is edited, with the casts; all else as it is.
    changes : tuple of Change
        The same for the file.
    """

    span: Span
    operation: str
    wraps: tuple[Wrap, ...]
    policies: tuple[str, ...]
    lossy: str = ""
    optional: bool = False
    text: str = ""
    changes: tuple[Change, ...] = ()

    @property
    def rebinds(self) -> bool:
        """Whether it makes another array where the program writes into one: ``x = x - y``."""
        return any(wrap.how in ("result", "target") for wrap in self.wraps)


class NoEdit(NamedTuple):
    """An operation that is not edited, and why."""

    span: Span
    operation: str
    policies: tuple[str, ...]
    why: str
    optional: bool = False


class Port(NamedTuple):
    """From which policy to which others.

    Attributes
    ----------
    run : Policy
    policies : tuple of Policy
    proved : bool
        Whether the edited program is run, which finds what an edit changes by another name.
    """

    run: Policy
    policies: tuple[Policy, ...]
    proved: bool = False


class _Unedited(Exception):
    """Why an operation has no edit."""


@dataclass
class _Place:
    """One operation of the source, with all passes through it.

    Attributes
    ----------
    port : Port
    source : SourceText
    node : ast.AST
    group : sequence of Occurrence
    concerned : list of Occurrence
        Those for which some policy answers otherwise.
    """

    port: Port
    source: SourceText
    node: Any
    group: Sequence[Occurrence]
    concerned: list[Occurrence]

    def __post_init__(self) -> None:
        first = self.concerned[0]
        self.words: Spelling = SPELLINGS[first.framework]
        used = [
            n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id in first.names
        ]
        self.name: str = next(iter((*used, *first.names)), "")
        self.every = list(dict.fromkeys(s.asked for s in self.group))
        self.needing = list(dict.fromkeys(s.asked for s in self.concerned))
        self.operands: list[Any] = self.source.operands(self.node, first)

    @property
    def wanted(self) -> set[DType]:
        """The dtypes that the run gave."""
        return {asked.wanted for asked in self.every}

    def wrap(self, node: Any, dtype: DType, how: str = "astype", **more: Any) -> Wrap:
        return Wrap(node, dtype, how, name=self.name, **more)

    def operand(self, index: int) -> Any:
        """An operand as the source has it; None if it stands nowhere."""
        return self.operands[index] if index < len(self.operands) else None

    def ranks(self, index: int) -> set[Rank]:
        return {asked.operands[index].rank for asked in self.every}


Found = tuple[tuple[Wrap, ...], str]
"""Casts, and what they lose."""


def plan(port: Port, source: SourceText, group: Sequence[Occurrence]) -> Edit | NoEdit | None:
    """Find the edit of one operation of the source, for all operands it was passed with.

    Parameters
    ----------
    port : Port
    source : SourceText
        The file.
    group : sequence of Occurrence
        The passes that are not alike, those at which all policies agree among them.

    Returns
    -------
    Edit, NoEdit or None
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
    node = source.node(first)
    if why := _not_in_the_source(source, first, node):
        return NoEdit(*at, why, optional)
    place = _Place(port, source, node, group, concerned)
    try:
        wraps, lossy = _BY_NAME.get(first.asked.name, _operation)(place)
        if _cast_already(place, wraps):
            return None
        text, changes = _written(place, wraps)
    except _Unedited as why_not:
        return NoEdit(*at, str(why_not), optional)
    return Edit(*at[:2], wraps, policies, lossy, optional, text, changes)


def _not_in_the_source(source: SourceText, first: Occurrence, node: Any) -> str:
    if first.inside:
        why = "it is carried out inside of a library"
        named = SPELLINGS[first.framework].default_of(first.results[0])
        if first.asked.name == DEFAULT_DTYPE and named:
            why += f": write {named} before it"
        return why
    if node is None:
        several = "it is one of several operations of what the source calls"
        return several if first.edited else "it is a part of what is called there"
    return "its source is printed: f'{...=}'" if source.in_debug_text(node) else ""


def _cast_already(place: _Place, wraps: tuple[Wrap, ...]) -> bool:
    """Whether the program casts the result itself."""
    if not place.concerned[0].framework or len(wraps) != 1 or wraps[0].how != "astype":
        return False
    same = wraps[0].node is place.node
    return same and cast_dtype(place.source, place.node) == wraps[0].dtype.name


def _written(place: _Place, wraps: tuple[Wrap, ...]) -> tuple[str, tuple[Change, ...]]:
    """The edited expression, and the same as changes of the text."""
    source, node = place.source, place.node
    pieces = Writer(source, place.words).pieces(wraps)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        node = source.statement(node)
    start, end = source.extent(node)
    if pieces:
        start, end = min(start, pieces[0].start), max(end, *(p.end for p in pieces))
    text = spliced(source.text, pieces, start, end)
    try:
        ast.parse(text if isinstance(node, ast.stmt) else f"({text}\n)")
    except (SyntaxError, ValueError) as error:
        raise _Unedited("its source is written in a way that a cast cannot be put in") from error
    return text, tuple(Change(p.start, p.end, p.text) for p in pieces)


# -- what is no operation -------------------------------------------------------------------------


def _made(place: _Place) -> Found:
    """The dtype to ask for where an array is made of Python numbers."""
    if len(place.wanted) > 1:
        raise _Unedited("it makes arrays of several dtypes")
    (dtype,) = place.wanted
    if without := [p.name for p in place.port.policies if dtype not in p.dtypes]:
        raise _Unedited(f"{', '.join(without)} has no {dtype.name}")
    node, words = place.node, place.words
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        raise _Unedited("it makes several arrays")
    takes = isinstance(node, ast.Call) and (not words.typed or called_name(node) in words.typed)
    return (place.wrap(node, dtype, "dtype" if takes else "astype"),), ""


def _cast(place: _Place) -> Found:
    """A cast by way of another dtype, where policies make other values of an explicit cast."""
    concerned, node = place.concerned, place.node
    if refused := [s for s in concerned if s.reasons]:
        raise _Unedited(next(iter(refused[0].reasons.values())))
    routes = [r for r in concerned[0].routes if all(r in s.routes for s in concerned)]
    words = "; ".join(f"{name}: {said}" for s in concerned for name, said in s.values.items())
    if not routes:
        raise _Unedited(f"no cast gives the same values ({words})")
    if len({s.asked.operands[0].type for s in place.group}) > 1:
        raise _Unedited(f"it casts arrays of several dtypes ({words})")
    inner = cast_operand(node, {*place.source.modules, *concerned[0].names, "xp"})
    if inner is None:
        raise _Unedited("its operand cannot be told")
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


def _stored(place: _Place) -> Found:
    """A cast of what is written into an array, or of the array that numbers are stored in."""
    node, concerned = place.node, place.concerned
    if isinstance(node, ast.Call) and (dtype_argument(node) or _is_scalar_type(node, place)):
        return (place.wrap(node, concerned[0].asked.wanted, "stored"),), ""
    target, value = _stored_in(place)
    scalars = {s.asked.operands[1].rank is Rank.SCALAR for s in place.group}
    if value is None or len(scalars) > 1:
        raise _Unedited("what is written there cannot be cast in the source")
    how = "asarray" if scalars.pop() else "astype"
    how = "wrapped" if any(s.wrapped for s in concerned) else how
    text = ""
    if len(place.wanted) > 1 or isinstance(node, ast.Call):
        if not is_simple(target):
            raise _Unedited("it writes to arrays of several dtypes; give its target a name first")
        text = f"{place.source.quoted(target)}.dtype"
    return (place.wrap(value, concerned[0].asked.wanted, how, text=text, outer=True),), ""


def _is_scalar_type(call: ast.Call, place: _Place) -> bool:
    """Whether a call is ``np.uint8(x)``."""
    single = len(call.args) == 1 and not call.keywords
    return single and called_name(call) in _SCALAR_TYPES and bool(place.name)


_SCALAR_TYPES = {*(name for name, row in BY_NAME.items() if row.kind in INTEGERS)}
_SCALAR_TYPES |= {"ubyte", "byte", "ushort", "short", "uintc", "intc", "uint", "int_"}
_SCALAR_TYPES |= {"ulonglong", "longlong", "uintp", "intp"}


def _stored_in(place: _Place) -> tuple[Any, Any]:
    """The array that is written to, and what is written, as the source has them."""
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


# -- operations -----------------------------------------------------------------------------------


def _operation(place: _Place) -> Found:
    """Numbers that fit, casts of operands, or of the result."""
    if (found := _of_bools(place)) is not None:
        return found
    shared = place.source.shared(place.node, place.concerned[0])
    alike = not any(s.answers for s in place.concerned)
    numbers = _numbers(place, shared)
    for form in _forms(place, place.needing[0].form):
        asked, *every = (e._replace(form=form) for e in (place.needing[0], *place.every))
        port = place.port
        for found_one in candidates(port.run, port.policies, asked, numbers, alike=alike):
            casts = dict(found_one.casts)
            guarded = _guarded(place, casts)
            if shared & {*casts} or not _hold(place, asked, every, found_one, guarded):
                continue
            wraps = _wraps(place, found_one, form, guarded)
            if wraps is not None:
                return wraps, lost(port.run, port.policies, asked, casts, found_one.result)
    if shared:
        raise _Unedited(
            f"a cast would change another comparison, too: write {_apart(place.source, place.node)}"
        )
    if len(place.every) > 1:
        rules = by_dtype(place.port.run, place.port.policies, place.every, place.needing)
        return _conditional(place, rules), ""
    if alike:
        raise _Unedited(
            "it computes with other numbers, or by another kernel, and no cast changes that"
        )
    if not place.operands:
        raise _Unedited("its operands cannot be told apart in the source")
    reasons = [why for s in place.concerned for why in s.reasons.values()]
    raise _Unedited("; ".join(["no cast gives the same dtype", *dict.fromkeys(reasons)]))


def _hold(
    place: _Place,
    first: Asked,
    every: Iterable[Asked],
    found: Candidate,
    guarded: Mapping[int, str],
) -> bool:
    """Whether casts are right for every pass; of what is guarded Python numbers stay."""
    run, policies, _ = place.port
    types = [o.type for o in first.operands]
    wrapped = {index for seen in place.concerned for index in seen.wrapped}
    for asked in every:
        if any(i not in wrapped and not fits(asked.operands[i], to) for i, to in found.casts):
            return False
        casts = {
            i: to
            for i, to in found.casts
            if not (guarded.get(i) == "guarded" and asked.operands[i].rank is Rank.SCALAR)
        }
        alike = types == [o.type for o in asked.operands]
        if not holds(run, policies, asked, casts, found.result, rows=found.rows, lossy=alike):
            return False
    return True


def _guarded(place: _Place, casts: Mapping[int, DType]) -> dict[int, str]:
    """The operands that are arrays in one pass and Python numbers in another, and what to write."""
    found = {}
    for index, to in casts.items():
        node = place.operand(index)
        if node is None or to.weak:
            continue
        ranks = place.ranks(index)
        if len(ranks) > 1 and Rank.SCALAR in ranks:
            numbers = {a.operands[index].type for a in place.every if index in a.scalars}
            stays = all(
                holds(place.port.run, place.port.policies, a, {})
                for a in place.every
                if index in a.scalars
            )
            found[index] = "guarded" if stays and is_simple(node) and numbers else "either"
        elif ranks != {Rank.SCALAR} and place.source.may_be_number(node):
            found[index] = "guarded"
    return found


def _of_bools(place: _Place) -> Found | None:
    """``a & b`` for ``a * b`` of truth values, which not every framework multiplies."""
    node = place.node
    name, symbol = _OF_BOOLS.get(place.needing[0].name, ("", ""))
    if not symbol or not isinstance(node, ast.BinOp) or not symbol_of(node.op):
        return None
    if any(o.type.code != "b1" for asked in place.every for o in asked.operands):
        return None
    run, policies, _ = place.port
    if not all(holds(run, policies, asked._replace(name=name), {}) for asked in place.every):
        return None
    return (place.wrap(node, place.needing[0].wanted, "operator", text=symbol),), ""


_OF_BOOLS = {"multiply": ("bitwise_and", "&"), "add": ("bitwise_or", "|")}


def _numbers(place: _Place, shared: set[int]) -> dict[int, DType]:
    """The operands that may be written as a Python number, and of which type.

    A literal int as a float, and a NumPy scalar as the number that it is.
    """
    found: dict[int, DType] = {}
    for index, node in enumerate(place.operands):
        known = node and all(index < len(asked.operands) for asked in place.every)
        target = index == 0 and isinstance(place.node, ast.AugAssign)
        if index in shared or not known or target or is_fold(place.node):
            continue
        ranks, types = place.ranks(index), {asked.operands[index].type for asked in place.every}
        literal = type(number_text(node)) is int and place.source.quoted(node)[-1:].isdecimal()
        if literal and ranks == {Rank.SCALAR} and not place.source.quoted(node).startswith("0x"):
            found[index] = WEAK[float]
        elif ranks == {Rank.ZERO_D} and place.words.scalars and not _is_constructor(node):
            kinds = {_PYTHON.get(dtype.kind.name) for dtype in types}
            kind = kinds.pop()
            if kind is not None and not kinds:
                found[index] = WEAK[kind]
    return found


_PYTHON: dict[str, Any] = {
    "BOOL": bool,
    "INT": int,
    "UINT": int,
    "FLOAT": float,
    "COMPLEX": complex,
}
"""From kinds of dtypes to Python's types that hold the same numbers."""


def _is_constructor(node: ast.AST) -> bool:
    """Whether an expression names the dtype of its scalar: ``np.float64(0.5)``."""
    return isinstance(node, ast.Call) and called_name(node) in {*BY_NAME, "float_", "half"}


def _forms(place: _Place, form: Form) -> tuple[Form, ...]:
    """How an operation may be written: ``x -= y`` as ``x = x - y``, where that does no harm."""
    node = place.node
    if (
        form is not Form.INPLACE
        or not isinstance(node, ast.AugAssign)
        or not is_simple(node.target)
    ):
        return (form,)
    own = place.port.proved or is_own(place.source, node.target)
    return (form, Form.OPERATOR) if own else (form,)


def is_own(source: SourceText, name: ast.AST) -> bool:
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
    place: _Place, found: Candidate, form: Form, guarded: Mapping[int, str]
) -> tuple[Wrap, ...] | None:
    """The casts of a candidate, or None if its operands are not in the source."""
    node, wraps = place.node, []
    augmented = isinstance(node, ast.AugAssign)
    rebinds = augmented and bool(found.result or 0 in dict(found.casts))
    if rebinds and (form is Form.INPLACE or not is_simple(node.target)):
        return None
    for index, dtype in found.casts:
        if (operand := place.operand(index)) is None:
            return None
        if augmented and index == 0:
            wraps.append(place.wrap(node, dtype, "target", operand=0))
        elif (how := guarded.get(index)) is not None:
            if not is_simple(operand):
                return None
            wraps.append(place.wrap(operand, dtype, how, outer=True, operand=index))
        else:
            wrap = _of_operand(place, operand, index, dtype, rows=found.rows)
            wraps.append(wrap._replace(operand=index))
    if found.result:
        wraps.append(place.wrap(node, found.result, "result" if augmented else "astype"))
    if any(w.how != "guarded" for w in wraps) and place.source.may_be_number(node):
        return None  # which Python computes in another pass
    return tuple(wraps)


def _of_operand(place: _Place, node: Any, index: int, dtype: DType, *, rows: bool) -> Wrap:
    """The cast of an operand, as it is written there."""
    if dtype.weak:
        literal = number_text(node) is not None
        how = "literal" if literal else WEAK_NAMES[dtype]
        return place.wrap(node, dtype, how, outer=True)
    if any(index in s.wrapped for s in place.concerned):
        return place.wrap(node, dtype, "wrapped", outer=True)
    if place.ranks(index) == {Rank.SCALAR} or is_fold(place.node):
        return place.wrap(node, dtype, "row" if rows else "asarray", outer=True)
    if (named := _named_dtype(place, node, index)) is not None:
        return place.wrap(named, dtype, "retyped")
    return place.wrap(node, dtype, outer=True)


WEAK_NAMES = {weak: kind.__name__ for kind, weak in WEAK.items()}


def _named_dtype(place: _Place, node: Any, index: int) -> Any:
    """The dtype in ``np.float64(3)``, if it is so written.

    The number is the same in the dtype that is there, so that a cast makes no other of it.
    """
    if not _is_constructor(node) or not place.words.scalars or not place.name:
        return None
    number = number_text(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    same = number is not None and all(a.operands[index].value == number for a in place.every)
    return node.func if same and isinstance(node.func, ast.Attribute) else None


def _apart(source: SourceText, node: ast.Compare) -> str:
    """The comparisons of a chain one by one."""
    values = [node.left, *node.comparators]
    pairs = zip(values, node.ops, node.comparators, strict=False)
    return " and ".join(
        f"{source.quoted(a)} {symbol_of(op) or '?'} {source.quoted(b)}" for a, op, b in pairs
    )


# -- a line passed with several dtypes ------------------------------------------------------------


def _conditional(place: _Place, rules: Rules | str) -> tuple[Wrap, ...]:
    """Casts of arrays of some dtypes only, where a line is passed with several."""
    if isinstance(rules, str):
        raise _Unedited(rules)
    wraps = []
    for index, rule in rules.items():
        used = {*rule.operands} | ({index} - {RESULT})
        if any(place.operand(i) is None for i in used) or is_fold(place.node):
            raise _Unedited("it is passed with several dtypes, which need casts of their own")
        numbers = {i for i in used if place.source.may_be_number(place.operands[i])}
        if numbers - {index} or (index == RESULT and place.source.may_be_number(place.node)):
            raise _Unedited("an operand is a Python number in another pass")
        if not all(is_simple(place.operands[i]) for i in used):
            raise _Unedited("it is passed with several dtypes; give its operand a name first")
        if index <= 0 and isinstance(place.node, ast.AugAssign):
            raise _Unedited("it is passed with several dtypes, and its target cannot be cast")
        texts = [place.source.quoted(operand) for operand in place.operands]
        text = rule.written(texts, lambda dtype: place.words.dtype_of(dtype, place.name or "?"))
        if "?" in text:
            raise _Unedited("it is passed with several dtypes, and the file has no name for them")
        if index == RESULT:
            wraps.append(place.wrap(place.node, rule.dtype, text=text))
            continue
        number = Rank.SCALAR in place.ranks(index) or bool(numbers)
        how = "guarded" if number else "astype"
        wrap = place.wrap(place.operands[index], rule.dtype, how, text=text, outer=True)
        wraps.append(wrap._replace(operand=index))
    return tuple(wraps)


_BY_NAME: dict[str, Callable[[_Place], Found]] = {
    DEFAULT_DTYPE: _made,
    ASTYPE: _cast,
    SETITEM: _stored,
}


def is_exact(dtype: DType) -> bool:
    """Whether arithmetic in a dtype is not rounded."""
    return dtype.kind in INTEGERS or dtype.code == "b1"


# -- of a run -------------------------------------------------------------------------------------


Place = tuple[Span, str]
"""Where an operation stands, and its name."""


def edits_of(
    run: Policy,
    policies: Sequence[Policy],
    occurrences: Iterable[Occurrence],
    files: Callable[[str], SourceText | None],
) -> dict[Place, tuple[Edit | NoEdit, ...]]:
    """Plan the edits of a run, at each operation of the source at which policies differ.

    One edit serves all policies where one can, else each has its own.

    Parameters
    ----------
    run : Policy
    policies : sequence of Policy
        Those that were compared.
    occurrences : iterable of Occurrence
        All passes, those at which policies agree among them.
    files : callable
        Answers the text of a file; None if it cannot be read.
    """
    found: dict[Place, tuple[Edit | NoEdit, ...]] = {}
    for group in grouped(occurrences):
        concerned = {name for each in group for name in each.concerned}
        if not concerned:
            continue
        span, name = group[0].place
        source = files(span.file)
        if source is None:
            names = tuple(p.name for p in policies if p.name in concerned)
            found[span, name] = (NoEdit(span, name, names, "its source cannot be read"),)
        elif planned := _planned(run, [p for p in policies if p is not run], source, group):
            found[span, name] = planned
    return found


def _planned(
    run: Policy, policies: Sequence[Policy], source: SourceText, group: Sequence[Occurrence]
) -> tuple[Edit | NoEdit, ...]:
    """One edit for all policies, or one for each of those that differ."""
    joint = plan(Port(run, tuple(policies)), source, group)
    if joint is None or isinstance(joint, Edit) or len(joint.policies) == 1:
        return () if joint is None else (joint,)
    alone: dict[str, Edit | NoEdit] = {}
    for policy in policies:
        if policy.name not in joint.policies:
            continue
        own = plan(Port(run, (policy,)), source, [_for(policy, each) for each in group])
        if own is not None:
            text = own.text if isinstance(own, Edit) else own.why
            before = alone.get(text)
            names = (*before.policies, *own.policies) if before else own.policies
            alone[text] = own._replace(policies=names)
    return tuple(alone.values())


def _for(policy: Policy, seen: Occurrence) -> Occurrence:
    """A pass as it concerns one policy."""
    name = policy.name
    return replace(
        seen,
        answers={n: x for n, x in seen.answers.items() if n == name},
        reasons={n: x for n, x in seen.reasons.items() if n == name},
        values={n: x for n, x in seen.values.items() if n == name},
        weak=tuple(n for n in seen.weak if n == name),
        computed=tuple(n for n in seen.computed if n == name),
    )
