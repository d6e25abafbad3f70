"""TensorFlow programs as they are, recorded while TensorFlow itself runs them."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import cli

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tf = pytest.importorskip(
        "tensorflow", reason="needs TensorFlow: pip install 'promoarray[test-tensorflow]'"
    )

pytestmark = pytest.mark.filterwarnings("ignore:`shuffle=True` was passed:UserWarning")

PROGRAMS = sorted(Path(__file__).with_name("tensorflow_programs").glob("*.py"))
POLICIES = "numpy@2", "jax@x64", "torch@2.13", "tensorflow@all"


def ran(path: Path) -> dict[str, Any]:
    return runpy.run_path(str(path), run_name="__main__")


def places(report: Any) -> dict[str, dict[str, str]]:
    return {
        d.site.expression: {name: str(answer) for name, answer in d.answers.items()}
        for d in report.divergences
    }


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_understood_and_computes_what_it_would_anyway(path: Path) -> None:
    before = {owner: dict(vars(owner)) for owner in (tf.math, tf.nn, tf.Tensor, tf.Variable)}
    bare = ran(path)
    with pa.record("tensorflow", *POLICIES) as report:
        watched = ran(path)
    assert report.understood >= 0.98, list(report.recorded())
    assert not list(report.drifted())
    assert report.operations > 40
    tensors = {n: x for n, x in bare.items() if isinstance(x, (tf.Tensor, tf.Variable))}
    assert len(tensors) > 2
    for name, x in tensors.items():
        assert x.dtype == watched[name].dtype
        assert x.numpy().tobytes() == watched[name].numpy().tobytes(), name
    now = {owner: vars(owner) for owner in before}
    assert all(now[owner][n] is x for owner, found in before.items() for n, x in found.items())


def test_the_line_of_two_dtypes_is_told_with_its_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("roi.py").write_text("""\
import tensorflow as tf

media = tf.constant([0.5, 0.25], tf.float64)
denominator = tf.constant([2.0, 4.0], tf.float32)
print(media * denominator)
""")
    assert cli.main(["compare", "--policies", "numpy@2", "roi.py"]) != 0
    said = capfd.readouterr().out
    assert "roi.py:5  media * denominator  [float64 * float32]" in said
    assert "write       media * tf.cast(denominator, tf.float64)" in said
    assert cli.main(["why", "roi.py"]) != 0
    said = capfd.readouterr().out
    assert "roi.py:5  print(media * tf.cast(denominator, tf.float64))" in said
    assert "checked: with it, the program runs to its end" in said


def test_functions_are_recorded_as_they_are_traced_at_the_lines_of_the_program() -> None:
    @tf.function
    def share(x: Any) -> Any:
        if tf.reduce_sum(x) > 0:
            return x / 4
        return x / 2

    counts = tf.constant([3, 1], tf.int32)
    with pa.record("tensorflow", "torch@2.13") as report:
        made = share(counts)
    assert made.dtype == tf.float64
    found = places(report)
    assert found["x / 4"] == {"tensorflow": "float64", "torch@2.13": "float32"}
    assert {d.program.file for d in report.divergences} == {__file__}
    lines = Path(__file__).read_text().splitlines()
    assert {"return x / 4", "return x / 2"} <= {
        lines[d.site.line - 1].strip() for d in report.divergences
    }


def test_what_a_function_is_given_and_makes_carries_what_was_recorded() -> None:
    @tf.function
    def twice(x: Any) -> Any:
        return x + x

    with pa.record("tensorflow", "torch@2.13") as report:
        for _ in range(2):  # of which the second is not traced
            shares = tf.constant([1, 2], tf.int32) / 4
            made = twice(shares)
            last = made * made
    assert last.dtype == tf.float64
    origins = {d.site.expression: d.answers["torch@2.13"].origin for d in report.divergences}
    assert origins["tf.constant([1, 2], tf.int32) / 4"] == "root"
    assert {origins["x + x"], origins["made * made"]} == {"inherits"}


def test_functions_of_data_and_of_python_are_recorded() -> None:
    def third(x: Any) -> Any:
        return x / 3

    with pa.record("tensorflow", "torch@2.13") as report:
        rows = tf.data.Dataset.range(3).map(lambda n: n / 4)
        assert [float(x) for x in rows] == [0.0, 0.25, 0.5]
        halves = tf.data.Dataset.range(2).map(lambda n: tf.py_function(third, [n], tf.float64))
        assert len([*halves]) == 2
    assert {"n / 4", "x / 3"} <= places(report).keys()


def test_variables_carry_what_they_are_given() -> None:
    with pa.record("tensorflow", "numpy@2") as report:
        total = tf.Variable(tf.constant([1, 2], tf.int32) * 2)
        total.assign_add([1, 1])
        mean = tf.reduce_mean(total)
    assert mean.dtype == tf.int32
    assert report.calls["operation", "assign_add"] == 1
    assert places(report)["tf.reduce_mean(total)"]["numpy@2"] == "float64"


def test_what_stands_beside_a_tensor_becomes_one_of_its_dtype() -> None:
    x = tf.constant([1.0, 2.0], tf.float32)
    with pa.record("tensorflow", "numpy@2") as report:
        made = x * np.array([2.0, 3.0]) + 1
    assert made.dtype == tf.float32
    assert not list(report.drifted())
    assert report.understood == 1


def test_a_number_of_numpys_that_is_chosen_has_the_dtype_of_the_other_choice() -> None:
    with pa.record("tensorflow", "numpy@2") as report:
        x = tf.constant([1.0, 0.0], tf.float32)
        tf.where(x == 0, np.float32(2), x)
    assert not report.divergences


def test_what_keras_counts_for_itself_is_no_finding() -> None:
    """Keras gives its counters, shapes and seeds the dtypes that they have on each framework."""
    keras = pytest.importorskip("keras")
    with pa.record("tensorflow", "jax@x32", "torch") as report:
        layers = [keras.layers.Flatten(), keras.layers.Dropout(0.5), keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        model.compile(optimizer="adam", loss="mse", metrics=["mae"])
        model.fit(np.ones((8, 3), np.float32), np.ones((8, 1), np.float32), verbose=0)
        assert not [each for each in report.divergences if "/keras/src/" in each.site.file]
        tf.reduce_prod(tf.constant([1, 2], tf.int32))
    assert [each.name for each in report.divergences if each.site.file == __file__] == ["prod"]


def test_numbers_that_are_lost_are_told_within_functions_too() -> None:
    @tf.function
    def doubled(x: Any) -> Any:
        return x + x

    with pa.check("integer-wrap") as report:
        doubled(tf.constant([200, 1], tf.uint8))
    assert [(x.place.kind, x.place.site.expression) for x in report.told] == [
        ("integer-wrap", "x + x")
    ]
    assert not tf.config.functions_run_eagerly()
    assert any("tf.function compiles ran eagerly" in line for line in report.eagerly)


def test_a_cast_that_saturates_by_its_name_loses_nothing() -> None:
    x = tf.constant([300.25, 3e9])
    with pa.record("tensorflow", *POLICIES) as compared:
        tf.saturate_cast(x, tf.uint8)
    assert not compared.value_changes
    with pa.check("cast-out-of-range") as report:
        tf.saturate_cast(x, tf.uint8)
    assert not report.told


def test_functions_that_run_eagerly_take_and_return_what_graphs_do() -> None:
    @tf.function
    def counted(x: Any) -> Any:
        n = 0
        while tf.reduce_sum(x) > 1:
            x, n = x / 2, n + 1
        return n, x.shape.rank, {"whole": 1.5}, None

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def doubled(x: Any) -> Any:
        return x + x, x.dtype.name

    def results() -> list[Any]:
        return tf.nest.flatten([counted(np.ones((2, 2))), doubled([1, 2])])

    bare = results()
    with pa.check("integer-wrap"):
        watched = results()
    for x, y in zip(bare, watched, strict=True):
        assert x is y is None or (x.dtype is y.dtype and np.array_equal(x, y))


@pytest.mark.parametrize("mode", ["all", "safe"])
def test_the_modes_of_numpy_behaviour_have_policies_of_their_own(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mode.py").write_text(f"""\
import tensorflow as tf

tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="{mode}")
x = tf.constant([1, 2], tf.int16)
print((x + tf.constant([1, 2], tf.int8)).dtype)
print(tf.constant([1.5]) * 2)
""")
    assert cli.main(["check", "mode.py"]) == 0  # of weak tensors, too
    cli.main(["compare", "--policies", "tensorflow", "mode.py"])
    said = capfd.readouterr().out
    assert f"int16       tensorflow@{mode} (the run)" in said
    assert "refuses     tensorflow" in said


def test_ragged_and_sparse_tensors_are_named_as_not_examined() -> None:
    with pa.record("tensorflow", "numpy@2") as report:
        rows = tf.ragged.constant([[1, 2], [3]])
        rows * 2
        tf.reduce_mean(tf.cast(rows, tf.float32), axis=1)
        few = tf.sparse.from_dense(tf.constant([[1.0, 0.0]]))
        few * 2.0
        tf.sparse.sparse_dense_matmul(few, tf.ones((2, 2)))
    assert sorted(each.what for each in report.unexamined) == [
        *("__mul__", "__mul__", "cast", "ragged.constant", "reduce_mean"),
        *("sparse.from_dense", "sparse.sparse_dense_matmul"),
    ]
