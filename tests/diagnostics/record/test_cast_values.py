"""Values of casts in recorded programs: of the dtype that every policy gives, other bits."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy_runs import recorded_run
from value_words import said

import promoarray as pa
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.policies import as_policy

NUMPY = """
import numpy as np
for n in range(2):
    x = np.array([-127.5, 300.0, np.nan], np.float32)
    x.astype(np.uint8)
    x.astype(np.float16)
y = np.zeros(3, np.uint8)
y[:] = x
"""


def _said(report: RecordedReport) -> dict[str, list[str]]:
    return {c.place.site.text: [*said(c)] for c in report.value_changes}


@pytest.mark.xdist_group("blocks")
def test_casts_of_a_numpy_program_are_compared_by_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cast_values_program.py").write_text(NUMPY)
    monkeypatch.syspath_prepend(tmp_path)
    with np.errstate(invalid="ignore"), pa.record("numpy", "jax@x32", "torch") as report:
        import cast_values_program  # noqa: F401
    said = _said(report)
    assert said == {
        "x.astype(np.uint8)": [
            "4 of 6 differ under jax@x32: [0] -127.5 is 0 there, 129 in the run"
        ],
        "y[:] = x": ["2 of 3 differ under jax@x32: [0] -127.5 is 0 there, 129 in the run"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("cast", ["x.to(torch.uint8)", "x.byte()", "x.type(torch.uint8)"])
def test_casts_of_a_pytorch_program_are_compared_by_value(cast: str) -> None:
    torch = pytest.importorskip("torch")
    with pa.record("torch", "jax@x32", "paddle@3.3") as report:
        x = torch.tensor([-127.5, 300.0, 3.0])
        exec(cast)
        x.to(torch.float16)
        torch.tensor([500.0, 1.0]).to(torch.float8_e4m3fn)
    words = [word for said in _said(report).values() for word in said]
    assert "2 of 3 differ under jax@x32: [0] -127.5 is 0 there, 129 in the run" in words
    assert "1 of 2 differ under jax@x32: [0] 500.0 is nan there, 448.0 in the run" in words
    assert len(words) == 2


PASSES = """
import numpy as np

passes = ([1.5, -2.0], [0.5, 3.0], [1.0, 3e9], [2.0, 1.0], [np.nan, 1.0], [np.inf, -3e9])
kept = np.zeros(2, np.int32)
for values in passes:
    x = np.array(values, DTYPE)
    with np.errstate(invalid="ignore"):
        y = x.astype(np.int32)
        z = x[::-1].astype(np.int32)
        kept[:] = x
"""


@pytest.mark.parametrize("dtype", ["np.float64", "np.float32", "np.float16"])
def test_values_of_later_passes_are_compared(tmp_path: Path, dtype: str) -> None:
    """A pass whose values all integers hold says nothing of the next one."""
    script = tmp_path / "program.py"
    script.write_text(PASSES.replace("DTYPE", dtype))
    recorder = Recorder(as_policy("numpy@2"), (as_policy("jax@x64"),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorded_run(str(script), recorder)
    found = {c.place.site.line: (c.passes, c.size) for c in recorder.report.value_changes}
    beyond = 3  # of float16 by infinity in the third pass
    assert found == dict.fromkeys((9, 10, 11), (beyond, 2 * beyond))
    assert recorder.report.calls["cast", "astype"] == 12


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_fake_quantization_is_compared_by_value_where_a_policy_has_it() -> None:
    torch = pytest.importorskip("torch")
    with pa.record("torch", "tensorflow", "onnx@21", "jax@x32") as report:
        x = torch.tensor([0.25, 0.5, 100.0])
        for _ in range(2):
            y = torch.fake_quantize_per_tensor_affine(x, 1.0, 3, -128, 127)
        torch.fake_quantize_per_channel_affine(
            x[None], torch.tensor([1.0]), torch.tensor([0], dtype=torch.int32), 0, 0, 100
        )
        y * 2
        torch.quantize_per_tensor(x, 1.0, 1, torch.quint8)
        s, z = torch.tensor([1.0]), torch.tensor([1])
        torch.quantize_per_channel(x[None], s, z, 0, torch.qint8)
    assert _said(report) == {
        "torch.quantize_per_tensor(x, 1.0, 1, torch.quint8)": [
            "1 of 3 differ under onnx@21: [1] 0.5 is 1 there, 2 in the run"
        ],
        "torch.quantize_per_channel(x[None], s, z, 0, torch.qint8)": [
            "1 of 3 differ under onnx@21: [0, 1] 0.5 is 1 there, 2 in the run"
        ],
        "y = torch.fake_quantize_per_tensor_affine(x, 1.0, 3, -128, 127)": [
            "2 of 6 differ under tensorflow: [1] 0.5 is 1.0 there, 0.0 in the run"
        ],
    }
    left = {(each.what, policy) for each in report.unexamined for policy in each.policies}
    channel = "fake_quantize_per_channel_affine"
    assert {(channel, "onnx@21"), (channel, "jax@x32"), (channel, "tensorflow")} <= left
    assert ("fake_quantize_per_tensor_affine", "onnx@21") not in left
