"""The table of all operations: what has no budget has a row like the others."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The module, with those of its folder for as long as the test: other folders have a ``check``,
    too."""
    names = [file.stem for file in BENCHMARKS.glob("*.py")]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield run_path(str(BENCHMARKS / "page.py"))
    for name in names:
        sys.modules.pop(name, None)


def line(name: str, times: float, budget: float | None) -> Any:
    values = {"promoarray": [times] * 3, "numpy x + x": [1.0] * 3}
    return {"name": name, "unit": "s", "bounds": {"numpy x + x": budget}, "values": values}


def test_groups_of_all_operations(page: dict[str, Any]) -> None:
    rows = [
        line("sums: torch: xp.sum(int8)", 2.0, 8.0),
        line("sums: numpy: xp.sum(bool)", 9.0, 8.0),
        line("factors: jax: xp.linalg.qr(float32)", 70.0, None),
        line("factors: jax: xp.linalg.inv(float32)", 30.0, None),
    ]
    *_, sums, factors = page["operations"](rows).splitlines()
    assert sums == "| sums | 8 | 2 | 5.5 | 9 | 1 | `numpy: xp.sum(bool)` |"
    assert factors == "| factors |  | 2 | 50 | 70 | 0 | `jax: xp.linalg.qr(float32)` |"
