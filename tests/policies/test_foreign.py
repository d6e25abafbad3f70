"""Foreign operands under every policy whose framework was asked, cell by cell.

`conformance/golden/foreign` holds what NumPy's scalars and arrays, and numbers of other classes,
are beside each framework's arrays; what promoarray answers otherwise on purpose stands in
`conformance/departures.toml` under its reason.
"""

from __future__ import annotations

from functools import cache

import check
import departures
import foreign_check
import pytest

pytestmark = pytest.mark.usefixtures("short_errors")

GOLDEN = sorted(path.stem for path in foreign_check.GOLDEN.glob("*.txt"))


# What is asked of one file is asked in one process, which compares it once.
@cache
def compared(golden: str) -> tuple[list[check.Cell], int]:
    cells = list(foreign_check.compare(golden))
    return [cell for cell in cells if foreign_check.differs(cell)], len(cells)


each = pytest.mark.parametrize(
    "golden", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in GOLDEN]
)


@each
def test_foreign_operands_are_what_the_framework_makes_of_them(golden: str) -> None:
    different = [str(c) for c in foreign_check.unexplained(golden, compared(golden)[0])]
    assert not different, f"{len(different)} cells differ:\n" + "\n".join(different[:40])


@each
def test_departures_of_foreign_operands_are_few_and_still_some(golden: str) -> None:
    """NumPy's own are the accidents of its ufuncs with ml_dtypes' dtypes."""
    differing, asked = compared(golden)
    assert len(differing) < (0.1 if golden == "numpy2" else 0.05) * asked
    idle = [
        pattern
        for departure in departures.read("foreign")
        for pattern in departure.patterns
        if departure.is_about(golden)
        and not any(departures.matches(pattern, cell[:3], "foreign") for cell in differing)
    ]
    assert not idle, "these departures no longer differ:\n" + "\n".join(idle)
