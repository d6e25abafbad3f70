"""PyTorch programs as they are, recorded while PyTorch itself runs them."""

from __future__ import annotations

import copy
import math
import runpy
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.diagnostics.findings.results import edits
from promoarray.diagnostics.record.watcher import Watcher

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")

PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))
POLICIES = "numpy@2", "jax@x64", "paddle@3.3", "aclnn@8.5", "tensorflow", "onnx@25"


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def ran(path: Path) -> dict[str, Any]:
    return runpy.run_path(str(path), run_name="__main__")


@cache
def recorded(path: Path) -> tuple[Any, dict[str, Any]]:
    with pa.record("torch", *POLICIES) as report:
        left = ran(path)
    return report, left


def line_of(path: Path, text: str) -> int:
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def answers(report: Any, expression: str) -> dict[str, str]:
    """What each policy answers where an expression of the program differs."""
    found = [d for d in report.divergences if d.site.expression == expression]
    assert len(found) == 1, "\n".join(f"{d.site} {d.site.expression}" for d in report.divergences)
    return {name: str(answer) for name, answer in found[0].answers.items()}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_nearly_every_call_is_understood_and_none_drifts(path: Path) -> None:
    report, _ = recorded(path)
    assert report.understood >= 0.98, list(report.recorded())
    assert not list(report.drifted())
    assert report.operations > 20


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_program_computes_what_it_would_anyway(path: Path) -> None:
    bare = ran(path)
    _, watched = recorded(path)
    tensors = {name: x for name, x in bare.items() if isinstance(x, torch.Tensor)}
    assert len(tensors) > 2
    for name, x in tensors.items():
        assert x.dtype is watched[name].dtype
        assert torch.equal(
            torch.nan_to_num(x.detach(), nan=7), torch.nan_to_num(watched[name].detach(), nan=7)
        )


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_calls_alike_are_told_as_if_each_were_decided_about(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watcher, "keep", lambda *_: None)
    each = recorded.__wrapped__(path)[0].to_dict()
    assert recorded(path)[0].to_dict() == each


def test_what_hangs_on_more_than_types_is_decided_again() -> None:
    x, small, large = torch.ones(2, dtype=torch.int8), torch.tensor(3), torch.tensor(300)
    mine, number = x * 0.5, 2
    with pa.record("torch", "numpy@1") as report:
        for y in (small, large, small, large, large):
            x + y  # NumPy 1 looks at the value
    assert [d.count for d in report.divergences] == [3]
    with pa.record("torch", "numpy@2") as report:
        for a, b in ((number, x / 2), (x / 2, number), (number, x / 2)):
            a * b
        for y in (mine, x * 0.5):
            y.add_(1)
        for parts in (1, 2):
            torch.split(x / 2, parts)[0] + 1
    counts = {(d.site.expression, d.operands): d.count for d in report.divergences}
    assert counts["a * b", ("Python int", "float32")] == 2
    assert counts["a * b", ("float32", "Python int")] == 1
    assert counts["y.add_(1)", ("float32", "Python int")] == 1
    assert counts["torch.split(x / 2, parts)[0] + 1", ("float32", "Python int")] == 2


def test_scalars_of_numpy_are_python_numbers_to_pytorch() -> None:
    x = torch.ones(2, dtype=torch.int8)
    with pa.record("torch", "numpy@2") as report:
        for number in (np.float32(0.5), np.float64(0.5), np.int64(2), np.bool_(True)):
            assert (x * number).dtype is (torch.int8 if number == 2 else torch.float32)
    assert [(d.operands, d.count) for d in report.divergences] == [(("int8", "Python float"), 3)]
    assert report.understood == 1
    assert not report.drift


def test_what_is_written_into_has_the_dtype_that_it_was_made_with() -> None:
    x, y = torch.ones(2, dtype=torch.int8), torch.ones(2, dtype=torch.uint8)
    target = torch.empty(2, dtype=torch.float64)
    with pa.record("torch", "numpy@2", "jax@x64") as report:
        for _ in range(2):
            torch.mul(x, 0.5, out=target)
            torch.add(x, y, out=target)
        target * 2
    assert not report.drift
    assert [(d.operands, d.count) for d in report.divergences] == [(("int8", "Python float"), 2)]


def test_what_is_computed_without_python_functions_is_named() -> None:
    x = torch.ones(2, requires_grad=True)
    with pa.record("torch", "numpy@2") as report:
        for _ in range(2):
            (x * 2).sum().backward()
        torch.autograd.grad((x * 2).sum(), x)
    lines = list(report.recorded())
    assert "not seen, as no Python function is called there: backward ×2, grad ×1" in lines
    assert report.understood == 1
    assert report.calls.total() == 9


def test_the_report_names_the_lines_that_someone_who_ports_has_to_change() -> None:
    science = next(path for path in PROGRAMS if path.stem == "science")
    report, _ = recorded(science)
    assert answers(report, "counts / times.clamp(min=0.25)") == {
        "torch@2.13": "float32",
        "numpy@2": "float64",
        "jax@x64": "float64",
        "paddle@3.3": "refuses",
        "aclnn@8.5": "float32",
        "tensorflow": "refuses",
        "onnx@25": "refuses",
    }
    lines = {d.program.line for d in report.roots if d.answers["numpy@2"].origin == "root"}
    assert line_of(science, "rates = ") in lines
    assert line_of(science, "half = ") not in lines
    assert all(d.program.file == str(science) for d in report.roots)


def test_what_a_library_computes_has_the_line_of_the_program() -> None:
    report, _ = recorded(next(path for path in PROGRAMS if path.stem == "transformer"))
    made = [d for d in report.divergences if d.site.file.endswith("torch/nn/modules/linear.py")]
    assert made
    assert {Path(d.program.file).name for d in made} == {"transformer.py"}


def test_python_numbers_on_either_side_are_seen_as_the_program_wrote_them() -> None:
    x = torch.arange(3, dtype=torch.int8)
    with pa.record("torch", "numpy@2") as report:
        2.0 / x
        x * 2.5
        torch.add(x, 1.5)
    found = {d.site.expression: d.operands for d in report.divergences}
    assert found == {
        "2.0 / x": ("Python float", "int8"),
        "x * 2.5": ("int8", "Python float"),
        "torch.add(x, 1.5)": ("int8", "Python float"),
    }


def test_bounds_of_one_side_are_clipped_to() -> None:
    x, y = torch.arange(3, dtype=torch.int32), torch.ones(3, requires_grad=True)
    y.grad = torch.ones(3)
    with pa.record("torch", "numpy@2") as report:
        x.clamp_min(0.5)
        torch.clamp_max(x, 0.5)
        torch.nn.utils.clip_grad_value_([y], 0.1)
    assert {d.name for d in report.divergences} == {"clip"}
    assert len(report.divergences) == 2
    assert report.understood == 1
    assert not report.drift


def test_in_place_operations_and_assignments() -> None:
    x, y = torch.ones(3, dtype=torch.float16), torch.ones(3, dtype=torch.float64)
    with pa.record("torch", "numpy@2", "paddle@3.3", "tensorflow") as report:
        x += y
        x.mul_(2.5)
        x[0] = y[1]
    assert x.dtype is torch.float16
    first = report.divergences[0]
    assert first.site.expression in ("x += y", "x")
    assert first.operands == ("float16", "float64")
    assert str(first.answers["tensorflow"]) == "refuses"


def test_a_cast_ends_what_differs_and_a_view_carries_it_on() -> None:
    counts = torch.tensor([1, 2, 3], dtype=torch.int32)
    with pa.record("torch", "numpy@2") as report:
        share = counts / 4
        moved = share.reshape(3, 1).T[0]
        inherited = moved + 1
        like = torch.ones(3, dtype=torch.int8).to(moved)
        like - 1
        cast = moved.to(torch.float32)  # the same tensor: PyTorch has nothing to cast
        cast + 1
    by_expression = {d.site.expression: d.answers["numpy@2"].origin for d in report.divergences}
    assert by_expression == {
        "counts / 4": "root",
        "moved + 1": "inherits",
        "like - 1": "inherits",
    }
    assert inherited.dtype is torch.float32


def test_threads_that_the_block_starts_are_recorded() -> None:
    x = torch.ones(3, dtype=torch.int16)

    def work() -> None:
        x * 0.5

    with pa.record("torch", "numpy@2") as report:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert [d.site.expression for d in report.divergences] == ["x * 0.5"]
    x * 0.25
    assert len(report.divergences) == 1


def test_calls_alike_are_counted_and_asked_about_once() -> None:
    x, y = torch.ones(3, dtype=torch.int16), torch.ones(3)
    with pa.record("torch", "numpy@2") as report:
        for _ in range(50):
            y + 1.5
            x * 0.5
    (found,) = report.divergences
    assert found.count == 50
    assert report.operations == 100
    assert report.calls["operation", "__add__"] + report.calls["operation", "add"] == 50


def test_autocast_is_told_apart_from_promotion() -> None:
    report, _ = recorded(next(path for path in PROGRAMS if path.stem == "autocast"))
    assert {name for kind, name in report.calls if kind == "autocast"} >= {"linear"}
    assert any("cast by autocast" in line for line in report.recorded())


def test_refusals_of_pytorch_itself_raise_as_they_do_anyway() -> None:
    x, y = torch.ones(2, dtype=torch.float8_e4m3fn), torch.ones(2)
    with pa.record("torch", "numpy@2") as report, pytest.raises(RuntimeError):
        x + y
    assert not report.divergences


def test_a_name_that_is_no_framework() -> None:
    with (
        pytest.raises(ValueError, match=r"cannot record 'pytorch'; write one of .*torch"),
        pa.record("pytorch"),
    ):
        pass


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = 2.5

    def forward(self, x: Any) -> Any:
        return self.scale * x


def test_edits_are_in_the_words_of_pytorch_at_the_operand_that_the_program_wrote() -> None:
    x, y, n = torch.tensor([1, 2], dtype=torch.int8), torch.ones(2, dtype=torch.float64), 2.5
    with pa.record("torch", "numpy@2", "paddle@3.3") as report:
        Scaled()(x)
        n * x
        x * n
        -0.5 + x
        True + x.float().int()
        float(n) * x.abs()
        x.abs() * (-math.log(n) / len(x))
        abs(n) * x.abs()  # which of the two is the number is not known
        torch.rsub(x, 1.5)
        x.where(x > 1, y)
        torch.where(x > 1, x, y)
        torch.sigmoid(x)
        torch.add(x, y, alpha=2)
        torch.randn(3)
        torch.stack([x, y])
    written = {d.site.expression: list(edits(d)) for d in report.divergences}
    assert written == {
        "self.scale * x": ["self.scale * x.to(torch.float32)"],
        "n * x": ["n * x.to(torch.float32)"],
        "x * n": ["x.to(torch.float32) * n"],
        "-0.5 + x": ["-0.5 + x.to(torch.float32)"],
        "float(n) * x.abs()": ["float(n) * x.abs().to(torch.float32)"],
        "x.abs() * (-math.log(n) / len(x))": [
            "x.abs().to(torch.float32) * (-math.log(n) / len(x))"
        ],
        "abs(n) * x.abs()": [],
        "x.abs()": ["x.to(torch.int64).abs().to(torch.int8)"],  # Paddle has no abs of int8
        "torch.rsub(x, 1.5)": [],
        "x.where(x > 1, y)": [],
        "torch.where(x > 1, x, y)": ["torch.where(x > 1, x.to(torch.float64), y)"],
        "torch.sigmoid(x)": ["torch.sigmoid(x.to(torch.float32))"],
        "torch.add(x, y, alpha=2)": [],
        "torch.randn(3)": ["torch.randn(3, dtype=torch.float32)"],
        "torch.stack([x, y])": ["torch.stack([x.to(torch.float64), y])"],
    }


def test_a_number_that_alpha_scales_is_a_number() -> None:
    x = torch.ones(2, dtype=torch.int32)
    with pa.record("torch", "jax@x32", "paddle@3.3") as report:
        torch.add(x, 1, alpha=2)
        x.float().sub(2, alpha=0.5)
    assert report.divergences == []


def test_a_deep_copy_moves_values() -> None:
    with pa.record("torch") as report:
        copy.deepcopy(torch.arange(3)) * 1.5
    assert report.understood == 1


def test_how_a_loader_puts_batches_together_is_not_named() -> None:
    with pa.record("torch", "jax@x32") as report:
        loading = torch.utils.data
        for (batch,) in loading.DataLoader(loading.TensorDataset(torch.ones(4, 2)), batch_size=2):
            batch * 2
    assert not report.unanswered


def test_where_as_a_method_has_its_condition_second() -> None:
    x, y = torch.tensor([1, 2], dtype=torch.int8), torch.ones(2, dtype=torch.float64)
    with pa.record("torch", "paddle@3.3") as report:
        x.where(x > 1, y)
    (found,) = report.divergences
    assert found.operands == ("int8", "float64")


def test_numbers_compared_from_the_left_are_seen_so() -> None:
    x = torch.tensor([1, 2], dtype=torch.int8)
    number = 1.5
    with pa.record("torch", "tensorflow") as report:
        assert (number < x).tolist() == [False, True]
    (found,) = report.divergences
    assert (found.name, found.operands) == ("less", ("Python float", "int8"))


def parameters_of(default: str = "") -> Any:
    with pa.record("torch", "numpy@2", "jax@x64", "paddle@3.3") as report:
        if default:
            torch.set_default_dtype(getattr(torch, default))
        layers = torch.nn.Linear(2, 3), torch.nn.LayerNorm(3)
        _ = layers[0](torch.ones(1, 2, dtype=torch.float32).to(layers[0].weight.dtype))
        last = torch.nn.Linear(3, 1)
    assert last.weight.dtype is torch.get_default_dtype()
    return report


def test_parameters_of_modules_are_float32_everywhere() -> None:
    assert not parameters_of().divergences  # so are those of another framework's modules


def test_the_default_dtype_that_a_program_sets_is_one_that_it_names() -> None:
    before = torch.set_default_dtype
    try:
        for default in ("float32", "float64"):
            assert not parameters_of(default).divergences
            with pa.record("torch", "numpy@2") as report:
                pass
            assert torch.set_default_dtype is before
            assert not report.divergences
    finally:
        before(torch.float32)


@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"])
def test_recurrent_layers_are_understood(layer: str) -> None:
    made = getattr(torch.nn, layer)(2, 3)
    with pa.record("torch", "numpy@2") as report:
        made(torch.ones(4, 2))
    assert report.understood == 1, list(report.recorded())
    assert not list(report.drifted())


def test_the_edit_of_a_number_keeps_the_graph_of_a_tensor_in_another_pass() -> None:
    edit = "x * torch.as_tensor(z, dtype=torch.float32)"
    z = torch.ones((), requires_grad=True)
    for each in (z, 2):
        made = eval(edit, {"torch": torch, "x": torch.ones(3), "z": each})
        assert made.dtype is torch.float32
        assert made.requires_grad is (each is z)


def test_what_is_compiled_runs_op_by_op_and_gives_what_it_did() -> None:
    def inner(x: Any) -> Any:
        return x * 2 + 1

    before = torch.compile(lambda x: inner(x) - 1, backend="eager", fullgraph=True)
    x = torch.ones(3, dtype=torch.int32)
    with pa.record("torch", "numpy@2") as report:
        compiled = torch.compile(lambda x: inner(x) / 2, backend="eager", fullgraph=True)
        values = [compiled(x).tolist(), compiled(x).tolist(), before(x).tolist()]
    assert values == [[1.5] * 3, [1.5] * 3, [2] * 3]
    assert {str(d.answers["numpy@2"]) for d in report.divergences} == {"float64"}
    assert torch._dynamo.eval_frame._stance.stance == "default"
    assert [before(x).tolist(), compiled(x).tolist()] == [[2] * 3, [1.5] * 3]


def test_operators_of_torchvision_are_understood_by_their_names() -> None:
    library = torch.library.Library("torchvision", "FRAGMENT")
    if not hasattr(torch.ops.torchvision, "nms"):
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.impl("nms", lambda boxes, scores, threshold: torch.argsort(scores), "CPU")
    with pa.record("torch", "numpy") as report:
        torch.ops.torchvision.nms(torch.rand(3, 4), torch.rand(3), 0.5)
    assert report.calls["make", "nms"] == 1


def test_special_functions_are_told_by_what_they_do_to_dtypes() -> None:
    whole = torch.arange(1, 5)
    with pa.record("torch", "numpy") as report:
        torch.special.i0e(whole)
        torch.polygamma(1, whole)
        whole.polygamma(1)
        torch.special.erf(whole)
        torch.special.xlog1py(whole, whole)
        torch.logcumsumexp(torch.ones(3), 0)
    kinds = {name: kind for kind, name in report.calls}
    assert kinds["special_erf"] == "operation"
    assert kinds["special_i0e"] == kinds["polygamma"] == kinds["special_xlog1py"] == "approximate"
    assert kinds["logcumsumexp"] == "move"
    assert report.understood == 1
    assert not report.drift
    answers = {d.site.expression: str(d.answers["numpy@2"]) for d in report.divergences}
    assert answers["torch.special.i0e(whole)"] == answers["whole.polygamma(1)"] == "float64"
    assert answers["torch.special.erf(whole)"] == "float64"
