"""Every recorded answer of every framework, cell by cell.

`conformance/golden` holds what the real frameworks answered; cells that promoarray answers
otherwise on purpose stand in `conformance/departures.toml` under their reasons.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import check
import departures
import pytest
import tables

GOLDEN = sorted(path.stem for path in check.GOLDEN.glob("*.txt"))
RECORDED = [name for name in GOLDEN if name in check.POLICY_OF]

STANDARD = {"b1", "f16", "f32", "f64", "c64", "c128", "bool", "int", "float", "complex"}
STANDARD |= {f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)}
"""NumPy's own dtypes, and Python's numbers."""


class Compared(NamedTuple):
    """What is kept of the hundred thousand cells of a golden file."""

    differing: list[check.Cell]
    asked: int
    standard: int


# What is asked of one file is asked in one process, which compares it once.
@cache
def compared(golden: str) -> Compared:
    differing, asked, standard = [], 0, 0
    for cell in check.compare(golden):
        asked += cell.recorded != "?"
        standard += cell.row in STANDARD and cell.column in STANDARD
        if cell.differs:
            differing.append(cell)
    return Compared(differing, asked, standard)


def grouped(names: list[str]) -> pytest.MarkDecorator:
    each = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in names]
    return pytest.mark.parametrize("golden", each)


def test_every_golden_file_of_a_framework_is_compared() -> None:
    # The first three are for tests/policies/test_*.py, two for tests/diagnostics/record, and one
    # for tests/test_gpu_casts.py.
    elsewhere = {"documents", "onnx", "complex", "numpy1_expressions", "numpy1_values"}
    assert set(GOLDEN) - set(RECORDED) == elsewhere | {"ptx_casts"}


@grouped(RECORDED)
def test_recorded_answers(golden: str) -> None:
    different = [str(cell) for cell in check.unexplained(golden, compared(golden).differing)]
    assert not different, f"{len(different)} cells differ:\n" + "\n".join(different[:40])


@grouped(RECORDED)
def test_recorded_scalars(golden: str) -> None:
    different = [str(cell) for cell in check.unexplained(golden, check.scalars(golden))]
    assert not different, f"{len(different)} cells differ:\n" + "\n".join(different[:40])


def test_every_departure_is_still_one() -> None:
    """A pattern none of whose cells differs any more has to go, so that it hides nothing later."""

    def differs(golden: str, pattern: str) -> bool:
        asked = (check.compare, check.scalars)
        return any(cell.differs for ask in asked for cell in ask(golden, pattern))

    idle = [
        f"{departure.about}: {pattern}"
        for departure in departures.read("departure")
        for pattern in departure.patterns
        if not any(differs(golden, pattern) for golden in RECORDED if departure.is_about(golden))
    ]
    assert not idle, "these departures no longer differ:\n" + "\n".join(idle)


@grouped([name for name in RECORDED if name != "numpy2"])
def test_departures_stay_under_half_a_percent(golden: str) -> None:
    """numpy2 is apart: its accidents with ml_dtypes' dtypes are a departure as a whole."""
    found, scalars = compared(golden), check.scalars(golden)
    asked = found.asked + sum(cell.recorded != "?" for cell in scalars)
    assert len(found.differing) + sum(cell.differs for cell in scalars) < 0.005 * asked


@pytest.mark.xdist_group("numpy2")
def test_numpys_own_dtypes_have_no_departures() -> None:
    found = compared("numpy2")
    assert found.standard > 20_000
    assert not [str(c) for c in found.differing if {c.row, c.column} <= STANDARD]


def test_tables_read_back_as_written(tmp_path) -> None:  # type: ignore[no-untyped-def]
    sections = {"a/x": {("b1", "u8"): "u8", ("b1", "b1"): "-"}, "a/y": {("b1", "u8"): "?f32"}}
    tables.write(tmp_path / "t.txt", {"version": "1"}, sections)
    assert tables.read(tmp_path / "t.txt") == ({"version": "1"}, sections)
