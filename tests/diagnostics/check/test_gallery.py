"""Programs after public threads: what ``promoarray check`` says of each stands in its docstring."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from promoarray import cli

GALLERY = sorted((Path(__file__).parent / "gallery").glob("*.py"))


def said(losses: list[dict[str, Any]]) -> str:
    """What a report says of a program, without places."""
    told = []
    for each in losses:
        edit = each["edit"] or {"changes": []}
        told.append(f"{each['expression']}: {each['kind']}: {each['words']}")
        told += [f"write {change['write']}" for change in edit["changes"]]
    return " ".join(" ".join(told).split())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_what_was_lost_is_told_with_a_remedy(
    path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    cli.main(["check", str(path), "--json"])
    data = json.loads(capfd.readouterr()[0])
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    report = docstring.partition("Report:")[2]
    assert said(data["losses"]) == " ".join(report.split())
    assert data["exit_code"] == (1 if report else 0)
    assert data["examined"]


def test_there_are_enough() -> None:
    assert len(GALLERY) >= 24
