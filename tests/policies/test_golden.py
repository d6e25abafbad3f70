"""Every recorded answer of every framework, cell by cell.

`conformance/golden` holds what the real frameworks answered; cells that promoarray answers
otherwise on purpose stand in `conformance/departures.toml` under their reasons.
"""

from __future__ import annotations

from functools import cache

import check
import pytest
import tables

GOLDEN = sorted(path.stem for path in check.GOLDEN.glob("*.txt"))
RECORDED = [name for name in GOLDEN if name in check.POLICY_OF]

# What is asked of one file is asked in one process, which compares it once.
compared = cache(check.compare)


def grouped(names: list[str]) -> pytest.MarkDecorator:
    each = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in names]
    return pytest.mark.parametrize("golden", each)


def test_every_golden_file_of_a_framework_is_compared() -> None:
    # The first two are for tests/policies/test_*.py, the last for tests/diagnostics/record.
    elsewhere = {"documents", "onnx", "numpy1_expressions"}
    assert set(GOLDEN) - set(RECORDED) == elsewhere


@grouped(RECORDED)
def test_recorded_answers(golden: str) -> None:
    different = [str(cell) for cell in check.unexplained(golden, compared(golden))]
    assert not different, f"{len(different)} cells differ:\n" + "\n".join(different[:40])


@grouped(RECORDED)
def test_recorded_scalars(golden: str) -> None:
    different = [str(cell) for cell in check.unexplained(golden, check.scalars(golden))]
    assert not different, f"{len(different)} cells differ:\n" + "\n".join(different[:40])


@pytest.mark.slow
def test_every_departure_is_still_one() -> None:
    """A pattern none of whose cells differs any more has to go, so that it hides nothing later."""
    differing = {
        golden: [cell for cell in (*compared(golden), *check.scalars(golden)) if cell.differs]
        for golden in RECORDED
    }
    idle = [
        f"{departure.golden}: {pattern}"
        for departure in check.departures()
        for pattern in departure.cells
        if not any(
            check.matches(pattern, cell)
            for golden, cells in differing.items()
            if departure.of(golden)
            for cell in cells
        )
    ]
    assert not idle, "these departures no longer differ:\n" + "\n".join(idle)


@grouped([name for name in RECORDED if name != "numpy2"])
def test_departures_stay_under_half_a_percent(golden: str) -> None:
    """numpy2 is apart: its accidents with ml_dtypes' dtypes are a departure as a whole."""
    cells = [*compared(golden), *check.scalars(golden)]
    asked = sum(cell.recorded != "?" for cell in cells)
    assert sum(cell.differs for cell in cells) < 0.005 * asked


@pytest.mark.xdist_group("numpy2")
def test_numpys_own_dtypes_have_no_departures() -> None:
    standard = {"b1", "f16", "f32", "f64", "c64", "c128", "bool", "int", "float", "complex"}
    standard |= {f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)}
    cells = [c for c in compared("numpy2") if {c.row, c.column} <= standard]
    assert len(cells) > 20_000
    assert not [str(cell) for cell in cells if cell.differs]


def test_tables_read_back_as_written(tmp_path) -> None:  # type: ignore[no-untyped-def]
    sections = {"a/x": {("b1", "u8"): "u8", ("b1", "b1"): "-"}, "a/y": {("b1", "u8"): "?f32"}}
    tables.write(tmp_path / "t.txt", {"version": "1"}, sections)
    assert tables.read(tmp_path / "t.txt") == ({"version": "1"}, sections)
