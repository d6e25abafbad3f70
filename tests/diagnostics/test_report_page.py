"""The page of a report: the source with the findings at its lines, readable without a script."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import promoarray as pa
from promoarray import cli, pages
from promoarray.diagnostics import exit_codes
from promoarray.diagnostics.model.final import FinalDType

PROGRAM = '''\
"""A program with <markup> & more."""

import numpy as np

import promoarray as xp


def half(x):
    return x / 2


counts = xp.asarray([1, 2, 3], dtype=xp.int32)
weights = xp.asarray([0.5, 1.0, 500.0], dtype=xp.float32)
small = half(counts)
both = counts * weights
codes = xp.astype(weights, xp.float8_e4m3fn)
text = "<b>"
'''.replace("text =", "\n" * 12 + "text =")
LINE = {text: n for n, text in enumerate(PROGRAM.splitlines(), 1)}
CODES = LINE["codes = xp.astype(weights, xp.float8_e4m3fn)"]
POLICIES = "torch@2.13", "paddle@3.3", "jax@x64"


def shadowed(path: Path, text: str = PROGRAM) -> pa.Report:
    path.write_text(text, encoding="utf-8")
    code = compile(text, str(path), "exec")
    with pa.shadow(*POLICIES) as report:
        exec(code, {"__name__": "program"})
    return report


@pytest.fixture
def page(tmp_path: Path) -> str:
    return shadowed(tmp_path / "program.py").to_html(command="promoarray compare program.py")


class _Balanced(HTMLParser):
    """Raises where an element ends that did not begin."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def below(page: str, line: int) -> str:
    """What stands below a line of the listing, until the next."""
    return page.partition(f'id="L{line}"')[2].partition('<div class="line')[0]


def test_a_finding_stands_below_its_line(page: str) -> None:
    line = LINE["both = counts * weights"]
    found = below(page, line)
    assert "counts * weights" in found
    assert "<b>refuses</b> <span>paddle@3.3</span>" in found
    assert "write <code>xp.astype(counts, xp.float64) * weights</code>" in found
    assert f'<div class="line marked of-refuse" id="L{line}">' in page
    assert "500.0 at [2], becomes 448.0 and not nan" in below(page, CODES)
    assert '<div class="finding' not in below(page, LINE["import numpy as np"])


def test_the_whole_source_is_there_and_what_is_far_from_findings_is_folded(page: str) -> None:
    listing = page.partition('<div class="listing">')[2].partition("</section>")[0]
    lines = re.findall(r'id="L(\d+)">.*?<code>(.*?)</code></div>', listing, re.DOTALL)
    assert [int(number) for number, _ in lines] == list(range(1, len(PROGRAM.splitlines()) + 1))
    told = [unescape(re.sub("<[^>]+>", "", line)).strip() for _, line in lines]
    assert told == [line.strip() for line in PROGRAM.splitlines()]
    folded = re.findall(r"<summary>lines (\d+) to (\d+)</summary>", listing)
    assert folded == [(str(CODES + 4), str(len(lines)))]


def test_it_is_well_formed_and_escapes_what_it_quotes(page: str) -> None:
    parser = _Balanced()
    parser.feed(page)
    assert not parser.open
    assert "<markup>" not in page.partition("</style>")[2]
    assert "promoarray compare program.py" in page
    assert not re.search(r'(?:src|href)="(?!#)', page)  # self-contained


def test_it_says_what_each_policy_asks_for(page: str) -> None:
    rows = dict(re.findall(r'data-choose="([^"]+)".*?</td><td>(.*?)</td>', page))
    assert set(rows) == set(POLICIES)
    assert rows["paddle@3.3"].startswith("2 root causes, 1 of them refused")


def test_backticks_are_code_and_nothing_else_of_it_is_html(tmp_path: Path) -> None:
    report = shadowed(tmp_path / "program.py")
    report.finals = (FinalDType("a<b", "float64", {"paddle@3.3": "float32"}),)
    row = dict(re.findall(r'data-choose="([^"]+)".*?</td><td>(.*?)</td>', report.to_html()))
    assert "final <code>a&lt;b</code> float32 instead of float64" in row["paddle@3.3"]
    assert "`" not in row["paddle@3.3"]


def test_of_a_file_that_has_changed_only_the_lines_known_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    report = shadowed(path)
    path.write_text("something = 'else'\n" * 40, encoding="utf-8")
    page = report.to_html()
    assert "something =" not in re.sub("<[^>]+>", "", page)
    assert "counts * weights" in below(page, LINE["both = counts * weights"])


def test_a_report_without_findings_is_a_page_without_filters() -> None:
    with pa.shadow("numpy") as report:
        pa.ones(3) + 1
    page = report.to_html()
    assert "<form" not in page
    assert "2 operations under numpy@2." in page
    assert "Keys:" not in page


def test_the_date_of_a_build_that_can_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert "1970-01-02 00:00 UTC" in shadowed(tmp_path / "program.py").to_html()


def test_a_program_that_was_stopped_begins_with_the_line_and_the_edit(tmp_path: Path) -> None:
    path, page = tmp_path / "program.py", tmp_path / "page.html"
    path.write_text(
        "import promoarray as xp\nx = xp.asarray([1], dtype=xp.uint8)\ny = x + 300\n", "utf-8"
    )
    assert cli.main(["compare", str(path), "--html", str(page)]) == exit_codes.FAILED
    text = page.read_text("utf-8")
    assert "<h2>The program stopped at program.py:3 under numpy@2, which refuses</h2>" in text
    assert "write <code>xp.astype(x, xp.uint16) + 300</code>" in text
    assert "<b>refuses</b> <span>numpy@2 (the run)" in below(text, 3)


@pytest.mark.slow
def test_actual_runs_are_on_the_page(tmp_path: Path) -> None:
    path, page = tmp_path / "program.py", tmp_path / "page.html"
    path.write_text(
        "import promoarray as xp\nN = 3\nx = xp.asarray([1, 2]) / N\nloss = xp.sum(x)\n", "utf-8"
    )
    arguments = ["--policies", "torch,numpy@1", "--run-all", "--html", str(page)]
    assert cli.main(["compare", str(path), *arguments]) == exit_codes.FINDINGS
    runs = page.read_text("utf-8").partition("Actual runs under each policy")[2]
    assert "loss: 1 (float32) instead of 1 (float64)" in runs
    assert "same: " in runs


def test_lists_stack_on_a_phone_and_matrices_scroll() -> None:
    rows = [("add", "3", "<int8>")]
    assert pages.table(("what", "count", "why"), rows, stacked=True) == (
        '<div class="scroll"><table class="list"><tr class="head"><th>what</th><th>count</th>'
        '<th>why</th></tr><tr><td>add</td><td data-head="count">3</td><td>&lt;int8&gt;</td></tr>'
        "</table></div>"
    )
    assert pages.table(("", "", ""), rows) == (
        '<div class="scroll"><table><tr><td>add</td><td>3</td><td>&lt;int8&gt;</td></tr>'
        "</table></div>"
    )
    assert 'class="list"' in pa.explain("add", pa.int8, pa.float32).to_html()
    assert 'class="list"' not in pa.table("torch").to_html()
