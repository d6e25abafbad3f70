"""How a report reads: the program's lines, the most consequential first, in the screen's width."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import promoarray as pa
from promoarray.diagnostics.findings.causes import reached
from promoarray.diagnostics.report import Report

PROGRAM = """\
import promoarray as xp


def scaled(values, by):
    return values * by


def run():
    lone = xp.asarray([1, 2], dtype=xp.int8) / 4
    half = xp.asarray([1, 2], dtype=xp.int8) / 2
    twice = half + half
    both = scaled(twice, by=half)
    for _ in range(3):
        both = both - twice
    apart = xp.mean(xp.asarray([1, 2], dtype=xp.uint8) / 3)
"""


def load(folder: Path, text: str) -> ModuleType:
    path = folder / "program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report_of(folder: Path, text: str, *policies: str) -> Report:
    program = load(folder, text)
    with pa.shadow(*policies) as report:
        program.run()
    return report


def test_lines_that_feed_the_most_come_first(tmp_path: Path) -> None:
    report = report_of(tmp_path, PROGRAM, "torch")
    feeds = {d.program.line: reached(report.divergences)[d.line[:2]] for d in report.roots}
    assert feeds == {9: 0, 10: 3, 15: 1}  # twice, both in the function, both in the loop
    assert [line.site.line for line in report.lines()] == [10, 15, 9]


def test_a_line_too_deep_to_be_walked_leaves_the_order_of_the_source(tmp_path: Path) -> None:
    text = (
        "import promoarray as xp\n"
        "def run():\n"
        "    x = xp.asarray([1, 2], dtype=xp.int8) / 2\n"
        "    y = xp.asarray([1, 2], dtype=xp.int8) / 4\n"
        f"    z = 1{' + 1' * 900}\n"
    )
    report = report_of(tmp_path, text, "torch")
    assert [line.site.line for line in report.lines()] == [3, 4]


def test_a_refusal_comes_before_what_feeds_as_much(tmp_path: Path) -> None:
    text = (
        "import promoarray as xp\n"
        "def run():\n"
        "    x = xp.asarray([1, 2], dtype=xp.int8) / 2\n"
        "    y = xp.mean(xp.asarray([1, 2], dtype=xp.int8))\n"
    )
    report = report_of(tmp_path, text, "torch")
    assert [line.site.line for line in report.lines()] == [4, 3]


def test_a_line_is_one_block_however_many_dtypes_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "import promoarray as xp\n"
        "def half(x):\n"
        "    return xp.mean(x) + xp.mean(x / 2)\n"
        "def run():\n"
        "    for dtype in (xp.int8, xp.int16, xp.int16, xp.uint8):\n"
        "        half(xp.asarray([1, 2], dtype=dtype))\n"
    )
    report = report_of(tmp_path, text, "torch")
    (line,) = report.lines()
    assert line.site.line == 3
    operations = [(e.text, e.count) for e in line.entries]
    assert operations == [("xp.mean(x)", 4), ("x / 2", 4)]
    assert line.entries[-1].operations == [f"{d} / Python int" for d in ("int8", "int16", "uint8")]
    text = str(report)
    assert text.count("return xp.mean(x) + xp.mean(x / 2)") == 1
    assert text.count("write       xp.astype(x, xp.float64) / 2") == 1
    assert text.index("xp.mean(x)  [") < text.index("x / 2  [")  # as it is carried out


def test_the_report_fits_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = report_of(tmp_path, PROGRAM.replace("/ 4", "@ xp.ones(2)"))
    monkeypatch.chdir(tmp_path)
    for columns in (60, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = str(report).splitlines()
        assert max(map(len, lines)) <= columns
        assert any(line.startswith(" " * 16) for line in lines)  # reasons go on below themselves
        assert sum(line.startswith("Root cause: ") for line in lines) == 1


def test_one_policy_makes_it_the_porting_report(tmp_path: Path) -> None:
    text = str(report_of(tmp_path, PROGRAM, "torch"))
    first, second, *_ = text.splitlines()
    assert first == "To run the same under torch@2.13 as under numpy@2"
    assert second.startswith("torch@2.13  3 root causes; 3 casts to insert (lines 9, 10, 15)")
    assert "for torch@2.13" not in text  # there is no other
