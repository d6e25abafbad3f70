"""The Chinese pages say what the English ones say: the same headings, code, tables and figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [(ROOT / "README.md", ROOT / "README.zh-CN.md")]
PAGES += [(ROOT / "docs" / page.name, page) for page in sorted((ROOT / "docs/zh").glob("*.md"))]
IDS = [translated.relative_to(ROOT).as_posix() for _, translated in PAGES]

BLOCK = re.compile(r"(?ms)^```(\w+)\n(.*?)^```$")
DIRECTIVE = re.compile(r"(?ms)^```\{.*?^```$")


def shape(text: str) -> list[str]:
    """The headings by their level, the rows of tables by their columns, code without comments."""
    text = DIRECTIVE.sub("", text)
    found = []
    for part in re.split(r"(?ms)(^```\w+\n.*?^```$)", text):
        if block := BLOCK.fullmatch(part):
            bare = (
                re.sub(r"(?m) +# .*$", "", block[2]) if block[1] in ("sh", "python") else block[2]
            )
            found.append(f"{block[1]}: {bare}")
            continue
        for line in part.splitlines():
            if line.startswith("#"):
                found.append(line.split()[0])
            elif line.startswith("|"):
                found.append(f"row of {line.count('|') - 1}")
    return found


def figures(text: str) -> list[str]:
    """The numbers of the tables, in their order."""
    rows = [line for line in BLOCK.sub("", text).splitlines() if line.startswith("|")]
    return [number for row in rows for number in re.findall(r"\b\d[\d.,]*\d\b", row)]


@pytest.mark.parametrize(("english", "chinese"), PAGES, ids=IDS)
def test_a_translation_has_the_headings_and_the_code_of_its_page(
    english: Path, chinese: Path
) -> None:
    ours = shape(english.read_text(encoding="utf-8"))
    theirs = shape(chinese.read_text(encoding="utf-8"))
    assert theirs == ours


@pytest.mark.parametrize(("english", "chinese"), PAGES, ids=IDS)
def test_a_translation_has_the_figures_of_its_page(english: Path, chinese: Path) -> None:
    ours = figures(english.read_text(encoding="utf-8"))
    assert [n for n in figures(chinese.read_text(encoding="utf-8")) if n in ours] == ours


@pytest.mark.parametrize(("english", "chinese"), PAGES, ids=IDS)
def test_each_page_leads_to_the_other(english: Path, chinese: Path) -> None:
    for page, other in ((english, chinese), (chinese, english)):
        links = re.findall(r"\]\(([\w./-]+\.md)\)", page.read_text(encoding="utf-8"))
        assert other in {(page.parent / link).resolve() for link in links}
        assert [link for link in links if not (page.parent / link).is_file()] == []


def test_a_page_out_of_step_is_noticed() -> None:
    text = "# A\n\n```sh\nrun it  # now\n```\n\n| a | 1.5 |\n"
    assert shape(text) == shape("# 甲\n\n```sh\nrun it  # 现在\n```\n\n| 乙 | 1.5 |\n")
    for other in (text.replace("# A", "## A"), text.replace("run", "walk"), text + "| b |\n"):
        assert shape(other) != shape(text)
    assert figures(text) == ["1.5"]
