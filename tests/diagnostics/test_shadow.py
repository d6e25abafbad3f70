"""Shadow runs: where policies differ, which ones, and whether there or before."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import promoarray as pa
from promoarray.diagnostics.ask.operations import WEAK_REASON


def _found(report: pa.Report) -> list[tuple[str, str, dict[str, tuple[str, str]]]]:
    return [
        (p.site.expression, p.name, {n: (str(a), a.origin) for n, a in p.answers.items()})
        for p in report.divergences
    ]


def test_a_line_all_agree_on_is_not_reported() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch", "jax", "paddle") as report:
        x + x
    assert report.divergences == []
    assert report.operations == 1
    assert "all agree" in str(report)


def test_a_divergence_names_place_operands_and_answers() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch", "paddle") as report:
        x + 1.5
    (divergence,) = report.divergences
    assert divergence.site.file == __file__
    assert divergence.site.expression == "x + 1.5"
    assert divergence.operands == ("int8", "Python float")
    assert {n: str(a) for n, a in divergence.answers.items()} == {
        "numpy@2": "float64",
        "torch@2.13": "float32",
        "paddle": "float32",
    }


def test_the_editions_that_people_have_installed_are_compared_by_default() -> None:
    with pa.shadow() as report:
        pa.asarray([1]) + 1
    installed = "numpy@2 numpy@1 jax@x64 torch@2.13 tensorflow paddle@3.3 aclnn@8.5 onnx@25"
    assert [policy.name for policy in report.policies] == installed.split()


def test_a_later_line_inherits_what_an_earlier_one_began() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        y = x + 1.5
        z = y * y
        z[0] + pa.asarray(2, dtype=pa.int8)
    origins = [answers["torch@2.13"] for _, _, answers in _found(report)]
    assert origins == [("float32", "root"), ("float32", "inherits"), ("float32", "inherits")]
    assert report.roots == report.divergences[:1]


def test_after_a_refusal_a_policy_goes_on_with_what_the_edit_gives() -> None:
    x = pa.asarray([1, 2], dtype=pa.int64)
    w = pa.asarray([0.5, 1.5], dtype=pa.float32)
    with pa.shadow("paddle") as report:
        y = x * w
        y + y
    (refused,) = report.divergences
    answer = refused.answers["paddle"]
    assert str(answer) == "refuses"
    assert answer.origin == "root"
    assert "tensors promote only between" in answer.reason
    # With it the product is float64 there as in the run, and so is the sum.
    assert "float64" in answer.fix.text


def test_what_depends_on_a_refusal_without_an_edit_is_unknown() -> None:
    x = pa.asarray([1, 2], dtype=pa.int64)
    w = pa.asarray([0.5, 1.5], dtype=pa.float32)
    with pa.shadow("paddle", "torch") as report:
        y = pa.multiply(*[x, w])  # whose operands cannot be told apart in the source
        z = y * pa.asarray([1.0], dtype=pa.float16)
        pa.astype(z, pa.float32) + w
    refused, after = report.divergences
    assert str(refused.answers["paddle"]) == "refuses"
    assert str(after.answers["paddle"]) == "unknown"
    assert after.answers["paddle"].reason.startswith("unknown after test_shadow.py:")
    assert after.answers["torch@2.13"].dtype is pa.float32


def test_a_scalar_that_does_not_fit_is_a_refusal() -> None:
    x = pa.asarray([1], dtype=pa.uint8)
    with pa.policy("torch"), pa.shadow("numpy") as report:
        x + 300
    (divergence,) = report.divergences
    assert "does not fit uint8" in divergence.answers["numpy@2"].reason


def test_weak_types_ride_along() -> None:
    with pa.shadow("jax") as report:
        y = pa.asarray(2.0) * pa.asarray([1.0], dtype=pa.float32)
    (divergence,) = report.divergences
    assert divergence.answers["jax@x64"].dtype is pa.float32  # a 0-d float64 array in NumPy
    assert y.dtype is pa.float64


def test_a_weak_operand_is_a_root_where_it_first_decides() -> None:
    with pa.shadow("jax") as report:
        step = pa.asarray(2)
        rest = 1 - 0.9**step
        pa.zeros(3, dtype=pa.float32) / rest
    (root,) = report.roots
    answer = root.answers["jax@x64"]
    assert (root.name, answer.dtype, answer.reason) == ("divide", pa.float32, WEAK_REASON)
    assert answer.fix.text == "pa.astype(pa.zeros(3, dtype=pa.float32), pa.float64) / rest"
    with pa.policy("jax"):
        rest = 1 - 0.9 ** pa.asarray(2)
        assert (pa.zeros(3, dtype=pa.float32) / rest).dtype is pa.float32
        assert (pa.astype(pa.zeros(3, dtype=pa.float32), pa.float64) / rest).dtype is pa.float64


def test_default_dtypes_part_where_arrays_are_made() -> None:
    with pa.shadow("torch", "tensorflow") as report:
        pa.zeros(3)
        pa.arange(3)
    made = {
        p.site.expression: {n: str(a) for n, a in p.answers.items()} for p in report.divergences
    }
    assert made["pa.zeros(3)"] == {
        "numpy@2": "float64",
        "torch@2.13": "float32",
        "tensorflow": "float32",
    }
    assert made["pa.arange(3)"]["tensorflow"] == "int32"


def test_a_cast_ends_the_dispute() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        y = pa.astype(x / x, pa.float32)
        y + y
    assert [p.name for p in report.divergences] == ["divide"]


def test_in_place_goes_by_each_policys_rule() -> None:
    x = pa.asarray([1.0], dtype=pa.float32)
    with pa.shadow("paddle@3.3", "jax") as report:
        x += pa.asarray([2.0], dtype=pa.float64)
    (divergence,) = report.divergences
    assert {n: str(a) for n, a in divergence.answers.items()} == {
        "numpy@2": "float32",
        "paddle@3.3": "float64",
        "jax@x64": "float64",
    }


def test_a_loop_is_one_place_with_a_count() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        for _ in range(5):
            x / 2
    (divergence,) = report.divergences
    assert divergence.count == 5


def test_two_operations_of_one_line_are_two_places() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        x / 2, x / 3
    assert [p.site.expression for p in report.divergences] == ["x / 2", "x / 3"]


def test_other_threads_are_not_watched() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        thread = threading.Thread(target=lambda: x + 1.5)
        thread.start()
        thread.join()
    assert report.operations == 0


def test_values_are_those_of_the_run() -> None:
    x = pa.asarray([200], dtype=pa.uint8)
    with pa.shadow("torch", "jax"):
        y = (x + x) / 3
    np.testing.assert_array_equal(np.asarray(y), np.asarray((x + x) / 3))
    assert np.asarray(y)[0] == 144 / 3


def test_arrays_of_a_bound_namespace_are_watched_too() -> None:
    x = pa.namespace("torch").asarray([1, 2], dtype=pa.int8)
    with pa.shadow("numpy") as report:
        x + 1.5
    (divergence,) = report.divergences
    assert list(divergence.answers) == ["torch@2.13", "numpy@2"]


def test_the_report_is_data_text_and_a_page() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch", "paddle") as report:
        y = x + 1.5
        y * pa.asarray([1, 2])
    data = report.to_dict()
    assert data["run"] == "numpy@2"
    assert data["partings"] == data["divergences"]  # the former names
    assert report.partings == report.divergences
    assert data["divergences"][0]["answers"]["torch@2.13"]["origin"] == "root"
    assert data["divergences"][1]["answers"]["paddle"]["dtype"] is None
    text = str(report)
    assert "x + 1.5" in text
    assert "refuses" in text
    page = report.to_html()
    assert page.startswith("<!doctype html>")
    assert "y * pa.asarray([1, 2])" in page
    assert "<table" in report._repr_html_()


def test_a_value_that_a_policy_would_not_store_is_a_divergence() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint8)
    with pa.policy("aclnn"), pa.shadow("numpy", "torch") as report:
        x[0] = 300
        x[1] = 3
    (divergence,) = report.divergences
    assert divergence.site.expression == "x[0] = 300"
    assert {n: str(a) for n, a in divergence.answers.items()} == {
        "aclnn@8.0": "uint8",
        "numpy@2": "refuses",
        "torch@2.13": "refuses",
    }
    for policy in ("numpy@2", "torch@2.13"):
        assert "does not fit uint8" in divergence.answers[policy].reason
    assert "uint8[...] = Python int" in " ".join(str(report).split())  # lines are folded


def test_an_array_that_a_policy_would_not_store_is_a_divergence() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("array_api", "torch") as report:
        x[0] = pa.asarray(1.5, dtype=pa.float32)
    (divergence,) = report.divergences
    assert str(divergence.answers["array_api"]) == "refuses"
    assert "does not promote to int8" in divergence.answers["array_api"].reason
    assert divergence.answers["torch@2.13"].dtype is pa.int8


def test_what_is_stored_goes_by_the_dtype_each_policy_has_by_then() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("jax@x32") as report:
        y = x * pa.asarray([1, 2])  # int64, and int32 there
        y[0] = 2**40
    assert str(report.divergences[-1].answers["jax@x32"]) == "refuses"
    assert report.divergences[-1].answers["jax@x32"].operands == ("int32", "Python int")


def test_unknown_policies_are_refused_before_anything_runs() -> None:
    with pytest.raises(pa.UnknownPolicyError, match=r"torch@2\.13"), pa.shadow("torch@1.0"):
        pass


def test_places_of_two_files_with_the_same_text_are_two(tmp_path: Path) -> None:
    namespace: dict[str, object] = {"x": pa.asarray([1, 2], dtype=pa.int8)}
    with pa.shadow("torch") as report:
        for name in ("one.py", "two.py"):
            exec(compile("x / 2\n", str(tmp_path / name), "exec"), namespace)
    assert [Path(p.site.file).name for p in report.divergences] == ["one.py", "two.py"]


def test_an_expression_over_lines_with_comments_is_shown_whole() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.shadow("torch") as report:
        (
            x / 2  # half of it
            + x
        )
    assert [p.site.expression for p in report.divergences] == ["x / 2", "x / 2 + x"]


def test_a_policy_that_never_holds_a_dtype_sees_what_it_holds_instead() -> None:
    x, y = pa.asarray([1, 2]), pa.ones(2, dtype=pa.uint8)
    with pa.shadow("jax@x32") as report:
        z = x + y
        z * y
    first, second = report.divergences
    assert str(first.answers["jax@x32"].dtype) == str(second.answers["jax@x32"].dtype) == "int32"
    assert (first.answers["jax@x32"].origin, second.answers["jax@x32"].origin) == (
        "root",
        "inherits",
    )
    with (
        pa.policy("jax@x32"),
        pytest.raises(pa.PromotionError, match=r"Write pa\.astype\(x1, pa\.int32\)"),
    ):
        x + y


def test_a_call_that_a_framework_does_not_take_is_told() -> None:
    x = pa.asarray([1, 2], dtype=pa.int32)  # Paddle has no kernel for int8
    with pa.shadow("torch", "numpy", "paddle@3.3") as report:
        for _ in range(2):
            pa.maximum(x, 1)
        x + 1
        pa.maximum(x, x)
    assert not report.divergences
    told = {(call.site.expression, call.policy): n for call, n in report.signatures.items()}
    assert told == {("pa.maximum(x, 1)", "torch@2.13"): 2, ("pa.maximum(x, 1)", "paddle@3.3"): 2}
    assert "pa.maximum(x, 1)  ×2" in str(report)
    said = "not taken   torch@2.13  maximum of PyTorch 2.13 takes no Python scalar"
    assert said in str(report)
    assert "maximum of PyTorch 2.13 takes no Python scalar" in report.to_html()
    assert [row["count"] for row in report.to_dict()["signatures"]] == [2, 2]


def test_other_policies_are_asked_in_the_same_form() -> None:
    x = pa.asarray([1, 2], dtype=pa.int32)
    with pa.shadow("paddle@3.3") as report:
        x % 1.5
        pa.remainder(x, 1.5)
    operator, function = report.divergences
    assert (str(operator.answers["paddle@3.3"]), str(function.answers["paddle@3.3"])) == (
        "float32",
        "int32",
    )
    text = " ".join(str(report).split())  # a terminal breaks lines
    assert "[int32 % Python float]" in text
    assert "[remainder(int32, Python float)]" in text


def test_reports_of_one_program_are_merged() -> None:
    with pa.shadow("torch", "jax") as report:
        half = pa.asarray([1, 2], dtype=pa.int8) / 2
        float(half[0])
        pa.add(pa.asarray([1], dtype=pa.uint8), 2)
        pa.asarray([np.inf, 300.0]).astype(pa.int8)
    alone = report.to_dict()
    assert all(alone[part] for part in ("divergences", "escapes", "value_changes"))
    places = report.places
    report.merge(pickle.loads(pickle.dumps(report)))
    both = report.to_dict()
    assert report.places == places
    assert both["operations"] == 2 * alone["operations"]
    for part, count in (("divergences", "count"), ("escapes", "count"), ("value_changes", "size")):
        twice = [2 * row[count] for row in alone[part]]
        assert [row[count] for row in both[part]] == twice
    (before,), (after,) = alone["value_changes"], both["value_changes"]
    assert after["passes"] == 2 * before["passes"]
    told = [d["count"] for d in before["differences"]]
    assert [d["count"] for d in after["differences"]] == [2 * count for count in told]


def test_a_root_is_told_though_an_earlier_line_hides_it() -> None:
    x = pa.asarray([1, 2], dtype=pa.uint8)
    with pa.shadow("torch") as report:
        y = pa.astype(x, pa.float32) - pa.mean(x)  # float32 - float64[] in the run
    assert y.dtype is pa.float64
    mean, difference = sorted(report.divergences, key=lambda d: d.name)
    assert mean.answers["torch@2.13"].dtype is None
    hidden = difference.answers["torch@2.13"]
    assert (str(hidden), hidden.origin) == ("float32", "root")  # 0-d counts for less in PyTorch
    assert hidden.fix is not None
