"""A report without some of its findings has all the others."""

from __future__ import annotations

import linecache

import numpy as np

import promoarray as pa
from promoarray.diagnostics.ask.observer import shadowed
from promoarray.diagnostics.compare.output import without
from promoarray.diagnostics.findings.results import Finding, findings
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.report import Report
from promoarray.promotion.registry import as_policy

SOURCE = """\
for n in range(2):
    y = x * 1.5
z = y + n
u = xp.astype(f, xp.float8_e4m3fn)
v = xp.astype(xp.asarray([[300.0, float("nan")]]), xp.int8)
np.asarray(x), np.asarray(f)
w = xp.where(x > 1, 2.5, x)
t = xp.add(x, 1)
k = float(t[0])
wide = y.dtype == xp.float64
"""


def made() -> Report:
    linecache.cache["<shown>"] = len(SOURCE), None, SOURCE.splitlines(keepends=True), "<shown>"
    names = {"xp": pa, "np": np, "x": pa.asarray([1, 2], dtype=pa.int8)}
    names["f"] = pa.asarray([500.0, 1.0], dtype=pa.float32)
    policies = ("torch", "onnx", "jax", "paddle@3.3", "tensorflow", "aclnn@8.5")
    with shadowed(tuple(map(as_policy, policies))) as report:
        exec(compile(SOURCE, "<shown>", "exec"), names)
    return report


def counts(found: list[Finding]) -> dict[Finding, int]:
    return {each: each.count for each in found}


def test_each_finding_can_be_left_out() -> None:
    report = made()
    every = findings(report)
    assert {each.kind for each in every} == {*KINDS}
    assert len(set(every)) == len(every)
    for each in every:
        left = findings(without(report, {each}))
        assert counts(left) == {f: n for f, n in counts(every).items() if f != each}
    assert counts(findings(report)) == counts(every)  # which is as it was


def test_what_is_left_says_nothing_of_the_others() -> None:
    report = made()
    torch = {each for each in findings(report) if each.policy == "torch@2.13"}
    text = str(without(report, torch))
    assert torch
    assert "torch@2.13" not in text
    assert "onnx@25" in text
    none = without(report, set(findings(report)))
    assert findings(none) == []
    assert none.roots == []
    assert none.operations == report.operations
