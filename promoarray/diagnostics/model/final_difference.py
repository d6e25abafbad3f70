"""Comparison of the globals that two runs of a program end with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from promoarray.console import counted
from promoarray.diagnostics.model.final import Final, number
from promoarray.diagnostics.model.values import distance

_EXACT = 17
"""So many digits tell any two floats of 64 bits apart."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one run made of a global."""

    dtype: str
    shape: tuple[int, ...]
    # how many of its elements are NaN, and infinities
    nan: int
    inf: int
    text: str  # what it is, in short


@dataclass(frozen=True, slots=True)
class Element:
    """The first element that differs."""

    index: tuple[int, ...]
    # what it is in the run that is compared with, and in the other
    run: str
    other: str


@dataclass(frozen=True, slots=True)
class FinalDifference:
    """A global that differs between two runs."""

    name: str
    run: Side | None  # in the run that is compared with; None where it is not set
    other: Side | None
    # How many elements differ, of how many. One NaN is as good as another.
    differing: int = 0
    size: int = 0
    # the largest difference between finite elements; None where there is none, and of bools
    largest: float | None = None
    relative: float | None = None  # the largest one relative to the greater of the two numbers
    first: Element | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return asdict(self)

    @property
    def other_dtype(self) -> bool:
        """Whether the dtypes differ, or it is set in one run alone."""
        return self.run is None or self.other is None or self.run.dtype != self.other.dtype

    def words(self) -> str:
        """Say what differs."""
        if self.run is None or self.other is None:
            sides = (side.text if side else "not set" for side in (self.other, self.run))
            return " instead of ".join(sides)
        scalar = self.first is not None and not self.first.index
        if scalar or (self.run.text != self.other.text and not self.run.shape):
            said = f"{self.other.text} instead of {self.run.text}"
            by = self._by()
            return f"{said}: {by}" if by else said
        parts = [self._types(), *self._elements()]
        return "; ".join(part for part in parts if part)

    def _types(self) -> str:
        assert self.run
        assert self.other
        kinds = _shaped(self.other), _shaped(self.run)
        return " instead of ".join(kinds) if kinds[0] != kinds[1] else kinds[0]

    def _elements(self) -> Iterator[str]:
        assert self.run
        assert self.other
        if self.run.shape != self.other.shape:
            return
        if not self.differing:  # of what is too large only a digest is compared
            yield "the same values" if self.size == prod(self.run.shape) else "other values"
            return
        by = self._by()
        verb = "differs" if self.size == 1 else "differ"
        yield f"{self.differing} of {counted(self.size, 'element')} {verb}{by and f', {by}'}"
        if self.first:
            index = ", ".join(map(str, self.first.index))
            yield f"first at [{index}]: {self.first.other} instead of {self.first.run}"
        for what, run, other in (
            ("NaN", self.run.nan, self.other.nan),
            ("Inf", self.run.inf, self.other.inf),
        ):
            if run or other:
                yield (
                    f"{other} {what} instead of {run}" if run != other else f"{run} {what} in both"
                )

    def _by(self) -> str:
        if not self.largest:  # bools; 0.0 and -0.0
            return ""
        most = " at most" if self.size > 1 else ""
        return f"by {self.largest:.3g}{most} (relative {self.relative:.2g})"


def compared(
    run: dict[str, Final], other: dict[str, Final], tolerance: float = 0.0
) -> Iterator[FinalDifference]:
    """Yield the globals that differ between two runs, in the order they were first set.

    Floats of one dtype may differ by ``tolerance`` times the largest of their array.
    """
    for name in dict.fromkeys([*run, *other]):
        difference = difference_of(name, run.get(name), other.get(name), tolerance)
        if difference is not None:
            yield difference


def difference_of(
    name: str, run: Final | None, other: Final | None, tolerance: float = 0.0
) -> FinalDifference | None:
    """Return how a global differs; None if it does not."""
    if run is None or other is None:
        mine, its = (None if each is None else _side(each) for each in (run, other))
        return FinalDifference(name, mine, its)
    sides = _side(run), _side(other)
    if run.values is None or other.values is None:
        told = [(x.spelled, x.shape, x.digest, x.text) for x in (run, other)]
        return None if told[0] == told[1] else FinalDifference(name, *sides)
    if run.shape != other.shape:
        return FinalDifference(name, *sides)
    found, size = distance(run.values, other.values), run.values.size
    if run.spelled == other.spelled and (found is None or found.within(tolerance)):
        return None
    if found is None:
        return FinalDifference(name, *sides, 0, size)
    pair = run.values[found.first], other.values[found.first]
    if not run.shape:
        sides = _retold(sides[0], pair), _retold(sides[1], pair[::-1])
    first = Element(found.first, *_told_apart(pair, tuple(map(str, pair))))
    return FinalDifference(name, *sides, found.count, size, found.largest, found.relative, first)


class Unequal(NamedTuple):
    """A value that two runs do not end with alike."""

    name: str
    dtype: bool  # whether the dtypes differ, or it is set in one run alone; else the values do
    words: str


def unequal(
    wanted: dict[str, Final], given: dict[str, Final], tolerance: float = 0.0
) -> list[Unequal]:
    """Return what two runs do not end with alike; see ``compared``."""
    return [
        Unequal(each.name, each.other_dtype, each.words())
        for each in compared(wanted, given, tolerance)
    ]


def _retold(side: Side, pair: tuple[Any, Any]) -> Side:
    """One side of a number that differs, with the digits that tell it from the other."""
    short = number(pair[0].item()), number(pair[1].item())
    return replace(side, text=side.text.replace(short[0], _told_apart(pair, short)[0], 1))


def _told_apart(pair: tuple[Any, Any], texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts of two numbers that differ, with as many digits as it takes to see that."""
    digits = 7
    while texts[0] == texts[1] and digits <= _EXACT:
        texts = tuple(f"{x.item():.{digits}g}" for x in pair)
        digits += 1
    return texts


def _side(found: Final) -> Side:
    values = found.values
    if values is None or values.dtype.kind not in "fc":
        return Side(found.spelled, found.shape, 0, 0, found.in_short)
    nan, inf = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    return Side(found.spelled, found.shape, nan, inf, found.in_short)


def _shaped(side: Side) -> str:
    return f"{side.dtype} [{'x'.join(map(str, side.shape))}]" if side.shape else side.dtype
