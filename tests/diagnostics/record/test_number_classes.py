"""The classes of Python's numbers that the recorder of NumPy programs computes in C++."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from promoarray.diagnostics.model.scalar_class import borders, scalar_class
from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.dtypes import CONCRETE, INTEGERS, Kind
from promoarray.promotion.scalars import bounds, largest


def magnitudes() -> Iterator[float | int]:
    """Every number at which something changes, of all dtypes and of the classes themselves."""
    yield from borders()
    for dtype in CONCRETE:
        if dtype.kind in INTEGERS:
            yield from map(abs, bounds(dtype))
        elif dtype.kind is Kind.FLOAT and dtype.format is not None:
            yield largest(dtype)
    yield from range(20)
    yield from (2**n for n in (*range(4, 70), 100, 1023, 1024, 1100))
    yield from (0.25, 0.5, 0.75, 1.5, 15.5, 16.5, 1e-300, 5e-324, 0.1, 1e15 + 0.5)


def floats() -> Iterator[float]:
    for size in magnitudes():
        if size >= 2**1024:
            continue
        near = float(size) if size < 2**1024 - 2**970 else math.inf
        for x in (near, math.nextafter(near, 0), math.nextafter(near, math.inf)):
            yield from (x, -x)
    yield from (0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan)


def ints() -> Iterator[int]:
    for size in magnitudes():
        whole = int(size)
        for x in range(whole - 2, whole + 3):
            yield from (x, -x)


def complexes() -> Iterator[complex]:
    parts = 0.0, -0.0, 0.5, 1.0, 3.5, 70000.0, 1e39, math.inf, -math.inf, math.nan
    yield from (complex(*both) for both in product(parts, parts))


@pytest.mark.parametrize("numbers", [floats, ints, complexes], ids=lambda x: x.__name__)
def test_classes_are_those_of_the_model(numbers: Any) -> None:
    """Two numbers are of one class here just where they are of one there."""
    there: dict[Any, Any] = {}
    here: dict[Any, Any] = {}
    for x in [*numbers(), True, False, 1, 1.0, 1 + 0j]:
        found, known = hook().number_class(x), scalar_class(x)
        assert here.setdefault(found, known) == known, repr(x)
        assert there.setdefault(known, found) == found, repr(x)
    assert len(here) == len(there) > 20


def test_of_what_is_no_number_there_is_no_class() -> None:
    with pytest.raises(TypeError, match="no number of Python"):
        hook().number_class("1")
