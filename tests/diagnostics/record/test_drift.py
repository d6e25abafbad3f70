"""Functions of the installed frameworks, picked at random, against our policies of them."""

from __future__ import annotations

from types import SimpleNamespace

import drift
import pytest

from promoarray.diagnostics.record.report import Drift
from promoarray.operations import Form
from promoarray.policies import as_policy


def test_drift_without_a_reason_is_told_and_a_reason_without_drift_too() -> None:
    listed = Drift("matmul", Form.FUNCTION, ("float32", "int32"), "refuses", "float32")
    new = Drift("add", Form.OPERATOR, ("float32", "int32"), "refuses", "float32")
    report = SimpleNamespace(drift=[listed, new], run=as_policy("paddle@3.3"))
    told, gone = drift.judge(report)
    assert told == [str(new)]
    assert "clip : *complex*" in gone
    assert not any(pattern.startswith("matmul") for pattern in gone)


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["torch", "paddle"])
def test_what_functions_give_is_what_our_policy_says(framework: str) -> None:
    pytest.importorskip(framework)
    report = drift.ask(framework, calls=10)
    assert report.operations > 500
    assert drift.judge(report)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("x64", [False, True])
def test_what_functions_of_jax_give_is_what_our_policy_says(x64: bool) -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", x64)
    try:
        report = drift.ask("jax", calls=4)
    finally:
        jax.config.update("jax_enable_x64", before)
    assert report.run.name == ("jax@x64" if x64 else "jax@x32")
    assert report.operations > 300
    assert drift.judge(report)[0] == []
