"""Comparison of values: where two arrays differ, and by how much.

Two values of one dtype differ where their bits do, so that -0.0 is not 0.0; but one NaN is as good
as another. Values of different dtypes are compared as the numbers they are, none of them rounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from promoarray.core import host
from promoarray.core.call_site import Site
from promoarray.diagnostics.spans import called_from
from promoarray.dtypes import BY_STORAGE, INTEGERS, DType
from promoarray.functions.data_types import value_of
from promoarray.promotion.scalars import bounds

Values = Any
"""A NumPy array of numbers, bools or strings."""

Number = int | float

_WHOLE = "biu"


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two arrays of a shape are apart."""

    count: int  # how many elements differ
    first: tuple[int, ...]  # the index of the first of them
    # the largest difference of finite elements; None where there is none, and of bools
    largest: float | None
    relative: float | None  # the largest one relative to the greater of the two numbers
    # whether all elements that differ are numbers with a difference, none of them NaN, infinite or
    # a bool
    finite: bool
    scale: float  # the largest finite number of the first array

    def within(self, tolerance: float) -> bool:
        """Whether no element differs by more than ``tolerance`` times the largest of the array."""
        if not tolerance or not self.finite or self.largest is None:
            return False
        return self.largest <= tolerance * self.scale


def differs(a: Values, b: Values) -> Values:
    """Return where two arrays of a shape differ, as an array of bools."""
    a, b = _decoded(a), _decoded(b)
    if "c" in (a.dtype.kind, b.dtype.kind):
        return _differs(a.real, b.real) | _differs(_imaginary(a), _imaginary(b))
    return _differs(a, b)


def distance(a: Values, b: Values) -> Distance | None:
    """Return how far two arrays of a shape are apart; None if they do not differ."""
    a, b = _decoded(np.asarray(a)), _decoded(np.asarray(b))
    differ = np.asarray(differs(a, b))
    count = int(np.count_nonzero(differ))
    if not count:
        return None
    first = tuple(int(n) for n in np.unravel_index(int(np.argmax(differ)), a.shape))
    scale = _magnitudes(a)
    largest = float(scale.max()) if scale.size else 0.0
    return Distance(count, first, *_apart(a[differ], b[differ]), largest)


def _decoded(values: Values) -> Values:
    """Values in a dtype of NumPy's own that holds them exactly."""
    known = BY_STORAGE.get(values.dtype)
    return values if known is None else host.decoded(values, known)


def _imaginary(values: Values) -> Values:
    return values.imag if values.dtype.kind == "c" else np.zeros(values.shape, np.int8)


def _differs(a: Values, b: Values) -> Values:
    """Where two arrays without imaginary parts differ."""
    floats = [x.dtype.kind == "f" for x in (a, b)]
    with np.errstate(invalid="ignore"):
        if all(floats):
            other = (a != b) | (np.signbit(a) != np.signbit(b))
            return np.asarray(other & ~(np.isnan(a) & np.isnan(b)))
        if any(floats) and {a.dtype.kind, b.dtype.kind} & set(_WHOLE):
            return _differs_from_float(b, a) if floats[0] else _differs_from_float(a, b)
    return np.asarray(a != b)  # which NumPy compares exactly, integers of two dtypes, too


def _differs_from_float(whole: Values, floats: Values) -> Values:
    """Where integers or bools are other numbers than floats."""
    if whole.dtype.kind == "b":
        whole = whole.astype(np.uint8)
    limits = np.iinfo(whole.dtype)
    wide = floats.astype(np.result_type(floats.dtype, np.float64))
    fits = (wide == np.trunc(wide)) & (wide >= float(limits.min)) & (wide < float(limits.max + 1))
    return np.asarray(~fits | (np.where(fits, wide, 0).astype(whole.dtype) != whole))


def _apart(a: Values, b: Values) -> tuple[float | None, float | None, bool]:
    """The largest difference, the largest relative one, and whether all have a difference."""
    kinds = a.dtype.kind + b.dtype.kind
    if "b" in kinds or set(kinds) - set("iufc"):
        return None, None, False
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        return None, None, False
    wide = np.result_type(a.dtype, b.dtype, np.longdouble)
    a, b = a[finite].astype(wide), b[finite].astype(wide)
    by, size = np.abs(a - b), np.maximum(np.abs(a), np.abs(b))
    relative = np.divide(by, size, out=np.zeros_like(by), where=size > 0)  # of -0.0 and 0.0: none
    return float(by.max()), float(relative.max()), bool(finite.all())


def _magnitudes(values: Values) -> Values:
    """The magnitudes of the finite numbers of an array."""
    if values.dtype.kind not in "biufc":
        return np.zeros(0)
    values = values[np.isfinite(values)] if values.dtype.kind in "fc" else values.ravel()
    return np.abs(values.astype(np.result_type(values.dtype, np.float64)))


def all_beyond(values: Any, source: DType, target: DType) -> bool:
    """Whether all of some values of a cast lie beyond the dtype, and can be clipped to it."""
    ends = limits(source, target)
    if ends is None:
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.all((values < ends[0]) | (values > ends[1])))  # a NaN does not


def limits(source: DType, target: DType) -> tuple[Number, Number] | None:
    """Return the range of a dtype; None if the source of a cast does not hold its ends."""
    if target.kind in INTEGERS:
        ends: tuple[Number, Number] = bounds(target)
    elif target.format is not None and target.format.signed:
        largest = value_of(target.format, target.format.largest)
        ends = -largest, largest
    else:
        return None
    return ends if all(_holds(source, end) for end in ends if end) else None


def _holds(dtype: DType, number: Number) -> bool:
    if dtype.kind in INTEGERS:
        low, high = bounds(dtype)
        return low <= number <= high
    if dtype.format is None:
        return False
    significant, _ = abs(number).as_integer_ratio()
    digits = significant.bit_length() - ((significant & -significant).bit_length() - 1)
    largest = value_of(dtype.format, dtype.format.largest)
    return digits <= dtype.format.mantissa + 1 and abs(number) <= largest


# -- casts whose values differ by policy -------------------------------------------------------


class Example(NamedTuple):
    """An element that differs."""

    at: tuple[int, ...]
    # the value that was cast, what the run made of it, and what the other policy makes of it
    given: str
    run: str
    other: str


class Difference(NamedTuple):
    """How many values of one cast differ under some policies, and the first of them."""

    policies: tuple[str, ...]
    elements: int
    example: Example
    # whether all that differ lie beyond the dtype, so that they agree once they are clipped
    beyond: bool = False
    largest: float | None = None  # by how much the example differs, if it is that which does most


class Place(NamedTuple):
    """Where a cast stands, and what it is of."""

    site: Site
    program: Site
    operation: str
    source: str
    target: str


@dataclass(slots=True)
class ValueChange:
    """A place at which values differ by policy."""

    place: Place
    size: int = 0  # how many elements were cast there
    passes: int = 0
    # by the policies that make the same of them
    differences: dict[tuple[str, ...], Difference] = field(default_factory=dict)
    # the dtypes by way of which all policies make the run's values, in every pass
    routes: tuple[DType, ...] = ()

    def add(self, other: ValueChange) -> None:
        """Count more passes."""
        self.routes = tuple(way for way in self.routes if way in other.routes)
        self.size += other.size
        self.passes += other.passes
        for policies, each in other.differences.items():
            known = self.differences.get(policies)
            before = known.elements if known else 0
            beyond = each.beyond and (known is None or known.beyond)
            shown = each if known is None or (each.largest or 0) > (known.largest or 0) else known
            kept = shown._replace(elements=before + each.elements, beyond=beyond)
            self.differences[policies] = kept

    def to_dict(self) -> dict[str, Any]:
        """Return the place as data."""
        site, program, operation, source, target = self.place
        return {
            "file": site.file,
            "line": site.line,
            "expression": site.expression or site.text,
            "called_from": called_from(site, program),
            "operation": operation,
            "from": source,
            "to": target,
            "size": self.size,
            "passes": self.passes,
            "differences": [
                {
                    "policies": list(each.policies),
                    "count": each.elements,
                    "index": list(each.example.at),
                    "value": each.example.given,
                    "run": each.example.run,
                    "becomes": each.example.other,
                    **({} if each.largest is None else {"largest": str(each.largest)}),
                }
                for each in tuple(self.differences.values())
            ],
        }

    def of(self, names: Collection[str]) -> ValueChange | None:
        """Return what differs under some policies; None if nothing does."""
        left: dict[tuple[str, ...], Difference] = {}
        for each in self.differences.values():
            kept = tuple(name for name in each.policies if name in names)
            if kept:
                left[kept] = each._replace(policies=kept)
        return replace(self, differences=left) if left else None

    def by_policy(self, names: Collection[str]) -> dict[str, str]:
        """Return how many values some policies make otherwise, in words."""
        return {
            name: f"{each.elements} of {self.size} values, as {each.example.other} for "
            f"{each.example.given}, which is {each.example.run} in the run"
            for each in self.differences.values()
            for name in each.policies
            if name in names
        }

    @property
    def cast(self) -> str:
        """The cast in words."""
        return f"{self.place.source} -> {self.place.target}"


@dataclass(eq=False)
class ValueChanges:
    """The places at which the values of casts differ by policy."""

    found: dict[Place, ValueChange] = field(default_factory=dict)

    def add(self, change: ValueChange) -> None:
        """Add a place, or more passes of one."""
        known = self.found.setdefault(change.place, change)
        if known is not change:
            known.add(change)

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[ValueChange]:
        yield from sorted(self.found.values(), key=lambda change: change.place)


def one_pass(
    place: Place, size: int, found: list[Difference], routes: tuple[DType, ...] = ()
) -> ValueChange:
    """Return what differs in one pass of a place."""
    return ValueChange(place, size, 1, {each.policies: each for each in found}, routes)
