"""The edit of one operation of the source, valid for every pass through it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.answers import Port as Port
from promoarray.diagnostics.edits.library import INSIDE, at_call
from promoarray.diagnostics.edits.occurrences import (
    ASTYPE,
    DEFAULT_DTYPE,
    ENTRY,
    SAME,
    SETITEM,
    Asked,
    Occurrence,
    Span,
    grouped,
    span_of,
)
from promoarray.diagnostics.edits.operations import (
    cast,
    entered,
    made,
    operation,
    stored,
    stored_in,
)
from promoarray.diagnostics.edits.place import SPELLINGS, Found, SourceOperation, Unedited, Wrap
from promoarray.diagnostics.edits.source import SourceText, cast_dtype, read
from promoarray.diagnostics.edits.writing import Writer, spliced
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.model.values import Number, ValueChange, limits
from promoarray.dtypes import BY_NAME, DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy

Place = tuple[Span, str]
"""Where an operation stands, and its name."""


class Edit(NamedTuple):
    """The casts of one operation."""

    span: Span
    operation: str
    policies: tuple[str, ...]  # those that it is for
    wraps: tuple[Wrap, ...]
    lossy: str = ""  # what is lost; "" if nothing
    # whether the dtypes are the same here: a policy holds an array weakly, or computes
    # otherwise
    optional: bool = False
    # the expression, or the statement where that is edited, with the casts, in one line
    text: str = ""
    imports: str = ""  # what the file has to import for it; "" if it has all names

    def __str__(self) -> str:
        return f"write {self.text}"

    @property
    def place(self) -> Place:
        """What it is of."""
        return self.span, self.operation

    @property
    def rebinds(self) -> bool:
        """Whether it makes another array where the program writes into one: ``x = x - y``."""
        return any(wrap.how in ("result", "target") for wrap in self.wraps)

    @property
    def made(self) -> DType | None:
        """The dtype that an array of Python numbers is asked for."""
        return next((w.dtype for w in self.wraps if w.how == "dtype"), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the casts as data."""
        casts = [w for w in self.wraps if w.operand is not None]
        results = [w.dtype.name for w in self.wraps if w.operand is None and w.how != "dtype"]
        return {
            "casts": [{"operand": w.operand, "dtype": w.dtype.name} for w in casts],
            "result": next(iter(results), None),
            "dtype": self.made.name if self.made else None,
        }


class NoEdit(NamedTuple):
    """An operation that is not edited, and why."""

    span: Span
    operation: str
    policies: tuple[str, ...]
    why: str
    optional: bool = False

    @property
    def place(self) -> Place:
        """What it is of."""
        return self.span, self.operation


Outcome = Edit | NoEdit


def plan(
    port: Port, source: SourceText, group: Sequence[Occurrence], flows: Sequence[Flow] = ()
) -> Outcome | None:
    """Find the edit of one operation of the source, for all operands it was passed with; None if
    all policies agree.

    ``group`` has the passes that are not alike, those at which all policies agree among them;
    ``flows`` what feeds what, of a program that was recorded.
    """
    concerned = [s for s in group if s.others]
    if not concerned:
        return None
    first = concerned[0]
    of = {name for s in concerned for name in s.others}
    policies = tuple(p.name for p in port.policies if p.name in of)
    optional = all(d.how in SAME for s in concerned for d in s.others.values())
    at = *first.place, policies
    inside = first.inside and first.asked.name not in _BY_NAME
    node = source.call(first) if inside else source.node(first)
    if why := _not_in_the_source(source, first, node):
        return NoEdit(*at, why, optional)
    place = SourceOperation(port, source, node, group, concerned)
    find = partial(at_call, flows=flows) if inside else _BY_NAME.get(first.asked.name, operation)
    try:
        wraps, lossy = find(place)
        if _cast_already(place, wraps):
            return None
        new = [piece.text.strip() for piece in Writer(source, place.words).imported(wraps)]
        return Edit(*at, wraps, lossy, optional, written(place, wraps), "".join(new))
    except Unedited as why_not:
        return NoEdit(*at, str(why_not), optional)


def _not_in_the_source(source: SourceText, first: Occurrence, node: Any) -> str:
    if first.inside and (node is None or first.asked.name in _BY_NAME):
        why = INSIDE
        named = SPELLINGS[first.framework].default_of(first.asked.wanted)
        if first.asked.name == DEFAULT_DTYPE and named:
            why += f": write {named} before it"
        return why
    if node is None:
        several = "it is one of several operations of what the source calls"
        return several if first.edited else "it is a part of what is called there"
    return "its source is printed: f'{...=}'" if source.in_debug_text(node) else ""


def _cast_already(place: SourceOperation, wraps: tuple[Wrap, ...]) -> bool:
    """Whether the program casts the result itself."""
    if not place.concerned[0].framework or len(wraps) != 1 or wraps[0].how != "astype":
        return False
    same = wraps[0].node is place.node
    return same and cast_dtype(place.source, place.node) == wraps[0].dtype.name


def written(place: SourceOperation, wraps: tuple[Wrap, ...]) -> str:
    """Return the edited expression in one line, as the source has it but for the casts;
    ``Unedited`` if it cannot be written there."""
    source, node = place.source, place.node
    pieces = Writer(source, place.words).pieces(wraps)
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        node = source.statement(node)
    start, end = source.extent(node)
    if pieces:
        start, end = min(start, pieces[0].start), max(end, *(p.end for p in pieces))
    text = spliced(source.text, pieces, start, end)
    whole = text if isinstance(node, ast.stmt) else f"({text}\n)"
    try:
        tree = ast.parse(whole)
    except (SyntaxError, ValueError) as error:
        raise Unedited("its source is written in a way that a cast cannot be put in") from error
    lines = text.splitlines()
    if len(lines) > 1 and any(mark in text for mark in ("#", '"""', "'''")):
        return ast.unparse(tree)
    return " ".join(line.strip().removesuffix("\\").rstrip() for line in lines)


_BY_NAME: dict[str, Callable[[SourceOperation], Found]] = {
    DEFAULT_DTYPE: made,
    ASTYPE: cast,
    SETITEM: stored,
    ENTRY: entered,
}


# -- of a run -------------------------------------------------------------------------------------


Planned = dict[Place, tuple[Outcome, ...]]
"""From where an operation stands, and its name, to its edits."""


def planned(
    run: Policy,
    policies: Sequence[Policy],
    occurrences: Iterable[Occurrence],
    files: Callable[[str], SourceText | None] = read,
    flows: Sequence[Flow] = (),
) -> Planned:
    """Plan the edits of a run, at each operation of the source at which policies differ: one that
    serves all policies where one can, else one for each.

    ``occurrences`` are all passes, those at which policies agree among them; ``files`` answers the
    text of a file, ``flows`` have what feeds what, of a program that was recorded.
    """
    found: Planned = {}
    others = tuple(policy for policy in policies if policy is not run)
    for group in grouped(occurrences):
        concerned = {name for each in group for name in each.others}
        if not concerned:
            continue
        place = group[0].place
        source = files(place[0].file)
        if source is None:
            names = tuple(p.name for p in policies if p.name in concerned)
            found[place] = (NoEdit(*place, names, "its source cannot be read"),)
        elif outcomes := _planned(Port(run, others), source, group, flows):
            found[place] = outcomes
    return found


def _planned(
    port: Port, source: SourceText, group: Sequence[Occurrence], flows: Sequence[Flow]
) -> tuple[Outcome, ...]:
    """One edit for all policies, or one for each of those that differ."""
    joint = plan(port, source, group, flows)
    if joint is None or isinstance(joint, Edit) or len(joint.policies) == 1:
        return () if joint is None else (joint,)
    alone: dict[str, Outcome] = {}
    for policy in port.policies:
        passes = [
            replace(each, others={n: d for n, d in each.others.items() if n == policy.name})
            for each in group
        ]
        own = plan(port._replace(policies=(policy,)), source, passes, flows)
        if own is not None:
            text = own.text if isinstance(own, Edit) else own.why
            before = alone.get(text)
            names = (*before.policies, *own.policies) if before else own.policies
            alone[text] = own._replace(policies=names)
    return tuple(alone.values())


# -- of a report -------------------------------------------------------------------------------


def with_edits(places: Iterable[Divergence], found: Planned) -> list[Divergence]:
    """Return places whose answers have the edits that hold for every pass through them."""
    return [
        _edited(place, found.get((span_of(place.program, place.part), place.name), ()))
        for place in places
    ]


def _edited(place: Divergence, planned: Sequence[Outcome]) -> Divergence:
    if not planned and place.site == place.program:
        return place
    by_policy = {name: each for each in planned for name in each.policies if not each.optional}
    answers = dict(place.answers)
    if place.site != place.program:  # where what was proposed is no edit of the program's line
        answers = {name: replace(each, fix=None) for name, each in answers.items()}
    for name, found in by_policy.items():
        if name in answers and answers[name].origin == "root":
            fix = found if isinstance(found, Edit) else None
            answers[name] = replace(answers[name], fix=fix)
    return replace(place, answers=answers)


# -- edits whose casts are known ---------------------------------------------------------------


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
    site: Site, asked: Asked, casts: Mapping[int, DType], result: DType | None, framework: str = ""
) -> str:
    """Write the source with the casts of operands, and of the result of an operation in place,
    after which the run goes on; "" if it cannot be written."""
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
