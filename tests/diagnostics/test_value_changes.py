"""Where the dtype is the same everywhere, and the values are not."""

from __future__ import annotations

import linecache
from types import CodeType

import numpy as np
import pytest

import promoarray as pa
from promoarray import extras

NAN, INF = float("nan"), float("inf")


def code(expression: str) -> CodeType:
    """Compile an expression so that reports can quote it."""
    file = f"<test {expression}>"
    linecache.cache[file] = len(expression), None, [f"{expression}\n"], file
    return compile(expression, file, "eval")


def only(report: pa.Report) -> dict:
    (place,) = report.to_dict()["value_changes"]
    return place


def said(place: dict) -> dict[str, tuple[int, str, str]]:
    return {
        policy: (each["count"], each["value"], each["becomes"])
        for each in place["differences"]
        for policy in each["policies"]
    }


def test_an_overflow_to_float8_is_told_with_its_count_and_first_element() -> None:
    x = pa.asarray([1.0, 500.0, NAN, 600.0], dtype=pa.float32)
    with pa.shadow("numpy", "jax", "torch", "onnx@25") as report:
        for _ in range(3):
            y = pa.astype(x, pa.float8_e4m3fn)
    place = only(report)
    assert said(place) == {"torch@2.13": (6, "500.0", "448.0"), "onnx@25": (6, "500.0", "448.0")}
    (each,) = place["differences"]
    assert (each["index"], each["run"]) == ([1], "nan")
    assert (place["size"], place["passes"]) == (12, 3)
    assert np.isnan(np.asarray(y).astype(np.float32)).tolist() == [False, True, True, True]
    assert report.summary().endswith("1 cast gives other values.")
    assert "jax@x64  agrees in dtypes and cast values: 3 operations" in str(report)
    assert "agree" not in report.summary()


def test_an_array_made_in_another_dtype_of_an_array_is_a_cast() -> None:
    x = pa.asarray([1.0, 500.0], dtype=pa.float32)
    with pa.shadow("torch") as report:
        pa.asarray(x, dtype=pa.float8_e4m3fn)
        pa.asarray(np.asarray([1.0, 500.0]), dtype=pa.float8_e4m3fn)
        pa.asarray(x, dtype=pa.float32)
    found = report.to_dict()["value_changes"]
    assert [said(place) for place in found] == [{"torch@2.13": (1, "500.0", "448.0")}] * 2


def test_a_float_beyond_an_integer_dtype() -> None:
    x = pa.asarray([[1.5, 300.0], [-INF, NAN]], dtype=pa.float64)
    with pa.shadow("jax", "torch", "aclnn@8.5") as report:
        pa.astype(x, pa.int8)
    found = said(only(report))
    jax = pa.namespace("jax").asarray(np.asarray(x))
    differ = np.asarray(pa.astype(jax, pa.int8)) != np.asarray(pa.astype(x, pa.int8))
    assert found["jax@x64"][0] == differ.sum() > 0
    assert "torch@2.13" not in found


def test_an_assignment_casts_as_the_policy_does() -> None:
    target = pa.zeros(2, dtype=pa.int32)
    with pa.shadow("jax") as report:
        target[...] = pa.asarray([1e20, 2.0])
    place = only(report)
    assert place["operation"] == "setitem"
    assert said(place) == {"jax@x64": (1, "1e+20", str(2**31 - 1))}


def test_a_python_scalar_that_a_policy_rounds_or_wraps() -> None:
    x = pa.asarray([1], dtype=pa.int32)
    with pa.policy("torch"), pa.shadow("numpy", "paddle@2.6", "jax") as report:
        for n in (1, 2**24 + 1, 2**24 + 1):
            x + n
    place = only(report)
    assert said(place) == {"paddle@2.6": (2, "16777217", "16777216")}
    assert place["from"] == "Python int"


def test_what_is_the_same_everywhere_is_not_told() -> None:
    x = pa.asarray([1.5, -0.0, NAN, INF], dtype=pa.float32)
    with pa.shadow() as report:
        pa.astype(x, pa.float16)
        pa.astype(x, pa.bool)
        pa.astype(x[:1], pa.int8)
    assert not len(report.value_changes)


def test_a_cast_that_a_policy_refuses_is_a_root() -> None:
    with pa.shadow("onnx@25", "torch") as report:
        pa.astype(pa.asarray([1.0]), pa.complex64)
    (place,) = (d for d in report.divergences if d.name == "astype")
    assert place.answers["onnx@25"].dtype is None
    assert place.answers["onnx@25"].origin == "root"
    assert place.answers["torch@2.13"].dtype is pa.complex64


@pytest.mark.parametrize("name", ["torch", "jax", "tensorflow", "aclnn@8.5", "onnx@25"])
def test_the_first_element_and_the_count_are_those_of_the_policys_own_cast(name: str) -> None:
    bits = np.arange(65536, dtype=np.uint16).view(np.float16)
    x = pa.asarray(bits)
    for dtype in (pa.float8_e4m3fn, pa.float8_e5m2fnuz, pa.int8, pa.uint16, pa.float4_e2m1fn):
        with pa.shadow(name) as report:
            made = pa.astype(x, dtype)
        with pa.policy(name):
            other = pa.astype(x, dtype)
        a, b = (np.asarray(each).astype(np.float64) for each in (made, other))
        differ = ((a != b) | (np.signbit(a) != np.signbit(b))) & ~(np.isnan(a) & np.isnan(b))
        found = [each for place in report.value_changes for each in place.differences.values()]
        assert sum(each.elements for each in found) == differ.sum()
        if found:
            assert found[0].example.at == (int(np.argmax(differ)),)


CLIPPED = {
    "xp.astype(x, xp.float8_e4m3fn)": "xp.astype(xp.clip(x, -448, 448), xp.float8_e4m3fn)",
    "x.astype(xp.uint8)": "xp.clip(x, 0, 255).astype(xp.uint8)",
    "xp.astype(x * 2, xp.int16)": "xp.astype(xp.clip(x * 2, -32768, 32767), xp.int16)",
    "xp.astype(x, xp.float8_e5m2)": "xp.astype(xp.clip(x, -57344, 57344), xp.float8_e5m2)",
}


@pytest.mark.parametrize(("expression", "edit"), CLIPPED.items())
def test_what_lies_beyond_the_dtype_is_clipped_and_then_all_agree(
    expression: str, edit: str
) -> None:
    names = {"xp": pa, "x": pa.asarray([1.0, 1e5, -1e5, INF], dtype=pa.float32)}
    every = ("jax", "torch@2.13", "torch@2.11", "tensorflow", "paddle@3.3", "onnx@25", "aclnn@8.5")
    with pa.shadow(*every) as report:
        eval(code(expression), names)
    assert only(report)["edit"] == edit
    assert f"write <code>{edit}</code>" in report.html()
    assert edit in report.to_html()
    assert f"    write       {edit}" in str(report)
    with pa.shadow(*every) as report:
        eval(code(edit), names)
    assert report.to_dict()["value_changes"] == []


@pytest.mark.parametrize(
    ("expression", "dtype", "values"),
    [
        ("xp.astype(x, xp.int32)", "float32", [1e20]),  # it does not hold the largest int32
        ("xp.astype(x, xp.int32)", "float64", [1e20, NAN]),  # what a NaN becomes is not for us
        ("cast(x, xp.int8)", "float32", [300.0]),
    ],
)
def test_where_clipping_does_not_do_it_nothing_is_written(
    expression: str, dtype: str, values: list[float]
) -> None:
    names = {"xp": pa, "x": pa.asarray(values, dtype=dtype), "cast": pa.astype}
    with pa.shadow("jax") as report:
        eval(code(expression), names)
    assert only(report)["edit"] is None


def test_values_are_compared_where_an_earlier_line_gave_another_dtype() -> None:
    with pa.shadow("torch@2.13", "jax@x64") as report:
        pa.astype(pa.asarray([500.0, 1.0]), pa.float8_e4m3fn)  # of float32 under torch
    (change,) = report.value_changes
    (found,) = change.differences.values()
    assert found.policies == ("torch@2.13",)
    assert (found.example.given, found.example.run, found.example.other) == (
        "500.0",
        "nan",
        "448.0",
    )


def test_what_an_earlier_dtype_rounds_is_no_difference_of_casts() -> None:
    with pa.shadow("torch@2.13", "onnx@25") as report:
        pa.astype(pa.asarray([16777217.0, 1 / 3, 0.1]), pa.float16)
        pa.astype(pa.asarray([16777217.0]), pa.int32)
    assert not report.value_changes


def test_an_int_that_is_compared_as_it_is_is_told_so() -> None:
    x = pa.asarray([5, 200], dtype=pa.uint8)
    for number, wrapped in ((300, "44"), (256, "0"), (-1, "255")):
        with pa.shadow("numpy@2", "torch@2.13", "numpy@1") as report:
            assert pa.any(x != number)
        place = only(report)
        assert said(place) == {"torch@2.13": (1, str(number), wrapped)}


def test_a_bound_of_clip_beyond_which_there_is_nothing_is_no_other_value() -> None:
    x = pa.asarray([0, 200, 255], dtype=pa.uint8)
    with pa.shadow("numpy@1") as report:
        assert pa.clip(x, 0, 3.5).tolist() == [0.0, 3.5, 3.5]
        pa.clip(x, 0.5, 255)
    assert [*report.value_changes] == []
    with pa.policy("numpy@1"):
        assert pa.clip(pa.asarray([0, 200, 255], dtype=pa.uint8), 0, 3.5).tolist() == [0, 3.5, 3.5]


def test_a_scale_that_policies_find_otherwise_is_told_though_it_is_of_all_elements() -> None:
    with pa.policy("tensorflow"), pa.shadow("torch") as report:
        extras.dynamic_quantize(pa.asarray([1.0, 2.0], dtype=pa.float32))
    assert [each.place.operation for each in report.value_changes] == ["dynamic_quantize"]
