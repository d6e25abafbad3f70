"""The edit of one operation of the source, valid for every pass through it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from promoarray.diagnostics.edits.occurrence import (
    ASTYPE,
    DEFAULT_DTYPE,
    ENTRY,
    SETITEM,
    Occurrence,
    Span,
    grouped,
)
from promoarray.diagnostics.edits.operations import operation
from promoarray.diagnostics.edits.place import Found, SourceOperation, Unedited
from promoarray.diagnostics.edits.place import Port as Port
from promoarray.diagnostics.edits.rewriting import spliced
from promoarray.diagnostics.edits.source import SourceText, cast_dtype
from promoarray.diagnostics.edits.spelling import SPELLINGS
from promoarray.diagnostics.edits.stores import cast, entered, made, stored
from promoarray.diagnostics.edits.writing import Wrap, Writer
from promoarray.dtypes import INTEGERS, DType
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
    place = SourceOperation(port, source, node, group, concerned)
    try:
        wraps, lossy = _BY_NAME.get(first.asked.name, operation)(place)
        if _cast_already(place, wraps):
            return None
        text, changes = written(place, wraps)
    except Unedited as why_not:
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


def _cast_already(place: SourceOperation, wraps: tuple[Wrap, ...]) -> bool:
    """Whether the program casts the result itself."""
    if not place.concerned[0].framework or len(wraps) != 1 or wraps[0].how != "astype":
        return False
    same = wraps[0].node is place.node
    return same and cast_dtype(place.source, place.node) == wraps[0].dtype.name


def written(place: SourceOperation, wraps: tuple[Wrap, ...]) -> tuple[str, tuple[Change, ...]]:
    """Return the edited expression, and the same as changes of the text.

    Raises
    ------
    Unedited
        If it cannot be written there.
    """
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
        raise Unedited("its source is written in a way that a cast cannot be put in") from error
    return text, tuple(Change(p.start, p.end, p.text) for p in pieces)


_BY_NAME: dict[str, Callable[[SourceOperation], Found]] = {
    DEFAULT_DTYPE: made,
    ASTYPE: cast,
    SETITEM: stored,
    ENTRY: entered,
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
