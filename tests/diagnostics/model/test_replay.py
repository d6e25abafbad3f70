"""A run recorded with its flow, asked afterwards, gives what one gives that is asked meanwhile."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.core.observers import observing
from promoarray.diagnostics.ask.observer import ShadowObserver
from promoarray.diagnostics.ask.replay import replay
from promoarray.diagnostics.model.flow import Flow
from promoarray.diagnostics.record.block import RECORDED, recording
from promoarray.diagnostics.record.flow import FlowRecorder
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.record.saved import as_data, from_data
from promoarray.diagnostics.report import Report
from promoarray.policies import as_policy, get_policy
from promoarray.promotion.policy import Policy

POLICIES = tuple(map(as_policy, ("paddle@3.3", "numpy@2", "numpy@1", "jax@x64", "torch")))
PROGRAMS = Path(__file__).parents[1] / "record" / "programs"


def _found(report: Report) -> dict[object, int]:
    return {
        (
            *(d.site, d.program, d.name, d.part, d.operands, d.form),
            tuple(
                (n, str(a), a.origin, a.reason, bool(a.fix)) for n, a in sorted(d.answers.items())
            ),
        ): d.count
        for d in report.divergences
    }


def _asked_again(flow: Flow, report: Report, asked_of: Any = None) -> Report:
    replay(from_data(Flow, json.loads(json.dumps(as_data(flow)))), report, asked_of)
    return report


def _program() -> None:
    x, w = pa.asarray([1, 2], dtype=pa.int64), pa.asarray([0.5, 1.5], dtype=pa.float32)
    total = pa.zeros(2)
    for step in range(4):
        total += x * w
        total = total + step
        total[0] = 300
        y = total.astype(pa.float16) + w[step % 2]
    z = pa.where(y > 1, y, 2.5)
    pa.concat([z, x]), pa.mean(z), x > 1, x**2, pa.astype(w, pa.uint8), x / 0.5 - total


def test_a_program_of_ours_is_asked_again() -> None:
    asked, recorded = Report(get_policy(), POLICIES), Report(get_policy(), POLICIES)
    with observing(ShadowObserver(asked)):
        _program()
    with observing(FlowRecorder(recorded)):
        _program()
    again = _asked_again(recorded.flows[0], Report(get_policy(), POLICIES))
    assert {k[2:]: n for k, n in _found(again).items()} == {
        k[2:]: n for k, n in _found(asked).items()
    }
    assert again.operations == asked.operations


def _recorded(program: Path, policies: tuple[Policy, ...]) -> RecordedReport:
    torch: Any = pytest.importorskip("torch")
    known, named = RECORDED["torch"], f"torch {torch.__version__}"
    recorder = Recorder(known.home(torch.__version__), policies, framework=named)
    with recording(known, recorder), np.errstate(all="ignore"):
        runpy.run_path(str(program))
    return recorder.report


@pytest.mark.slow
@pytest.mark.parametrize("name", ["autocast", "convolutions", "science", "transformer"])
def test_a_pytorch_program_can_be_asked_by_policies_that_nobody_named(name: str) -> None:
    asked = _recorded(PROGRAMS / f"{name}.py", POLICIES)
    others = _recorded(PROGRAMS / f"{name}.py", tuple(map(as_policy, ("numpy@1", "aclnn@8.5"))))
    again = _asked_again(others.flows[0], Report(others.run, POLICIES), lambda home: POLICIES)
    assert _found(again) == _found(asked)
    assert again.operations == asked.operations


def test_combinations_that_are_not_asked_about_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promoarray.diagnostics.record.flow.DEPTH", 1)  # one operation for both
    recorded = Report(get_policy(), POLICIES)
    with observing(FlowRecorder(recorded)):
        for x in (pa.zeros(2, dtype=pa.float64), pa.asarray([1, 2]) * 1.0):  # PyTorch: float32
            x * 2.0
    whole = _asked_again(recorded.flows[0], Report(get_policy(), POLICIES))
    monkeypatch.setattr("promoarray.diagnostics.ask.replay.MOST", 1)
    part = _asked_again(recorded.flows[0], Report(get_policy(), POLICIES))
    assert not whole.unanswered
    assert {each.what for each in part.unanswered} == {"multiply"}
    assert {name for each in part.unanswered for name in each.policies} == {
        p.name for p in POLICIES
    } - {"numpy@2"}
