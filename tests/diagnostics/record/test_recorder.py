"""The recorder, told of a framework that there is not."""

from __future__ import annotations

import gc
import math
import sys
from types import FrameType
from typing import Any

import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.diagnostics.calls.common import Words, is_reflected
from promoarray.diagnostics.calls.common import words as words_of
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.record.block import FRAMEWORKS
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.report import KINDS, Drift, RecordedReport
from promoarray.operations import OPERATIONS, STANDS_FOR, Form
from promoarray.policies import as_policy


class Tensor:
    """An array of the framework."""


def here() -> FrameType:
    """The caller's frame."""
    return sys._getframe(1)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder(as_policy("torch"), (as_policy("numpy@2"), as_policy("numpy@1")))


def made(
    recorder: Recorder, dtype: dt.DType = dt.int32, ndim: int = 1
) -> tuple[Tensor, AbstractArray]:
    x = Tensor()
    return x, recorder.abstract(x, dtype, ndim)


def test_a_place_at_which_policies_differ_is_in_the_report(recorder: Recorder) -> None:
    _, x = made(recorder)
    recorder.saw("add", (x, 1.5), Result(Tensor(), dt.float32, 1), here())
    (found,) = recorder.report.divergences
    assert found.site.expression.startswith("recorder.saw(")
    assert found.site.file == __file__
    assert str(found.answers["torch@2.13"]) == "float32"
    assert str(found.answers["numpy@2"]) == "float64"
    assert found.answers["numpy@2"].origin == "root"
    assert "here()" in str(recorder.report)


def test_what_differs_goes_on_with_the_array_and_ends_with_it(recorder: Recorder) -> None:
    _, x = made(recorder)
    y = Tensor()
    recorder.saw("add", (x, 1.5), Result(y, dt.float32, 1), here())
    assert y in recorder.carried
    recorder.saw(
        "exp", (recorder.abstract(y, dt.float32, 1),), Result(Tensor(), dt.float32, 1), here()
    )
    assert recorder.report.divergences[1].answers["numpy@2"].origin == "inherits"
    assert len(recorder.carried) == 1  # the second result is gone already
    view = Tensor()
    recorder.moved(y, Result(view, dt.float32, 2))
    assert view in recorder.carried
    recorder.made(Result(view, dt.float32, 2))
    assert view not in recorder.carried
    del y
    gc.collect()
    assert not len(recorder.carried)


def test_of_arrays_without_weak_references_those_are_forgotten_that_the_program_has_not(
    recorder: Recorder,
) -> None:
    _, x = made(recorder)
    scalars = [(n,) for n in range(4096 + 10)]
    for scalar in scalars:
        recorder.saw("add", (x, 1.5), Result(scalar, dt.float32, 0), here())
    for n in range(9000):
        recorder.saw("add", (x, 1.5), Result((n, n), dt.float32, 0), here())
    assert all(scalar in recorder.carried for scalar in scalars)
    assert len(recorder.carried) < len(scalars) + 4096


def test_the_frameworks_own_dtype_counts_and_where_our_policy_differs_it_drifts(
    recorder: Recorder,
) -> None:
    _, x = made(recorder)
    recorder.saw("add", (x, 1.5), Result(Tensor(), dt.float64, 1), here())
    assert recorder.report.drift == {
        Drift("add", Form.OPERATOR, ("int32", "Python float"), "float32", "float64"): 1
    }
    assert not recorder.report.divergences  # numpy@2 says float64 as well
    said = "add(int32, Python float) as an operator: the policy says float32, the framework float64"
    assert list(recorder.report.drifted()) == [f"{said}  ×1"]


def test_each_result_of_a_decomposition_goes_on_with_its_own_dtype(recorder: Recorder) -> None:
    left = Tensor()
    recorder.saw("add", (made(recorder)[1], 1.5), Result(left, dt.float32, 2), here())
    u, s, v = Tensor(), Tensor(), Tensor()
    results = Result(u, dt.float32, 2), Result(s, dt.float32, 1), Result(v, dt.float32, 2)
    x = recorder.abstract(left, dt.float32, 2)
    recorder.saw("svd", (x,), results[0], here(), more=results[1:])
    for factor in (u, s, v):
        assert recorder.report.seen(recorder.carried.slot(factor)).answers["numpy@2"] is dt.float64
    values = Tensor()
    z = recorder.abstract(Tensor(), dt.complex64, 2)
    recorder.saw("svd", (z,), Result(values, dt.float32, 1), here())
    slot = recorder.report.seen(recorder.carried.slot(values))
    assert slot is dt.float32  # all say so of singular values alone
    assert not recorder.report.drift


def test_a_step_of_something_greater_is_no_evidence_of_drift(recorder: Recorder) -> None:
    _, x = made(recorder)
    recorder.saw("add", (x, 1.5), Result(Tensor(), dt.float64, 1), here(), exact=False)
    assert not recorder.report.drift


def test_values_of_0_d_arrays_are_read_only_by_policies_that_look_at_them() -> None:
    read: list[int] = []

    def value() -> float:
        read.append(1)
        return 2.5

    x = Tensor()
    for policies, times in ((("numpy@2",), 0), (("numpy@1",), 1)):
        recorder = Recorder(as_policy("torch"), tuple(map(as_policy, policies)))
        zero = recorder.abstract(Tensor(), dt.float64, 0, value)
        array = recorder.abstract(x, dt.float32, 1)
        recorder.saw("add", (array, zero), Result(Tensor(), dt.float32, 1), here())
        assert bool(read) is bool(times)


def test_a_value_that_cannot_be_read_counts_as_one_of_its_kind() -> None:
    def value() -> Any:
        raise RuntimeError("it is on a device that holds no numbers")

    for dtype, expected in ((dt.float32, 1.0), (dt.int8, 1), (dt.bool, True), (dt.complex64, 1)):
        item = AbstractArray.of(dtype, 0, value)._buffer.item()
        assert item == expected
        assert math.isfinite(abs(item))


@pytest.mark.parametrize("edited", [True, False])
def test_a_refusal_has_an_edit_where_the_operands_stand_in_the_source(edited: bool) -> None:
    recorder = Recorder(as_policy("paddle@3.3"), (as_policy("torch"),), framework="paddle 3.3.1")

    class Operand:
        def __init__(self, dtype: dt.DType) -> None:
            self.abstract = made(recorder, dtype)[1]

        def __add__(self, other: Operand) -> None:
            asked = "add", (self.abstract, other.abstract), {}, Form.OPERATOR
            recorder.refused(*asked, sys._getframe(1), TypeError("no"), edited=edited)

    x, y = Operand(dt.int32), Operand(dt.float32)
    x + y
    refused = recorder.report.refused
    assert refused is not None
    assert bool(refused.edit) is edited


def test_reports_of_several_processes_are_merged(recorder: Recorder) -> None:
    _, x = made(recorder)
    recorder.count("operation", "add")
    recorder.saw("add", (x, 1.5), Result(Tensor(), dt.float64, 1), here())
    other = Recorder(recorder.home, recorder.report.policies)
    other.count("unknown", "mystery")
    other.report.merge(recorder.report)
    assert other.report.understood == 0.5
    assert other.report.operations == 1
    assert other.report.drift.total() == 1
    data = other.report.to_dict()
    assert data["calls"][0] == {"kind": "operation", "name": "add", "count": 1}
    assert data["drift"][0]["framework"] == "float64"
    assert "Not examined: mystery (the call is not understood)" in str(other.report)


RECORDED = "torch", "paddle", "tensorflow"


@pytest.mark.parametrize("words", [*map(words_of, RECORDED)], ids=RECORDED)
def test_every_expansion_is_made_of_operations_and_its_own_parameters(words: Words) -> None:
    for name, expansion in words.expansions.items():
        assert name not in words.operations, name
        assert expansion.steps, name
        for number, step in enumerate(expansion.steps):
            assert step.operation in {*OPERATIONS, *STANDS_FOR}, name
            assert set(step.operands) <= {*expansion.parameters, "_"}, name
            assert number or "_" not in step.operands, name
            assert len(step.operands) == OPERATIONS[step.operation].arity, (name, step)


@pytest.mark.parametrize("words", [*map(words_of, RECORDED)], ids=RECORDED)
def test_no_name_has_two_meanings(words: Words) -> None:
    groups = [words.moves, words.casts, words.makes, words.defaults, words.expansions]
    for number, names in enumerate(groups):
        for others in groups[number + 1 :]:
            assert not set(names) & set(others)
    assert set(words.operations.values()) <= {*OPERATIONS, *STANDS_FOR}


def test_methods_of_the_right_operand() -> None:
    assert is_reflected("__rsub__")
    assert not is_reflected("__rshift__")
    assert is_reflected("__rrshift__")


@pytest.mark.parametrize(
    ("version", "name"),
    [("2.13.0+cpu", "torch@2.13"), ("2.12.1", "torch@2.13"), ("2.9.0", "torch@2.11")],
)
def test_the_policy_of_a_version(version: str, name: str) -> None:
    assert FRAMEWORKS["torch"].home(version) is as_policy(name)


def test_recording_needs_the_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError), pa.record("torch"):
        pass


def test_what_was_recorded_is_told_of_one_and_of_several_and_fits_the_screen() -> None:
    report = RecordedReport(as_policy("torch@2.13"), (), framework="torch")
    report.calls.update({("operation", "add"): 1, ("cast", "to"): 1, ("make", "ones"): 2})
    (said,) = report.recorded()
    assert said == "4 calls recorded: 1 is one operation, 1 explicit cast, 2 make arrays."
    report.calls.update({(kind, "f"): 200 for kind in KINDS})
    last = str(report).rpartition("calls recorded")[2].splitlines()[1:]
    assert last
    assert all(line.startswith("    ") and len(line) <= 100 for line in last if "dtype" not in line)
