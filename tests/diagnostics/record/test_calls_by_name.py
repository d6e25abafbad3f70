"""Functions by name: what a framework refuses, defines otherwise, or was not asked about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promoarray.__main__ import main

PROGRAM = """\
import torch
import torch.nn.functional as F
x = torch.tensor([1, 2, 3, 4])
middle = torch.median(x * 1.0)
active = F.relu(x)
added = torch.zeros(2).addr(x[:2] * 1.0, x[:2] * 1.0)
flat = x.reshape(2, 2).t().contiguous()
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pytest.importorskip("torch")
    path: Path = tmp_path_factory.mktemp("calls") / "program.py"
    path.write_text(PROGRAM)
    out = path.with_suffix(".json")
    main(["compare", str(path), "--policies", "paddle@3.3", "--json", "--output", str(out)])
    data: dict[str, Any] = json.loads(out.read_text())
    return data


def _open(data: dict[str, Any]) -> dict[str, str]:
    (verdict,) = data["verdicts"]
    return {each["what"]: each["why"] for each in verdict["not_examined"]}


def test_a_kernel_that_a_framework_lacks_is_a_refusal(data: dict[str, Any]) -> None:
    refused = [each for each in data["findings"] if each["kind"] == "refuse"]
    assert [each["line"] for each in refused] == [5]


def test_a_function_that_is_defined_otherwise_is_named(data: dict[str, Any]) -> None:
    assert "the mean of the two in the middle" in _open(data)["median"]


def test_a_function_that_was_not_asked_is_named_and_structure_is_not(data: dict[str, Any]) -> None:
    assert "not asked" in _open(data)["addr"]
    assert {"reshape", "t", "contiguous", "relu"}.isdisjoint(_open(data))
