"""The page of findings: each has a date, a sentence with its address, and a short program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))
import findings

FOUND = list(findings.findings())
SECTIONS = findings.PAGE.read_text(encoding="utf-8").split("\n## ")[1:]


def test_every_section_is_a_finding() -> None:
    assert [section.partition("\n")[0] for section in SECTIONS] == [f.title for f in FOUND]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda text: text.partition("\n")[0])
def test_a_finding_is_dated_and_quotes_a_page_at_its_address(section: str) -> None:
    date, _, quoted = section.split("\n\n", 2)[1].partition(". ")
    assert len(date.split("-")) == 3
    assert quoted.startswith("The documentation:")
    assert "\n> — [" in section
    assert "](https://" in section


@pytest.mark.parametrize("finding", FOUND, ids=lambda found: found.title)
def test_a_program_is_short_and_says_what_it_needs(finding: findings.Finding) -> None:
    lines = [line for line in finding.program.splitlines() if line.strip()]
    assert len(lines) <= findings.LONGEST
    assert finding.modules
    assert finding.output.strip()


def test_a_program_that_prints_something_else_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "findings.md"
    block = "## {}\n\n```python\nimport math\nprint(math.floor({}))\n```\n\n```text\n1\n```\n\n"
    page.write_text("# Title\n\n" + block.format("one", 1.5) + block.format("two", 2.5))
    monkeypatch.setattr(findings, "findings", lambda: iter([*_read(page)]))
    assert findings.main([]) == 1
    said = capsys.readouterr().out
    assert "reproduced     one" in said
    assert "not            two" in said
    assert "1 of 2 reproduced" in said


_read = findings.findings
