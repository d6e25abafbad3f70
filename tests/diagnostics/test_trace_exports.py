"""Traces as SARIF and as Chrome's traces."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.diagnostics.tracing import exports


def program() -> None:
    small, single = pa.asarray([1, 2], dtype=pa.int8), pa.asarray([0.5, 1.5], dtype=pa.float32)
    for _ in range(4):
        small + single
    single + pa.asarray([1, 2], dtype=pa.int64)
    np.asarray(single)


def test_sarif_has_a_result_for_each_cast_at_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "trace.sarif"
    with pa.trace() as trace:
        program()
    trace.to_sarif(path)
    (run,) = json.loads(path.read_text(encoding="utf-8"))["runs"]
    results = run["results"]
    assert [each["ruleId"] for each in results] == [
        "implicit-cast",
        "implicit-cast",
        "lossy-cast",
        "escape",
    ]
    assert [run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] for each in results] == [
        each["ruleId"] for each in results
    ]
    first, lossy = results[0], results[2]
    assert first["message"]["text"] == "add casts int8 -> float32 (4 times)"
    assert lossy["message"]["text"].startswith("add casts int64 -> float64: keeps integers up to")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("test_trace_exports.py")
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    region = place["region"]
    written = lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1]
    assert written == "small + single"
    assert len({each["partialFingerprints"]["promoarray/v1"] for each in results}) == 4


def _events(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))["traceEvents"])


def test_a_chrome_trace_has_an_instant_for_each_cast_in_order(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with pa.trace(timeline=True) as trace:
        program()
    trace.to_chrome_trace(path)
    events = [e for e in _events(path) if e["ph"] == "i"]
    assert [e["name"] for e in events] == [
        *["int8 -> float32"] * 4,
        "float32 -> float64",
        "int64 -> float64",
        "float32 by __array__",
    ]
    assert [e["cat"] for e in events] == [*["cast"] * 5, "lossy cast", "escape"]
    times = [e["ts"] for e in events]
    assert times == sorted(times)
    assert times[0] >= 0
    assert len(events) - 1 == trace.casts.total()
    assert events[0]["args"]["line"] == events[3]["args"]["line"]
    named = [e for e in _events(path) if e["ph"] == "M"]
    assert {e["args"]["name"] for e in named} == {"promoarray", threading.current_thread().name}
    lossy = trace.filter(lossy=True)
    lossy.to_chrome_trace(path)
    assert [e["cat"] for e in _events(path) if e["ph"] == "i"] == ["lossy cast", "escape"]


def test_of_too_many_events_the_first_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "MOST_MOMENTS", 3)
    path = tmp_path / "trace.json"
    with pa.trace(timeline=True) as trace:
        program()
    trace.to_chrome_trace(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    assert len([e for e in data["traceEvents"] if e["ph"] == "i"]) == 3
    assert data["otherData"]["events left out"] == 4


def test_times_that_were_not_kept_are_not_made_up(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with pa.trace() as trace:
        program()
    with pytest.raises(ValueError, match=r"pa.trace\(timeline=True\)"):
        trace.to_chrome_trace(path)
    assert not path.exists()


def test_a_file_that_cannot_be_written_leaves_none(tmp_path: Path) -> None:
    with pa.trace() as trace:
        program()
    with pytest.raises(FileNotFoundError):
        trace.to_sarif(tmp_path / "no such folder" / "trace.sarif")
    assert not list(tmp_path.iterdir())
