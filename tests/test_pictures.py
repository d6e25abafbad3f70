"""The rules drawn in the pages are those that the policies have."""

from __future__ import annotations

from pathlib import Path

import drawn_rules
import pytest

DOCS = Path(__file__).parent.parent / "docs"
PICTURES = drawn_rules.pictures()


@pytest.mark.parametrize("file", PICTURES)
def test_a_drawn_rule_is_the_policys(file: str) -> None:
    drawn = (drawn_rules.TARGET / file).read_text(encoding="utf-8")
    assert drawn == PICTURES[file], "draw them again: python docs/drawn_rules.py"


def test_every_picture_is_shown_by_a_page() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    assert [file for file in PICTURES if f"rules/{file}" not in pages] == []
    assert {path.name for path in drawn_rules.TARGET.iterdir()} == set(PICTURES)
