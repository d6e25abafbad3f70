"""Distinct operations at a place of a program, and what policies answer for them."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from promoarray.core.call_site import Site
from promoarray.dtypes import DType
from promoarray.operations import Form
from promoarray.promotion.plan import Operand, Rank

DEFAULT_DTYPE, SETITEM, ASTYPE, ENTRY = "default dtype", "setitem", "astype", "entry"
"""What is recorded besides operations."""


class Span(NamedTuple):
    """From where to where in a file an expression goes; columns are in bytes, as Python counts."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    stores: bool = False  # an assignment to an element, of which this is the target
    part: int = 0  # which comparison of a chain, or of a copy of it that Python has made


def span_of(site: Site, part: int = 0) -> Span:
    """Return the expression at a place, or its line where the code does not say more."""
    named = site.file.startswith("<") or site.file in linecache.cache  # as a notebook's cells are
    file = site.file if named else os.path.join(os.getcwd(), site.file)
    line, column, end_line, end = site.extent or (site.line, -1, -1, -1)
    return Span(file, line, column, end_line, end, site.stores, part)


class Asked(NamedTuple):
    """An operation of the run, without its data."""

    name: str
    form: Form
    operands: tuple[Operand, ...]  # as the run had them; scalars and 0-d arrays with their values
    inputs: tuple[DType, ...]  # what the run made of them
    wanted: DType  # what the run answered
    lacking: str = ""  # the run's policy, if it computed what its framework has no kernel for
    # the arrays that policies hold weakly which do so, and the run does not
    weak: tuple[int, ...] = ()

    @property
    def scalars(self) -> tuple[int, ...]:
        """The operands that are Python scalars, which become arrays where they are cast."""
        return tuple(i for i, o in enumerate(self.operands) if o.rank is Rank.SCALAR)


DTYPE, REFUSED, VALUES, HELD_WEAKLY, COMPUTED = "dtype", "refused", "values", "weak", "computed"
"""How a policy differs at an operation."""

SAME = (HELD_WEAKLY, COMPUTED)
"""The dtype is the same: the policy holds the array weakly, which the run does not; or it computes
with other numbers, or by another kernel."""


class Differs(NamedTuple):
    """What a policy does otherwise at an operation."""

    how: str
    dtype: DType | None = None  # what it answers; None where it refuses
    words: str = ""  # why it refuses; how many values of an explicit cast are others


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An operation at a place of the program, on operands of some dtypes."""

    span: Span
    asked: Asked
    # from the policies that do something else here to what
    others: dict[str, Differs] = field(default_factory=dict)
    # the dtypes by way of which an explicit cast gives the same values under all policies
    routes: tuple[DType, ...] = ()
    wrapped: tuple[int, ...] = ()  # the Python scalars that the run made another number of
    names: tuple[str, ...] = ()  # the names by which the namespace is known there
    inside: bool = False  # whether the operation is one of a library, which the program called here
    framework: str = ""  # that of a program that was recorded; "" of promoarray's own
    # whether its operands are those of the call there, so that they can be cast in the
    # source
    edited: bool = True
    # the operands that the framework narrows as they come in; none where it makes an array
    entering: tuple[int, ...] = ()

    @property
    def place(self) -> tuple[Span, str]:
        """What the passes through one operation of the source have in common."""
        return self.span, self.asked.name


def grouped(occurrences: Iterable[Occurrence]) -> Iterator[list[Occurrence]]:
    """Yield the passes through each operation of the source."""
    found: dict[tuple[Span, str], list[Occurrence]] = {}
    for each in occurrences:
        found.setdefault(each.place, []).append(each)
    yield from found.values()
