"""Paddle programs as they are, recorded while Paddle itself runs them."""

from __future__ import annotations

import operator
import runpy
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command

import promoarray as pa
from promoarray.core.call_site import program_site, standing_at
from promoarray.diagnostics.record.handlers import compute
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.policies import as_policy

with warnings.catch_warnings():  # it tells at its import that there is no ccache
    warnings.simplefilter("ignore")
    paddle = pytest.importorskip(
        "paddle", reason="needs Paddle: pip install 'promoarray[test-paddle]'"
    )

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* can only be enabled on CUDAPlace:UserWarning",
    "ignore:When training, we now always track:UserWarning",
)

PROGRAMS = sorted(Path(__file__).with_name("paddle_programs").glob("*.py"))
POLICIES = "numpy@2", "jax@x64", "torch@2.13", "aclnn@8.5", "tensorflow", "onnx@25"
PLACES = (
    *(paddle.Tensor, paddle, paddle.nn.functional, paddle.linalg, paddle.fft, paddle.signal),
    paddle._C_ops,
    sys.modules["paddle.tensor"],
)


def ran(path: Path) -> dict[str, Any]:
    return runpy.run_path(str(path), run_name="__main__")


def recorded(path: Path, *policies: str) -> tuple[Any, dict[str, Any]]:
    with pa.record("paddle", *policies or POLICIES) as report:
        left = ran(path)
    return report, left


def program(name: str) -> Path:
    return next(path for path in PROGRAMS if path.stem == name)


def line_of(path: Path, text: str) -> int:
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def in_place() -> list[dict[str, Any]]:
    """What stands at each place that is patched."""
    return [dict(vars(place)) for place in PLACES]


def are_the_same(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> bool:
    return all(
        list(x) == list(y) and all(x[name] is y[name] for name in x)
        for x, y in zip(before, after, strict=True)
    )


def expressions(report: Any) -> list[str]:
    return [d.site.expression for d in report.divergences]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_nearly_every_call_is_understood_and_none_drifts(path: Path) -> None:
    report, _ = recorded(path)
    assert report.understood >= 0.98, list(report.recorded())
    assert not list(report.drifted())
    assert report.operations > 40


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_program_computes_what_it_would_anyway(path: Path) -> None:
    bare = ran(path)
    _, watched = recorded(path)
    tensors = {name: x for name, x in bare.items() if isinstance(x, paddle.Tensor)}
    assert len(tensors) > 4
    for name, x in tensors.items():
        assert x.dtype == watched[name].dtype
        assert x.numpy().tobytes() == watched[name].numpy().tobytes()


def test_the_report_names_the_lines_that_someone_who_ports_has_to_change() -> None:
    science = program("science")
    report, _ = recorded(science)
    (found,) = (d for d in report.divergences if d.site.expression == "counts / 4")
    assert {name: str(answer) for name, answer in found.answers.items()} == {
        "paddle@3.3": "float32",
        "numpy@2": "float64",
        "jax@x64": "float32",
        "torch@2.13": "float32",
        "aclnn@8.5": "float32",
        "tensorflow": "float64",
        "onnx@25": "int32",
    }
    lines = {d.program.line for d in report.roots if d.answers["numpy@2"].origin == "root"}
    assert line_of(science, "rates = ") in lines
    assert line_of(science, "half = ") not in lines
    assert all(d.program.file == str(science) for d in report.roots)


def test_what_layers_and_optimizers_compute_has_the_line_of_the_program() -> None:
    convolutions = program("convolutions")
    report, _ = recorded(convolutions)
    made = {Path(d.site.file).name: d.program for d in report.divergences}
    assert {"conv.py", "common.py", "norm.py"} <= made.keys()
    assert {site.file for site in made.values()} == {str(convolutions)}
    assert made["conv.py"].line == line_of(convolutions, "logits = net(inputs)")
    assert report.calls["approximate", "momentum_"] == 32


def test_what_an_optimizer_computes_has_the_line_of_its_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network, saw = program("network"), Recorder.saw
    steps = set()

    def seen(self: Recorder, name: str, operands: Any, result: Any, frame: Any, **how: Any) -> Any:
        if frame.f_code.co_filename.endswith("optimizer/adam.py"):
            with standing_at(frame):
                steps.add((program_site().file, program_site().line))
        return saw(self, name, operands, result, frame, **how)

    monkeypatch.setattr(Recorder, "saw", seen)
    report, _ = recorded(network)
    assert report.calls["approximate", "adam_"] == 24
    assert steps == {(str(network), line_of(network, "optimizer.step()"))}


def test_python_numbers_on_either_side_are_seen_as_the_program_wrote_them() -> None:
    x = paddle.to_tensor([1, 2, 3], dtype="int8")
    with pa.record("paddle", "numpy@2") as report:
        2.0 / x
        x * 2.5
        x.T - 0.5
    assert {d.site.expression: d.operands for d in report.divergences} == {
        "2.0 / x": ("Python float", "int8"),
        "x * 2.5": ("int8", "Python float"),
        "x.T - 0.5": ("int8", "Python float"),
    }
    assert report.calls["move", "T"] == 1


def test_functions_that_layers_call_by_their_module_are_heard() -> None:
    """``paddle.tensor`` is a module to Paddle's layers, and a function to programs."""
    x = paddle.ones([1, 3, 8])
    with pa.record("paddle") as report:
        paddle.nn.MultiHeadAttention(8, 2)(x, x, x)
    assert report.calls["operation", "matmul"] == 2


def test_what_a_function_calls_itself_is_not_recorded_again() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    with pa.record("paddle", "numpy@2") as report:
        paddle.outer(x, x)  # reshapes and multiplies
        operator.neg(x)  # scales
        paddle.nn.functional.mse_loss(x, x)
    assert report.calls == {
        ("operation", "outer"): 1,
        ("operation", "__neg__"): 1,
        ("operation", "mse_loss"): 1,
    }


def test_of_a_function_that_no_table_knows_the_kernels_are_recorded() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    with pa.record("paddle", "numpy@2") as report:
        paddle.trapezoid(x)
    assert any(kind == "operation" for kind, _ in report.calls)


def test_a_cast_ends_what_differs_and_a_view_carries_it_on() -> None:
    counts = paddle.to_tensor([1, 2, 3], dtype="int32")
    with pa.record("paddle", "numpy@2") as report:
        share = counts / 4
        moved = share.reshape([3, 1]).T[0]
        moved + 1
        cast = moved.astype("float32")
        cast + 1
        paddle.cast(moved, paddle.float32) + 1
    assert {d.site.expression: d.answers["numpy@2"].origin for d in report.divergences} == {
        "counts / 4": "root",
        "moved + 1": "inherits",
    }


def test_what_is_done_in_place_is_known_and_no_evidence_for_an_operator() -> None:
    x = paddle.to_tensor([1.0, 2.0], dtype="float32")
    with pa.record("paddle", "numpy@2", "tensorflow") as report:
        x.add_(paddle.to_tensor(2.0, dtype="float64"))  # Paddle gives x another dtype
        x[0] = 1.5
    assert x.dtype == paddle.float64
    assert report.calls["operation", "add_"] == report.calls["operation", "__setitem__"] == 1
    assert not report.drift


def test_refusals_of_paddle_itself_raise_as_they_do_anyway() -> None:
    x, y = paddle.to_tensor([1, 2], dtype="int32"), paddle.to_tensor([1.0, 2.0])
    with pytest.raises(TypeError) as bare:
        x + y
    before = in_place()
    with pytest.raises(TypeError) as watched, pa.record("paddle", "numpy@2") as report:
        x + y
    assert str(bare.value) == str(watched.value)
    assert not report.divergences
    assert are_the_same(before, in_place())


def test_all_is_put_back_after_blocks_within_each_other() -> None:
    x, before = paddle.to_tensor([1, 2], dtype="int16"), in_place()
    with pa.record("paddle", "numpy@2") as outer:
        with pa.record("paddle", "numpy@2") as inner:
            x * 0.5
        assert not are_the_same(before, in_place())
        x * 0.25
    assert are_the_same(before, in_place())
    assert expressions(inner) == ["x * 0.5"]
    assert expressions(outer) == ["x * 0.5", "x * 0.25"]
    x * 0.75
    assert len(outer.divergences) == 2


def test_each_of_two_threads_has_its_own_record() -> None:
    x, before = paddle.to_tensor([1, 2], dtype="int16"), in_place()
    begun, inside, done = threading.Barrier(2), threading.Barrier(2), threading.Event()
    reports: dict[str, Any] = {}

    def first() -> None:
        begun.wait(10)
        with pa.record("paddle", "numpy@2") as reports["first"]:
            inside.wait(10)
            x * 0.5
        done.set()

    def second() -> None:
        begun.wait(10)
        with pa.record("paddle", "numpy@2") as reports["second"]:
            inside.wait(10)
            assert done.wait(10)
            x * 0.25  # the other block has been left already

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert expressions(reports["first"]) == ["x * 0.5"]
    assert expressions(reports["second"]) == ["x * 0.25"]
    assert are_the_same(before, in_place())


def test_threads_that_the_block_starts_are_recorded() -> None:
    x = paddle.to_tensor([1, 2], dtype="int16")
    with pa.record("paddle", "numpy@2") as report:
        thread = threading.Thread(target=lambda: x * 0.5)
        thread.start()
        thread.join(20)
    assert expressions(report) == ["x * 0.5"]


def test_threads_that_another_thread_starts_are_not_of_the_block() -> None:
    x, start = paddle.to_tensor([1, 2], dtype="int16"), threading.Thread.start
    inside, done = threading.Event(), threading.Event()
    reports: list[Any] = []

    def records() -> None:
        with pa.record("paddle", "numpy@2") as report:
            reports.append(report)
            inside.set()
            assert done.wait(10)

    recording = threading.Thread(target=records)
    recording.start()
    assert inside.wait(10)
    other = threading.Thread(target=lambda: x * 0.5)
    other.start()
    other.join(20)
    with pa.record("paddle", "numpy@2"):  # which ends after the block of the other thread
        done.set()
        recording.join(20)
    assert not reports[0].divergences
    assert threading.Thread.start is start


def test_edits_are_written_in_the_words_of_paddle() -> None:
    x, bound = paddle.to_tensor([1, 2, 3], dtype="int32"), 2.5
    with pa.record("paddle", "numpy@2", "onnx@25") as report:
        x / 4
        2.5 * x
        assert not (bound < x).all()  # which Python asks x, as x > bound
    said = " ".join(str(report).split())
    assert 'x.astype("float32") / 4' in said
    assert '2.5 * x.astype("float32")' in said
    assert 'bound < x.astype("float32")' in said
    (found,) = (d for d in report.divergences if d.site.expression == "bound < x")
    assert found.operands == ("Python float", "int32")


def test_what_the_program_sets_itself_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paddle.Tensor, "trunc", paddle.Tensor.trunc)  # put back in the end

    def own(x: Any) -> Any:
        return x

    with pa.record("paddle", "numpy@2"):
        paddle.Tensor.trunc = own
    assert paddle.Tensor.trunc is own


def test_a_kernel_that_sorts_is_not_taken_for_one_that_gives_indices() -> None:
    x = paddle.to_tensor([2, 1], dtype="uint8")
    with pa.record("paddle", "numpy@2") as report:
        paddle._C_ops.argsort(x, -1, False, False)  # of values and indices
    assert not report.drift
    assert report.calls["operation", "sort"] == 1


def test_what_auto_cast_casts_is_told_apart_from_promotion() -> None:
    tracer, levels = paddle.base.framework._dygraph_tracer(), paddle.base.core.AmpLevel
    recorder = Recorder(as_policy("paddle@3.3"), (as_policy("numpy@2"),))
    from promoarray.diagnostics.record.paddle.hook import Recording

    x = paddle.ones([2, 2])

    def on_a_gpu(a: Any, b: Any) -> Any:
        """As auto_cast has it, which does nothing on a CPU."""
        return paddle.matmul(a, b).astype("bfloat16")

    watcher = Recording(recorder)
    before = tracer._amp_level, tracer._amp_dtype
    tracer._amp_level, tracer._amp_dtype = levels.O1, "bfloat16"
    try:
        watcher.watch(paddle.matmul, "matmul", compute, sys._getframe(), on_a_gpu, x, x)
        watcher.watch(paddle.add, "add", compute, sys._getframe(), paddle.add, x, x)
    finally:
        tracer._amp_level, tracer._amp_dtype = before
    assert recorder.report.calls == {("autocast", "matmul"): 1, ("operation", "add"): 1}
    assert not recorder.report.drift


def test_arrays_of_numpy_that_become_tensors_have_their_own_dtype() -> None:
    with pa.record("paddle", "numpy@2", "jax@x64") as report:
        x = paddle.to_tensor(np.ones(2, np.float64))
        x + 1
        paddle.to_tensor(2.0, dtype="float64") + 1
    assert not report.divergences


def test_a_layer_that_is_cast_has_the_dtype_that_the_program_names() -> None:
    x = paddle.ones([1, 2], dtype="float32")
    with pa.record("paddle", "numpy@2") as report:
        cast = paddle.nn.Linear(2, 2)
        cast.to(dtype="float32")
        _ = cast(x)
        own = paddle.nn.Layer().create_parameter([2], dtype="float32")
        _ = own + x
    assert not report.divergences
    with pa.record("paddle", "numpy@2") as report:
        own = paddle.nn.Layer(dtype="float32").create_parameter([2])  # which Paddle does not ask
        _ = own + x
    assert {d.name for d in report.divergences} == {"default dtype", "add"}


def test_parameters_of_layers_are_float32_everywhere() -> None:
    create = paddle.nn.Layer.create_parameter
    with pa.record("paddle", "numpy@2") as report:
        wide = paddle.nn.Embedding(2, 3)
        _ = paddle.nn.Linear(2, 3)
    assert wide.weight.dtype is paddle.float32
    assert not report.divergences  # as those of another framework's modules are
    with pa.record("paddle", "numpy@2") as report:
        paddle.set_default_dtype("float32")
        _ = paddle.nn.Linear(2, 3)
    assert not report.divergences
    assert paddle.nn.Layer.create_parameter is create


def test_an_edit_of_a_number_in_some_passes_keeps_a_tensor_of_others_on_its_graph() -> None:
    def share(x: Any, n: Any) -> Any:
        return x / n

    counts = paddle.to_tensor([1, 2, 3])
    with pa.record("paddle", "numpy@2") as report:
        share(2, counts), share(counts, 2)
    every = [d.answers["numpy@2"].fix for d in report.divergences]
    written = [fix.text for fix in every if fix is not None]
    x = paddle.to_tensor([2.0], stop_gradient=False)
    for edit in written:
        for n in (x, 2):
            made = eval(edit, {"paddle": paddle, "x": x, "n": n})
            assert made.dtype == paddle.float32
            assert not made.stop_gradient


def test_a_cast_of_numpy_s_scalar_takes_what_numpy_knows(command: Command) -> None:
    program = "import numpy as np\nimport paddle\nx, k = paddle.ones([2]), np.float64(3)\n{}\n"
    for line in ("x * np.float64(2)", "x * k"):
        Path("program.py").write_text(program.format(line))
        data = command("compare", "program.py", "--policies", "aclnn@8.5", "--json", status=1).data
        (edit,) = (d["answers"]["aclnn@8.5"]["fix"]["edit"] for d in data["divergences"])
        assert edit == f'{line}.astype("float32")'
        assert eval(edit, runpy.run_path("program.py")).dtype == paddle.float32
