"""The page of what was measured: what is over its budget, and chapters that stay."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pyperf = pytest.importorskip("pyperf", reason="pip install -e '.[benchmarks]'")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module, and those of its folder, for as long as the test."""
    names = [file.stem for file in (ROOT / "benchmarks").glob("*.py")]
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import page

    yield page
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def suite(lines: dict[str, tuple[dict[str, list[float]], Any]], chapter: str = "casts") -> Any:
    found = []
    for name, (ways, bounds) in lines.items():
        for way, values in ways.items():
            about = {"name": f"{name} [{way}]", "chapter": chapter, "line": name, "way": way}
            about |= {"unit": "second", "bounds": json.dumps(bounds), "commit": "abc"}
            runs = [pyperf.Run([v], metadata=about, collect_metadata=False) for v in values]
            found.append(pyperf.Benchmark(runs))
    return pyperf.BenchmarkSuite(found)


def test_a_line_is_held_to_the_fastest_of_what_was_measured(page: ModuleType) -> None:
    ways = {"promoarray": [3.0, 3.0, 9.0], "torch": [2.0, 4.0, 4.0], "jax": [4.0, 2.0, 4.0]}
    held = [[1.4, ["torch", "jax"], 0.0], [1.0, ["torch"], 2.0], [1.0, ["paddle"], 0.0]]
    best, torch, paddle = page.rows(page.chapters(suite({"x": (ways, held)}))["casts"])
    assert (best.ratio, best.over) == (1.5, True)
    assert (torch.ratio, torch.over) == (1.5, False)  # within 2 s more
    assert (paddle.ratio, paddle.over) == (None, False)
    assert best.cells() == ["`x`", "3 s", "1.50", "1.4 x torch or jax", "**over**"]
    assert paddle.cells()[2] == "no peer"


def test_long_chapters_are_summed_up_and_keep_what_is_over(page: ModuleType) -> None:
    lines = {
        f"{n}, int8": ({"promoarray": [1.0 + n], "numpy": [1.0]}, [[40.0, ["numpy"], 0.0]])
        for n in range(page.SHOWN + 1)
    }
    text = page.text(suite(lines))
    assert "| `int8` | 41 | 21.00 | 41.00, `40, int8` | 40 x numpy | **1** |" in text
    assert "| `40, int8` | 41 s | 41.00 | 40 x numpy | **over** |" in text
    assert "| `39, int8` |" not in text


def test_only_the_chapters_of_a_run_are_replaced(page: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "speed.md"
    path.write_text((ROOT / "docs" / "speed.md").read_text(encoding="utf-8"), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    page.write(suite({"x": ({"promoarray": [1.0]}, [[2.0, [], 0.0]])}, "build"), path)
    after = path.read_text(encoding="utf-8")
    assert "| `x` | 1 s |  | 2 s |  |" in after
    start = page.BEGIN.format("build")
    assert before.partition(start)[0] == after.partition(start)[0]
    path.write_text("no chapters", encoding="utf-8")
    with pytest.raises(ValueError, match="has no lines"):
        page.write(suite({"x": ({"promoarray": [1.0]}, [[2.0, [], 0.0]])}, "build"), path)


def test_every_chapter_has_its_place(page: ModuleType) -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    for name in page.CHAPTERS:
        assert text.count(page.BEGIN.format(name)) == text.count(page.END.format(name)) == 1
